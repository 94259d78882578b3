import type { DatabaseSync } from 'node:sqlite'
import { RollupCheck } from '../rollup/check-rollups.ts'
import { FoldCalls, foldedUntilMs } from '../rollup/fold-calls.ts'
import { RollForward } from '../rollup/roll-forward.ts'
import { quartersOf } from '../rollup/rollup-spans.ts'
import type { StoreAbsence } from '../sqlite/open-store.ts'
import { inSlices, type JobClock, type JobWorld, runJob } from './job.ts'
import { rollUp } from './roll-up.ts'

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
const lookBounds = { first: 1, least: 1, most: 100 } as const
const foldBounds = { first: 100, least: 16, most: 5000 } as const

/**
 * Counts calls again, and, if any sum is wrong, throws the sums away and makes them anew from the calls, in short
 * transactions with pauses between them, while others read and write. It may be killed at any moment: the gateway,
 * or the next run, goes on. What was folded stays as it is.
 */
export async function rebuildStore(
  path: string,
  world: RebuildWorld,
): Promise<RebuildOutcome | StoreAbsence | 'job_running'> {
  const { clock } = world
  const startedMs = clock.now()
  return await runJob(path, async (database) => {
    const found = await wrongIn(database, world)
    if (found.wrongHours + found.wrongDays > 0) {
      const fold = new FoldCalls(database)
      const foldedMs = foldedUntilMs(database)
      await inSlices(clock, foldBounds, (limit) => ({ hasMore: fold.step(foldedMs, limit) > 0 }))
      new RollForward(database).restart()
    }
    await rollUp(database, clock, tellDays(world, found.days))
    return { ...found, durationMs: clock.now() - startedMs }
  })
}

async function wrongIn(
  database: DatabaseSync,
  world: RebuildWorld,
): Promise<Omit<RebuildOutcome, 'durationMs'>> {
  const check = new RollupCheck(database)
  const quarters = check.countable()
  const days = new Set([...check.days(), ...quarters.map((slot) => Math.floor(slot / quartersOf(3)))])
  const tell = tellDays(world, days.size)
  const wrongQuarters = await failing(quarters, (slot) => check.isQuarterRight(slot), world.clock, tell)
  const wrongDays = await failing([...days], (day) => check.isDayRight(day), world.clock)
  return {
    days: days.size,
    hours: days.size * hoursPerDay,
    wrongHours: new Set(wrongQuarters.map((slot) => Math.floor(slot / quartersOf(1)))).size,
    wrongDays: wrongDays.length,
  }
}

/** Looks at each without the lock, so that nobody waits. */
async function failing(
  slots: readonly number[],
  isRight: (slot: number) => boolean,
  clock: JobClock,
  tell?: (done: number, total: number) => void,
): Promise<readonly number[]> {
  const wrong: number[] = []
  let done = 0
  await inSlices(clock, lookBounds, (size) => {
    for (const slot of slots.slice(done, done + size)) if (!isRight(slot)) wrong.push(slot)
    done = Math.min(slots.length, done + size)
    tell?.(done, slots.length)
    return { hasMore: done < slots.length, hasWritten: false }
  })
  return wrong
}

function tellDays({ onProgress }: RebuildWorld, days: number): (done: number, total: number) => void {
  return (done, total) =>
    onProgress({ done: total === 0 ? 0 : Math.floor((days * done) / total), total: days })
}
