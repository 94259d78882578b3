import type { RecordFields } from './fields/call-fields.ts'

/** The end of a call. */
export type Outcome = RecordFields['outcome']

/**
 * The end of an answer, by its content. For a stream that has an end mark: `complete`
 * once the mark has come, `truncated` before it, even if the HTTP message is complete. A body is
 * `truncated` if its JSON is not closed. `stream_error`: an error inside HTTP 200. `empty`: HTTP 200 with no answer in it. `none`: any other answer.
 */
export type AnswerEnding = 'complete' | 'truncated' | 'stream_error' | 'empty' | 'none'

/** True for every outcome but `ok` and a client that left. */
export function isFailed(outcome: Outcome): boolean {
  return outcome !== 'ok' && outcome !== 'client_disconnected'
}
