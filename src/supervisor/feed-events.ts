/** The fields of the feed's events that the dashboard reads. */
import * as v from 'valibot'
import { CallStarted, FeedConnected, FeedDropped, OutgoingRecord, PayloadRecord } from '../api/raw-log.ts'
import { type MessageOf, fits } from '../lib/message-schema.ts'

const timestamp = v.pipe(
  v.string(),
  v.check((text) => !Number.isNaN(Date.parse(text))),
)

/** An event that is no record. */
export type FeedNote = MessageOf<typeof isFeedNote>

export const isFeedNote = fits(
  v.union([FeedConnected, FeedDropped, v.object({ ...CallStarted.entries, timestamp })]),
)

const isRequest = fits(
  v.object({ ...v.omit(PayloadRecord, ['seq', 'status', 'headers', 'body']).entries, timestamp }),
)
const isEnd = fits(
  v.pick(OutgoingRecord, [
    'status',
    'outcome',
    'failure_code',
    'duration_ms',
    'text',
    'reasoning',
    'tool_calls',
  ]),
)

/** True if an event of the feed is a record. */
export function isFeedRecord(value: unknown): value is PayloadRecord | OutgoingRecord {
  return isRequest(value) && (value.direction === 'incoming' || isEnd(value))
}
