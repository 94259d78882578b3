import { RollupCheck } from '../rollup/check-rollups.ts'
import { foldedUntilMs } from '../rollup/fold-calls.ts'
import { RollForward } from '../rollup/roll-forward.ts'
import { quartersOf } from '../rollup/rollup-spans.ts'
import type { StoreAbsence } from '../sqlite/open-store.ts'
import { inSlices, type JobWorld, runJob, type SlicedWork } from './job.ts'
import { foldBefore, rollUp } from './rollup-work.ts'

/** How far it has come, in days that hold calls or sums: first in looking at them, then in making them anew. */
export interface RebuildProgress {
  readonly done: number
  readonly total: number
}

/** What was counted again, and how much of it was wrong, or missing. */
export interface RebuildOutcome {
  readonly days: number
  readonly hours: number
  readonly wrongHours: number
  /** Days whose sums did not add up from their hours. */
  readonly wrongDays: number
  readonly durationMs: number
}

export type RebuildWorld = JobWorld<RebuildProgress>

const hoursPerDay = 24

/**
 * Counts calls again, and, if any sum is wrong, throws the sums away and makes them anew from the calls, in short
 * transactions with pauses between them, while others read and write. It may be killed at any moment: the gateway,
 * or the next run, goes on. What was folded stays as it is.
 */
export async function rebuildStore(
  path: string,
  { clock, onProgress }: RebuildWorld,
): Promise<RebuildOutcome | StoreAbsence | 'job_running'> {
  const startedMs = clock.now()
  return await runJob(path, async (database) => {
    const check = new RollupCheck(database)
    const quarters = check.countable()
    const days = [...new Set([...check.days(), ...quarters.map((slot) => Math.floor(slot / quartersOf(3)))])]
    const tell = (done: number, total: number): void =>
      onProgress({ done: Math.floor((days.length * done) / Math.max(1, total)), total: days.length })
    const wrongQuarters: number[] = []
    const wrongDays: number[] = []
    await inSlices(
      clock,
      looking(quarters, (slot) => check.isQuarterRight(slot), wrongQuarters),
      tell,
    )
    await inSlices(
      clock,
      looking(days, (day) => check.isDayRight(day), wrongDays),
      tell,
    )
    if (wrongQuarters.length + wrongDays.length > 0) {
      // What folding left over is in sums that stay.
      await inSlices(clock, foldBefore(database, foldedUntilMs(database)), () => undefined)
      new RollForward(database).restart()
    }
    await inSlices(clock, rollUp(database, clock), tell)
    return {
      days: days.length,
      hours: days.length * hoursPerDay,
      wrongHours: new Set(wrongQuarters.map((slot) => Math.floor(slot / quartersOf(1)))).size,
      wrongDays: wrongDays.length,
      durationMs: clock.now() - startedMs,
    }
  })
}

/** Looks at each without the lock, and notes which are wrong. */
function looking(slots: readonly number[], isRight: (slot: number) => boolean, wrong: number[]): SlicedWork {
  let done = 0
  return {
    bounds: { first: 1, least: 1, most: 100 },
    total: slots.length,
    slice: (size) => {
      for (const slot of slots.slice(done, done + size)) if (!isRight(slot)) wrong.push(slot)
      done = Math.min(slots.length, done + size)
      return { done, hasMore: done < slots.length, hasWritten: false }
    },
  }
}
