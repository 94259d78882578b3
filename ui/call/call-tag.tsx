import { type JudgedCall, endWords, failureSentence } from '../data/failure-text.ts'

/** The outcome of a call: status and failure. Success has a quiet colour, so that failures are noticed. */
export function CallTag({ call }: { readonly call: JudgedCall }) {
  const { outcome, status, failed } = call
  if (outcome === 'ok') return <span class="quiet">{status ?? ''} OK</span>
  const kind = !failed ? '' : outcome === 'refused' ? 'warn' : 'bad'
  return (
    <span class={`tag ${kind}`} title={failureSentence(call) ?? ''}>
      {status !== null && `${status} `}
      {endWords(call)}
    </span>
  )
}
