import type { OutgoingRecord, PayloadRecord } from './raw-log.ts'

/**
 * Why nothing of a call is kept.
 * - `logging_off`: nothing of its time or later is kept: payloads were not logged then, or the log was cleared.
 * - `not_captured`: others of its time are kept; it was left out, or payloads were just not logged when it came.
 * - `rotated_away`: it is older than all that is kept.
 */
export type PayloadAbsence = 'logging_off' | 'not_captured' | 'rotated_away'

/** The answer of `GET /api/calls/{id}/payloads`. */
export interface CallPayloads {
  /** Null where it is not kept. */
  readonly request: PayloadRecord | null
  /** Null where it is not kept, or has not come yet. */
  readonly answer: OutgoingRecord | null
  /** Whether payloads are kept now; null where no gateway says so. */
  readonly logging: boolean | null
  /** Null where at least one of the two is there. */
  readonly reason: PayloadAbsence | null
}
