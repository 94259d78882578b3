import * as v from 'valibot'
import { OutgoingRecord, PayloadRecord } from './raw-log.ts'
import type { Infer } from '../call/infer.ts'

/**
 * Why the log has no payload of a call.
 * - `logging_off`: the log has nothing as old as the call or newer: logging was off, or the log was cleared.
 * - `not_captured`: the log has other calls of that time; the capture rule left this one out, or logging was off when it came.
 * - `rotated_away`: the call is older than everything in the log.
 */
export const PayloadAbsence = v.picklist(['logging_off', 'not_captured', 'rotated_away'])

export type PayloadAbsence = Infer<typeof PayloadAbsence>

/** The answer of `GET /api/calls/{id}/payloads`. */
export const CallPayloads = v.object({
  /** Null where the log does not have it. */
  request: v.nullable(PayloadRecord),
  /** Null if the log does not have the answer, or not yet. */
  answer: v.nullable(OutgoingRecord),
  /** True if payloads are logged now; null if no gateway answers. */
  logging: v.nullable(v.boolean()),
  /** Why there is neither request nor answer; null if the log has one of them. */
  reason: v.nullable(PayloadAbsence),
})

export type CallPayloads = Infer<typeof CallPayloads>
