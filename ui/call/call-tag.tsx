import { type JudgedCall, endWords, failureSentence } from '../data/failure-text.ts'

/** How a call ended: the status, and what went wrong in words. Success is quiet, so that the rest stands out. */
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
