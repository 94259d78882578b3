import './payload-tab.css'
import type { ComponentChildren, JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import type { CallJson } from '../../src/call/call-record.ts'
import type { CallTab } from '../data/call-words.ts'
import { useAnswer } from '../data/use-answer.ts'
import { BodyView } from './body-view.tsx'
import { ChatView } from './chat-view.tsx'
import { ErrorView } from './error-view.tsx'
import type { FedCall } from './fed-call.ts'
import { HeadersView } from './headers-view.tsx'
import { type AnsweredPayloads, type KeptPayloads, readPayloads } from './kept-payload.ts'
import { NoPayloads } from './no-payloads.tsx'

export interface PayloadTabProps {
  readonly id: string
  readonly tab: Exclude<CallTab, 'timing'>
  /** The recorded call; null where it is not recorded, or not yet. */
  readonly call: CallJson | null
  /** What the Live view has heard of it. */
  readonly fed: FedCall | null
}

/** One side of what went over the wire in a call, from what is kept of it or what the Live view has heard. */
export function PayloadTab({ id, tab, call, fed }: PayloadTabProps): JSX.Element {
  const heard = useMemo(() => fed?.payloads() ?? null, [fed, fed?.version])
  // What was heard in full need not be asked for.
  const isWhole = heard !== null && (fed?.isWhole ?? false)
  const path = `/api/calls/${id}/payloads`
  const key = isWhole ? null : `${path} ${fed?.version ?? ''}`
  const asked = useAnswer<AnsweredPayloads>(key, () => path, { everyMs: null, read: readPayloads })
  const kept = isWhole || asked.isStale ? null : asked.answer
  const { request, answer } = joined(kept, heard)

  if (request === null && answer === null) {
    if (asked.trouble !== null) {
      return (
        <div class="note bad" role="alert">
          <span>{asked.trouble}</span>
          <button type="button" class="button small" onClick={asked.again}>
            Try again
          </button>
        </div>
      )
    }
    if (kept === null) return <div class="skeleton" style={{ height: '16rem' }} />
    if (tab === 'error' && call !== null) return <ErrorView call={call} answer={null} />
    return <NoPayloads logging={kept.logging} reason={kept.reason} />
  }
  const isUnderWay = fed?.isUnderWay ?? false
  const missing = (side: string): JSX.Element => (
    <Missing>
      {isUnderWay && side === 'answer'
        ? 'The call is still under way: its answer is shown when it has ended.'
        : `Its ${side} is not kept.`}
    </Missing>
  )
  switch (tab) {
    case 'chat':
      return <ChatView key={id} request={request} answer={answer} isUnderWay={isUnderWay} />
    case 'request':
      return request === null ? missing('request') : <BodyView key={id} payload={request} what="request" />
    case 'response':
      return answer === null ? missing('answer') : <BodyView key={id} payload={answer} what="answer" />
    case 'headers':
      return <HeadersView request={request} answer={answer} />
    case 'error':
      return <ErrorView call={call} answer={answer} />
  }
}

/** What is kept is whole; what was heard may be the beginning alone, or more than is kept. */
function joined(kept: KeptPayloads | null, heard: KeptPayloads | null): KeptPayloads {
  return {
    request: kept?.request ?? heard?.request ?? null,
    answer: kept?.answer ?? heard?.answer ?? null,
  }
}

function Missing({ children }: { readonly children: ComponentChildren }): JSX.Element {
  return (
    <div class="payload-none">
      <p>{children}</p>
    </div>
  )
}
