import type { RecordFields } from './fields/call-fields.ts'

/** The end of a call. */
export type Outcome = RecordFields['outcome']

/**
 * The end of an answer, by its content.
 * - `complete`: a stream whose end mark has come.
 * - `truncated`: a stream without its end mark, even if the HTTP message is complete; or a body whose JSON is
 *   not closed.
 * - `stream_error`: an error inside HTTP 200. `empty`: HTTP 200 with no answer in it. `none`: any other
 *   answer.
 */
export type AnswerEnding = 'complete' | 'truncated' | 'stream_error' | 'empty' | 'none'

/** True for every outcome but `ok` and a client that left. */
export function isFailed(outcome: Outcome): boolean {
  return outcome !== 'ok' && outcome !== 'client_disconnected'
}
