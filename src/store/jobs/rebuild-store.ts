import { RollupCheck } from '../rollup/check-rollups.ts'
import { foldedUntilMs } from '../rollup/fold-calls.ts'
import { RollForward } from '../rollup/roll-forward.ts'
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
 * Counts calls again, and, if any sum is wrong, throws the sums away and makes them anew from the calls, in short
 * transactions with pauses between them, while others read and write. It may be killed at any moment: the gateway,
 * or the next run, goes on. What was folded stays as it is.
 */
export async function rebuildStore(
  path: string,
  { clock, onProgress }: JobContext,
): Promise<RebuildOutcome | StoreAbsence | 'job_running'> {
  const startedMs = clock.now()
  return await runJob(path, async (database) => {
    const check = new RollupCheck(database)
    const quarters = check.countable()
    const days = [...new Set([...check.days(), ...quarters.map((slot) => Math.floor(slot / quartersOf(3)))])]
    // In days that hold calls or sums: first in looking at them, then in making them anew.
    const tell = ({ done, total }: JobProgress): void =>
      onProgress({ done: Math.floor((days.length * done) / Math.max(1, total)), total: days.length })
    /** Looks at each without the lock, and says which are wrong. */
    const wrongOf = async (
      slots: readonly number[],
      isRight: (slot: number) => boolean,
    ): Promise<number[]> => {
      const wrong: number[] = []
      let done = 0
      const slice: SlicedWork['slice'] = (size) => {
        wrong.push(...slots.slice(done, done + size).filter((slot) => !isRight(slot)))
        done = Math.min(slots.length, done + size)
        return { done, hasMore: done < slots.length, hasWritten: false }
      }
      await inSlices(clock, { bounds: { first: 1, least: 1, most: 100 }, total: slots.length, slice }, tell)
      return wrong
    }
    const wrongQuarters = await wrongOf(quarters, (slot) => check.isQuarterRight(slot))
    const wrongDays = await wrongOf(days, (day) => check.isDayRight(day))
    if (wrongQuarters.length + wrongDays.length > 0) {
      // What folding left over is in sums that stay.
      await inSlices(clock, foldBefore(database, foldedUntilMs(database)))
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
