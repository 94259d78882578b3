import { parseCallId, startedAtMs } from '../call/call-id.ts'
import type { CallFilter } from '../call/call-filter.ts'
import type { CallReader } from '../call/call-reader.ts'

const dayMs = 86_400_000
/** The end of the time that ids can express, in ms since the Unix epoch. */
const lastMs = 2 ** 41

/** A range of time, in ms since the Unix epoch. */
export interface AskedRange {
  readonly fromMs: number
  /** Milliseconds since the Unix epoch, exclusive. */
  readonly toMs: number
}

/**
 * The part of a requested range in which there can be calls, at least up to now; null if it is empty. Bounds
 * are whole milliseconds, because calls begin at these.
 */
export async function rangeOf(
  filter: CallFilter,
  reader: CallReader,
  nowMs: number,
): Promise<AskedRange | null> {
  const extent = await reader.extent()
  if (extent === null) return null
  // A single call's range is its millisecond.
  const id = filter.exactly === undefined ? null : parseCallId(filter.exactly)
  const onlyMs = id !== null && (await reader.call(id)) !== null ? startedAtMs(id) : null
  const fromMs = Math.max(Math.ceil(filter.fromMs ?? 0), onlyMs ?? extent.firstMs)
  // If the clock was set back, some calls began later than now.
  const toMs = Math.min(
    Math.ceil(filter.toMs ?? Number.POSITIVE_INFINITY),
    (onlyMs ?? Math.max(nowMs, extent.lastMs)) + 1,
  )
  return fromMs < toMs ? { fromMs, toMs } : null
}

/**
 * The range of a filter (default: the last 24 hours). The range ends at a full second, so that requests within that
 * second share the answer.
 */
export function windowOf(filter: Pick<CallFilter, 'fromMs' | 'toMs'>, nowMs: number): AskedRange {
  const nextSecondMs = (Math.floor(nowMs / 1000) + 1) * 1000
  const toMs = Math.min(Math.max(Math.ceil(filter.toMs ?? nextSecondMs), 1), lastMs)
  const fromMs = Math.max(Math.ceil(filter.fromMs ?? toMs - dayMs), 0)
  return { fromMs: Math.min(fromMs, toMs - 1), toMs }
}
