import { RollupCheck } from '../rollup/check-rollups.ts'
import { replaceDamaged } from '../rollup/damaged-sums.ts'
import { foldedUntilMs } from '../rollup/fold-calls.ts'
import { RollupRepair } from '../rollup/repair-rollups.ts'
import { quartersOf } from '../rollup/rollup-spans.ts'
import type { StoreAbsence } from '../sqlite/open-store.ts'
import { inSlices, type JobContext, type JobProgress, runJob, type SlicedWork } from './job.ts'
import { foldBefore, rollUp } from './rollup-work.ts'

/** What was counted again, and how much of it was wrong, or missing. */
export interface RebuildOutcome {
  readonly days: number
  readonly hours: number
  readonly wrongHours: number
  /** Days whose sums did not add up from their hours. */
  readonly wrongDays: number
  readonly durationMs: number
}

const hoursPerDay = 24

/**
 * Counts calls again, and makes the sums of days of which any is wrong anew from the calls, an hour in a transaction with
 * pauses between them, while others read and write. It may be killed at any moment: the next run goes on. What was
 * folded stays as it is, but for what a damaged page held.
 */
export async function rebuildStore(
  path: string,
  { clock, onProgress }: JobContext,
): Promise<RebuildOutcome | StoreAbsence | 'job_running'> {
  const startedMs = clock.now()
  return await runJob(path, async (database) => {
    replaceDamaged(database, clock.wallTime())
    const check = new RollupCheck(database)
    const days = check.days()
    // In days that hold calls or sums: first in looking at them, then in making them anew.
    const tell = ({ done, total }: JobProgress): void =>
      onProgress({ done: Math.floor((days.length * done) / Math.max(1, total)), total: days.length })
    const wrongQuarters: number[] = []
    const wrongDays: number[] = []
    // They are looked at without the lock.
    for (const looked of check.look(days)) {
      wrongQuarters.push(...looked.wrongQuarters)
      wrongDays.push(...looked.wrongDays)
      tell({ done: looked.done, total: days.length })
      await clock.delay(0)
    }
    const daysToMend = new Set([
      ...wrongQuarters.map((slot) => Math.floor(slot / quartersOf(3))),
      ...wrongDays,
    ])
    if (daysToMend.size > 0) {
      // What folding left over is in sums that stay.
      await inSlices(clock, foldBefore(database, foldedUntilMs(database)))
      const repair = new RollupRepair(database)
      const hours = [...daysToMend].flatMap((day) =>
        Array.from({ length: hoursPerDay }, (_, hour) => day * quartersOf(3) + hour * quartersOf(1)),
      )
      let done = 0
      const slice: SlicedWork['slice'] = (size) => {
        for (const hour of hours.slice(done, done + size)) repair.mendHour(hour)
        done = Math.min(hours.length, done + size)
        return { done, hasMore: done < hours.length }
      }
      await inSlices(clock, { total: hours.length, slice }, tell)
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
