import type { PageAddress } from '../data/page-address.ts'
import { type ListedBounds, selection } from './calls-question.ts'

/** How many calls there were by and by. */
export interface VolumeQuestion {
  readonly unit: VolumeUnit
  /** Minutes that make one bar, where they are minutes. */
  readonly minutes: number
  readonly path: string
}

export type VolumeUnit = 'minute' | 'hour' | 'day'

/** Asks for the calls of each minute, hour or day: some 24 to 220 bars, whatever the range. */
export function volumeQuestion(address: PageAddress, bounds: ListedBounds, zone: string): VolumeQuestion {
  const { unit, minutes } = volumeUnit(bounds.toMs - bounds.fromMs)
  const query = selection(address, bounds)
  query.set('group_by', unit)
  query.set('tz', zone)
  return { unit, minutes, path: `/api/query?${query}` }
}

export interface VolumeBar {
  readonly startMs: number
  /** Exclusive. */
  readonly endMs: number
  readonly calls: number
  readonly errors: number
}

/** A group of an answer by time: what a bar shows of it. */
export interface VolumeGroup {
  readonly key: string
  readonly calls: number
  readonly errors: number
}

/**
 * The bars of an answer, from the first call to the end of the range, without a gap. Days begin at midnight in UTC where
 * `utc` says so, else in the reader's zone: the dashboard must have been asked by the same.
 */
export function volumeBars(
  groups: readonly VolumeGroup[],
  minutes: number,
  { fromMs, toMs }: Pick<ListedBounds, 'fromMs' | 'toMs'>,
  utc: boolean,
): readonly VolumeBar[] {
  const bars: { startMs: number; endMs: number; calls: number; errors: number }[] = []
  for (const { key, calls, errors } of groups) {
    const startMs = startOf(key, utc)
    const bar = bars.at(-1)
    if (bar !== undefined && (startMs / 60_000) % minutes !== 0) {
      bar.calls += calls
      bar.errors += errors
    } else {
      if (bar !== undefined) bar.endMs = startMs
      bars.push({ startMs: Math.max(startMs, fromMs), endMs: toMs, calls, errors })
    }
  }
  return bars
}

const hourMs = 3_600_000

function volumeUnit(lengthMs: number): { readonly unit: VolumeUnit; readonly minutes: number } {
  if (lengthMs <= 2 * hourMs) return { unit: 'minute', minutes: 1 }
  if (lengthMs <= 8 * hourMs) return { unit: 'minute', minutes: 5 }
  return { unit: lengthMs <= 9 * 24 * hourMs ? 'hour' : 'day', minutes: 1 }
}

/** Minutes and hours carry their offset, days do not: `2026-11-21`. */
function startOf(key: string, utc: boolean): number {
  if (key.length > 10) return Date.parse(key)
  // Without a zone it is the reader's.
  return utc ? Date.parse(key) : Date.parse(`${key}T00:00`)
}
