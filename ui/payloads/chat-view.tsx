import { useMemo } from 'preact/hooks'
import type { KeptPayload, KeptPayloads } from './kept-payload.ts'
import { Messages } from './messages.tsx'
import { isReassembled, readAnswer } from './read-answer.ts'
import { readError } from './read-error.ts'
import { readRequest } from './read-request.ts'
import { firstWords, shownText } from './shown-text.ts'

export interface ChatViewProps extends KeptPayloads {
  readonly isUnderWay: boolean
}

/** A call as a conversation. */
export function ChatView({ request, answer, isUnderWay }: ChatViewProps) {
  const { messages: asked, settings, tools } = useMemo(() => readRequest(request?.record.body), [request])
  const messages = useMemo(() => (answer === null ? [] : readAnswer(answer.record)), [answer])
  const error = useMemo(() => (answer === null ? null : readError(answer.record.body)), [answer])
  // A successful stream may mention errors in its text.
  const isWholeStream = answer?.record.outcome === 'ok' && isReassembled(answer.record)
  return (
    <div class="payload-tab stack">
      {(settings.length > 0 || tools.length > 0) && (
        <div class="chat-settings row wraps fine">
          {settings.map(([name, value]) => (
            <span key={name}>
              {name} <strong>{firstWords(value, 80)}</strong>
            </span>
          ))}
          {tools.length > 0 && (
            <details>
              <summary>{tools.length === 1 ? '1 tool' : `${tools.length} tools`}</summary>
              <p>{shownText(tools.join(', '))}</p>
            </details>
          )}
        </div>
      )}
      {asked.length > 0 ? (
        <Messages title="Request" messages={asked} />
      ) : (
        <p class="quiet">{unreadWords(request, 'request')}</p>
      )}
      {messages.length > 0 ? (
        <Messages title="Response" messages={messages} />
      ) : isUnderWay ? (
        <p class="quiet">The response is still in progress.</p>
      ) : (
        error === null && <p class="quiet">{unreadWords(answer, 'response')}</p>
      )}
      {error !== null && !isWholeStream && (
        <section>
          <h3>Error</h3>
          <p class="upstream-words wrapped">{shownText(error.message)}</p>
        </section>
      )}
    </div>
  )
}

function unreadWords(side: KeptPayload | null, what: 'request' | 'response'): string {
  const tab = what === 'request' ? 'Request' : 'Response'
  if (side === null) return `The ${what} was not captured.`
  const { record } = side
  if (record.body_withheld !== undefined)
    return `The ${what} body was not captured. See ${tab} for the reason.`
  if (record.body === null) return `The ${what} has no body.`
  if (record.truncated) {
    return `The ${what} was too large to capture in full. See ${tab} for its beginning.`
  }
  return `The ${what} is not a conversation. See ${tab} for its content.`
}
