import type { CallPayloads } from '../../src/api/call-payloads.ts'
import type { OutgoingRecord, PayloadRecord } from '../../src/api/raw-log.ts'
import type { EndedCall } from '../data/failure-words.ts'
import { memberText } from './json-text.ts'

/** A record, and the JSON that it came as: what reading it into values changes can be shown as it was. */
export interface KeptPayload<Kept extends PayloadRecord = PayloadRecord> {
  readonly record: Kept
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

/** A call as the Live view has heard of it. The same object for as long as it is listed there. */
export interface FedCall {
  readonly id: string
  /** Rises with all that is heard of it. */
  readonly version: number
  readonly startedMs: number
  /** Its end is still to come, as far as that is known. */
  readonly isUnderWay: boolean
  /** Its end may have been among what was not heard. */
  readonly isLost: boolean
  /** When its end was heard, on the page's clock; null until then. */
  readonly endHeardMs: number | null
  readonly path: string
  readonly model: string | null
  /** How it ended; null while that is not known. */
  readonly ended: (EndedCall & { readonly failed: boolean }) | null
  /** All that was sent was heard. */
  readonly isWhole: boolean
  /** The records that were heard, as far as they are still held. */
  payloads(): KeptPayloads
}
