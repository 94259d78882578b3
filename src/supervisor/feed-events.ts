/** What the events of the gateway's feed of payloads must hold, as far as it is looked at. */
import type { CallStarted, OutgoingRecord, PayloadRecord } from '../api/raw-log.ts'
import {
  either,
  isAmount,
  isFlag,
  isNumber,
  isOneOf,
  isText,
  listOf,
  nullable,
  optional,
  record,
} from '../lib/message-shape.ts'

const isTime = (value: unknown): value is string => isText(value) && !Number.isNaN(Date.parse(value))

/** An event that is no record. */
export const isFeedNote = either(
  record({ type: isOneOf(['connected']), enabled: isFlag }),
  record({ type: isOneOf(['dropped']), count: isNumber }),
  record<CallStarted>({
    type: isOneOf(['started']),
    id: isText,
    timestamp: isTime,
    method: isText,
    path: isText,
  }),
)

const isRequest = record({
  direction: isOneOf(['incoming', 'outgoing']),
  id: isText,
  timestamp: isTime,
  method: isText,
  path: isText,
  body_encoding: optional(isText),
  body_withheld: optional(isText),
  body_bytes: isAmount,
  truncated: isFlag,
  model: nullable(isText),
  stream: isFlag,
})

const isEnd = record({
  status: nullable(isNumber),
  outcome: isText,
  failure_code: nullable(isText),
  duration_ms: isAmount,
  text: optional(nullable(isText)),
  reasoning: optional(nullable(isText)),
  tool_calls: optional(listOf(record({ name: nullable(isText), arguments: isText }))),
})

export function isFeedRecord(value: unknown): value is PayloadRecord | OutgoingRecord {
  return isRequest(value) && (value.direction === 'incoming' || isEnd(value))
}
