import type { RecordFields } from './fields/call-fields.ts'

/** How a call ended. */
export type Outcome = RecordFields['outcome']

/**
 * How an answer ended in the upstream's own words. For a stream that has an end mark of its own: `complete`
 * once the mark was seen, `truncated` as long as it was not, whether or not the HTTP message is complete. A body is
 * `truncated` if its JSON is not closed. `stream_error`: an error inside HTTP 200. `empty`: HTTP 200 with no answer in it. `none`: any other answer.
 */
export type AnswerEnding = 'complete' | 'truncated' | 'stream_error' | 'empty' | 'none'

/** A client that left is nobody's failure; every other end but `ok` is. */
export function isFailed(outcome: Outcome): boolean {
  return outcome !== 'ok' && outcome !== 'client_disconnected'
}
