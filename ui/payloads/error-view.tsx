import './error-view.css'
import type { JSX } from 'preact'
import type { OutgoingRecord } from '../../src/api/raw-log.ts'
import type { CallJson } from '../../src/call/call-record.ts'
import { failureSentence } from '../data/failure-words.ts'
import { BodyText } from './body-text.tsx'
import { type KeptPayload, bodyTextOf } from './kept-payload.ts'
import { readError } from './read-error.ts'
import { shownText } from './shown-text.ts'

export interface ErrorViewProps {
  readonly call: CallJson | null
  readonly answer: KeptPayload<OutgoingRecord> | null
}

/** What went wrong, in our words and in those of the upstream. */
export function ErrorView({ call, answer }: ErrorViewProps): JSX.Element {
  const ended = call ?? answer?.record ?? null
  const sentence = ended === null ? null : failureSentence(ended)
  const told = answer === null ? null : readError(answer.record.body)
  const message = told?.message ?? call?.error_message ?? null
  const body = answer === null ? null : bodyTextOf(answer)
  const facts = [
    ...(ended?.status === null || ended === null ? [] : [['Status', String(ended.status)] as const]),
    ...(ended?.failure_code === null || ended === null
      ? []
      : [['Failure code', ended.failure_code] as const]),
    ...(told?.facts ?? []),
  ]
  return (
    <div class="payload-tab error-view">
      <p class="wrong">{sentence ?? 'Nothing went wrong: the call succeeded.'}</p>
      {message !== null && (
        <section>
          <h3>Its message</h3>
          <blockquote>{shownText(message)}</blockquote>
        </section>
      )}
      {facts.length > 0 && (
        <dl class="panel-list">
          {facts.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                <code>{shownText(value)}</code>
              </dd>
            </div>
          ))}
        </dl>
      )}
      {sentence !== null && body !== null && body.text.length <= wholeLength && (
        <BodyText title="Answer" about="as the client got it" text={body.text} isJson={body.isJson} />
      )}
    </div>
  )
}

/** A longer one is no error alone: it is in the tab of the response. */
const wholeLength = 20_000
