import type { JSX } from 'preact'
import type { OutgoingRecord } from '../../src/api/raw-log.ts'
import type { CallJson } from '../../src/call/call-record.ts'
import { failureSentence } from '../data/failure-words.ts'
import { Facts } from '../design/facts.tsx'
import { BodyText, readBody } from './body-view.tsx'
import type { KeptPayload } from './kept-payload.ts'
import { readError } from './read-error.ts'
import { shownText } from './shown-text.ts'

export interface ErrorViewProps {
  readonly call: CallJson | null
  readonly answer: KeptPayload<OutgoingRecord> | null
}

/** The failure, in our words and in those of the upstream. */
export function ErrorView({ call, answer }: ErrorViewProps): JSX.Element {
  const ended = call ?? answer?.record ?? null
  const sentence = ended === null ? null : failureSentence(ended)
  const told = answer === null ? null : readError(answer.record.body)
  const message = told?.message ?? call?.error_message ?? null
  const body = answer === null ? null : readBody(answer)
  const facts = [
    ['Status', ended?.status],
    ['Failure code', ended?.failure_code],
    ...(told?.facts ?? []),
  ] as const
  return (
    <div class="payload-tab error-view">
      <p class="wrong">{sentence ?? 'Nothing went wrong: the call succeeded.'}</p>
      {message !== null && (
        <section>
          <h3>Its message</h3>
          <blockquote class="upstream-words">{shownText(message)}</blockquote>
        </section>
      )}
      <Facts
        class="panel-list"
        facts={facts.map(([name, value = null]) => [
          name,
          value === null ? null : <code>{shownText(String(value))}</code>,
        ])}
      />
      {sentence !== null && body !== null && body.text.length <= wholeLength && (
        <BodyText title="Answer" about="as the client got it" {...body} />
      )}
    </div>
  )
}

/** A longer one is no error alone: it is in the tab of the response. */
const wholeLength = 20_000
