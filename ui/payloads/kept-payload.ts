import type { CallPayloads } from '../../src/api/call-payloads.ts'
import type { OutgoingRecord, PayloadRecord } from '../../src/api/raw-log.ts'
import { memberText } from './json-text.ts'

/** A record, and its JSON as it arrived, because parsing changes some values. */
export interface KeptPayload<Payload extends PayloadRecord = PayloadRecord> {
  readonly record: Payload
  readonly json: string
}

/** The records of a call's request and answer; null if unknown. */
export interface KeptPayloads {
  readonly request: KeptPayload | null
  readonly answer: KeptPayload<OutgoingRecord> | null
}

/** The dashboard's answer about a call's payloads. */
export type AnsweredPayloads = KeptPayloads & Pick<CallPayloads, 'logging' | 'reason'>

/** Parses the answer of `/api/calls/{id}/payloads`. */
export function readPayloads(text: string): AnsweredPayloads {
  const { request, answer, logging, reason } = JSON.parse(text) as CallPayloads
  return {
    request: request === null ? null : { record: request, json: memberText(text, 'request') ?? '' },
    answer: answer === null ? null : { record: answer, json: memberText(text, 'answer') ?? '' },
    logging,
    reason,
  }
}
