import type { Outcome } from './call-record.ts'
import type { CallType } from './call.ts'

/** Which calls are meant. Fields are ANDed; an absent field matches all. */
export interface CallFilter {
  /** Inclusive, milliseconds since the Unix epoch, by the time at which the call's head was received. */
  readonly fromMs?: number
  /** Exclusive. */
  readonly toMs?: number
  readonly models?: readonly string[]
  readonly callTypes?: readonly CallType[]
  readonly outcomes?: readonly Outcome[]
  readonly failedOnly?: boolean
  readonly failureCodes?: readonly string[]
  readonly statuses?: readonly number[]
  readonly clients?: readonly string[]
  /** Paths without query. */
  readonly endpoints?: readonly string[]
  /** Bounds of the duration in milliseconds, both inclusive; calls whose duration is not known match neither. */
  readonly minMs?: number
  readonly maxMs?: number
  /** An id as people see it, or an error code (ours or the upstream's): exactly this. */
  readonly exactly?: string
}
