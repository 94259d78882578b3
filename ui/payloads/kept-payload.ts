import type { CallPayloads } from '../../src/api/call-payloads.ts'
import type { OutgoingRecord, PayloadRecord } from '../../src/api/raw-log.ts'
import { memberText } from './json-text.ts'

/** A record, and the JSON that it came as: what reading it into values changes can be shown as it was. */
export interface KeptPayload<Payload extends PayloadRecord = PayloadRecord> {
  readonly record: Payload
  readonly json: string
}

/** Both sides of a call, as far as they are known. */
export interface KeptPayloads {
  readonly request: KeptPayload | null
  readonly answer: KeptPayload<OutgoingRecord> | null
}

/** The dashboard's answer about a call's payloads. */
export type AnsweredPayloads = KeptPayloads & Pick<CallPayloads, 'logging' | 'reason'>

/** Reads the answer of `/api/calls/{id}/payloads`. */
export function readPayloads(text: string): AnsweredPayloads {
  const { request, answer, logging, reason } = JSON.parse(text) as CallPayloads
  return {
    request: request === null ? null : { record: request, json: memberText(text, 'request') ?? '' },
    answer: answer === null ? null : { record: answer, json: memberText(text, 'answer') ?? '' },
    logging,
    reason,
  }
}
