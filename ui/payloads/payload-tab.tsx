import './payloads.css'
import { useMemo } from 'preact/hooks'
import type { CallPayloads } from '../../src/api/call-payloads.ts'
import type { CallJson } from '../../src/call/call-record.ts'
import type { CallTab } from '../data/call-text.ts'
import { failureSentence } from '../data/failure-text.ts'
import { AddressLink } from '../data/navigation.tsx'
import { useQuery } from '../data/use-query.ts'
import { Awaited } from '../design/awaited.tsx'
import { DescriptionList } from '../design/description-list.tsx'
import { EmptyState } from '../design/empty-state.tsx'
import { BodyText, BodyView, readBody } from './body-view.tsx'
import { ChatView } from './chat-view.tsx'
import { HeadersView } from './headers-view.tsx'
import type { LiveCall } from './live-call.ts'
import { readError } from './read-error.ts'
import { shownText } from './shown-text.ts'
import { type AnsweredPayloads, type KeptPayloads, readPayloads } from './kept-payload.ts'

export interface PayloadTabProps {
  readonly id: string
  readonly tab: Exclude<CallTab, 'timing'>
  /** The recorded call; null until it is recorded. */
  readonly call: CallJson | null
  /** The call of the Live view; null if it is not listed there. */
  readonly liveCall: LiveCall | null
}

/** The request or answer of a call, from the raw log or the Live view. */
export function PayloadTab({ id, tab, call, liveCall }: PayloadTabProps) {
  const heard = useMemo(() => liveCall?.payloads() ?? null, [liveCall, liveCall?.version])
  // If the feed has sent the whole payloads, they need not be loaded.
  const isComplete = heard !== null && (liveCall?.isComplete ?? false)
  const query = useQuery<AnsweredPayloads>(isComplete ? null : `/api/calls/${id}/payloads`, {
    read: readPayloads,
    version: liveCall?.version ?? '',
  })
  const captured = isComplete || query.isStale ? null : query.answer
  // Captured payloads are complete; the feed may have only the beginning.
  const request = captured?.request ?? heard?.request ?? null
  const answer = captured?.answer ?? heard?.answer ?? null

  if (request === null && answer === null) {
    if (captured === null) return <Awaited what="the payloads" {...query} height="16rem" />
    if (tab === 'error' && call !== null) return <ErrorView call={call} answer={null} />
    return <NoPayloads logging={captured.logging} reason={captured.reason} />
  }
  const isUnderWay = liveCall?.isUnderWay ?? false
  switch (tab) {
    case 'chat':
      return <ChatView key={id} request={request} answer={answer} isUnderWay={isUnderWay} />
    case 'request':
      if (request === null) return <EmptyState>The request was not captured.</EmptyState>
      return <BodyView key={id} payload={request} what="request" />
    case 'response':
      if (answer !== null) return <BodyView key={id} payload={answer} what="answer" />
      return (
        <EmptyState>
          {isUnderWay
            ? 'The call is still in progress. Its response appears when it ends.'
            : 'The response was not captured.'}
        </EmptyState>
      )
    case 'headers':
      return <HeadersView request={request} answer={answer} />
    case 'error':
      return <ErrorView call={call} answer={answer} />
  }
}

type Reason = Exclude<CallPayloads['reason'], null>

const reasonWords: Readonly<Record<Reason, readonly [title: string, about: string]>> = {
  rotated_away: [
    'Payloads replaced by newer ones',
    'The payload file keeps the newest payloads, up to its maximum size.',
  ],
  not_captured: [
    'Payloads not captured',
    'Capture was on, but the call asked not to be captured, was not among the chosen calls, or its record was lost or deleted.',
  ],
  logging_off: ['Payload capture was off', 'Payloads are kept only for calls made while capture is on.'],
}

/** The reason that a call has no payloads, with a link to the switch. */
function NoPayloads({ logging, reason }: Pick<CallPayloads, 'logging' | 'reason'>) {
  const [title, about] = reasonWords[reason ?? 'logging_off']
  const isOn = logging === true
  const toSwitch = (
    <AddressLink class="button" to={{ view: 'live', call: null, tab: 'timing', text: '' }}>
      Turn on capture
    </AddressLink>
  )
  return (
    <EmptyState title={title} actions={isOn ? undefined : toSwitch}>
      {isOn && (reason ?? 'logging_off') === 'logging_off' ? `${about} It is on now.` : about}
    </EmptyState>
  )
}

type ErrorViewProps = Pick<PayloadTabProps, 'call'> & Pick<KeptPayloads, 'answer'>

/** The failure: the page's text, and the upstream's message. */
function ErrorView({ call, answer }: ErrorViewProps) {
  const ended = call ?? answer?.record ?? null
  const sentence = ended === null ? null : failureSentence(ended)
  const reported = answer === null ? null : readError(answer.record.body)
  const message = reported?.message ?? call?.error_message ?? null
  const body = answer === null ? null : readBody(answer)
  const facts = [
    ['Status', ended?.status],
    ['Failure code', ended?.failure_code],
    ...(reported?.facts ?? []),
  ] as const
  return (
    <div class="payload-tab stack error-view">
      <p class="wrong">{sentence ?? 'The call succeeded.'}</p>
      {message !== null && (
        <section>
          <h3>Error message</h3>
          <blockquote class="upstream-words wrapped">{shownText(message)}</blockquote>
        </section>
      )}
      <DescriptionList
        class="panel-list"
        facts={facts.map(([name, value = null]) => [
          name,
          value === null ? null : <code>{shownText(String(value))}</code>,
        ])}
      />
      {sentence !== null && body !== null && body.text.length <= wholeLength && (
        <BodyText title="Response" about="as the client received it" {...body} />
      )}
    </div>
  )
}

/** A longer body is more than an error, so only the tab of the response shows it. */
const wholeLength = 20_000
