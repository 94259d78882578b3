import type { JSX } from 'preact'
import type { OutgoingRecord, PayloadRecord } from '../../src/api/raw-log.ts'
import { bytes } from '../format/figures.ts'
import { BodyText } from './body-text.tsx'
import { type KeptPayload, bodyTextOf } from './kept-payload.ts'
import { Messages } from './messages.tsx'
import { isReassembled, readAnswer } from './read-answer.ts'

export interface BodyViewProps {
  readonly payload: KeptPayload<PayloadRecord | OutgoingRecord>
  readonly what: 'request' | 'answer'
}

/** A body as it went over the wire; before that of a stream, what its events come to. */
export function BodyView({ payload, what }: BodyViewProps): JSX.Element {
  const { record } = payload
  const body = bodyTextOf(payload)
  const isStream = what === 'answer' && isReassembled(record)
  const about = `${bytes(record.body_bytes)}${body?.isJson === true ? ' of JSON' : ''}`
  return (
    <div class="payload-tab">
      {isStream && <Messages title="Put together" messages={readAnswer(record)} />}
      {record.truncated && (
        <p class="note">
          Only the beginning is here: {bytes(record.body_bytes)} went over the wire, and that is more than is
          kept.
        </p>
      )}
      {record.body_withheld !== undefined && <p class="note">{withheldWords(record.body_withheld)}</p>}
      {body === null ? (
        record.body_withheld === undefined && (
          <div class="payload-none">
            <p>{record.body_bytes === 0 ? `The ${what} has no body.` : `Its body is not kept.`}</p>
          </div>
        )
      ) : (
        <BodyText
          title={isStream ? 'Events' : body.isBinary ? 'Body as base64' : 'Body'}
          about={about}
          text={body.text}
          isJson={body.isJson}
        />
      )}
    </div>
  )
}

function withheldWords(reason: string): string {
  return `The body is withheld: ${reason}`
}
