import type { CallFilter } from '../call/call-filter.ts'
import type { CallReader } from '../call/call-reader.ts'

/** A range of time that holds all the calls that a question can mean. */
export interface AskedRange {
  readonly fromMs: number
  /** Exclusive. */
  readonly toMs: number
}

/**
 * The part of the asked range in which there can be calls, up to now at least; null where it is empty. Whole
 * milliseconds: a call begins in one.
 */
export function rangeOf(filter: CallFilter, reader: CallReader, nowMs: number): AskedRange | null {
  const extent = reader.extent()
  if (extent === null) return null
  const fromMs = Math.max(Math.ceil(filter.fromMs ?? 0), extent.firstMs)
  // A clock that was set back leaves calls that began later than now.
  const toMs = Math.min(
    Math.ceil(filter.toMs ?? Number.POSITIVE_INFINITY),
    Math.max(nowMs, extent.lastMs) + 1,
  )
  return fromMs < toMs ? { fromMs, toMs } : null
}
