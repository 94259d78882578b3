import * as v from 'valibot'
import { OutgoingRecord, PayloadRecord } from './raw-log.ts'
import type { Infer } from '../call/infer.ts'

/**
 * Why nothing of a call is kept.
 * - `logging_off`: nothing of its time or later is kept: payloads were not logged then, or the log was cleared.
 * - `not_captured`: others of its time are kept; it was left out, or payloads were just not logged when it came.
 * - `rotated_away`: it is older than all that is kept.
 */
export const PayloadAbsence = v.picklist(['logging_off', 'not_captured', 'rotated_away'])

export type PayloadAbsence = Infer<typeof PayloadAbsence>

/** The answer of `GET /api/calls/{id}/payloads`. */
export const CallPayloads = v.object({
  /** Null where it is not kept. */
  request: v.nullable(PayloadRecord),
  /** Null where it is not kept, or has not come yet. */
  answer: v.nullable(OutgoingRecord),
  /** True if payloads are kept now; null where no gateway says so. */
  logging: v.nullable(v.boolean()),
  /** Null where at least one of the two is there. */
  reason: v.nullable(PayloadAbsence),
})

export type CallPayloads = Infer<typeof CallPayloads>
