import type { Clock } from '../../call/clock.ts'
import { openForReading, openForWriting, type StoreAbsence } from '../sqlite/open-store.ts'
import { RecountRollups } from '../rollup/recount-rollups.ts'
import { pauseAfter } from './slice-pace.ts'
import { lockJob } from '../sqlite/store-files.ts'

/** How far it has come, in days that hold calls or sums. */
export interface RebuildProgress {
  readonly done: number
  readonly total: number
}

/** What was counted again, and how much of it was wrong, or missing, and is made anew. */
export interface RebuildOutcome {
  readonly days: number
  readonly hours: number
  readonly wrongHours: number
  /** Days whose sums did not add up from their hours. */
  readonly wrongDays: number
  readonly durationMs: number
}

export interface RebuildWorld {
  readonly clock: Pick<Clock, 'now' | 'wallTime' | 'delay'>
  readonly onProgress: (progress: RebuildProgress) => void
}

const hoursPerDay = 24
/** Pauses are made after so much time at most, if only by reading. */
const longestTurnMs = 20

/**
 * Makes the rollups anew from the calls that are there, in short transactions with pauses between them, while others read
 * and write. It may be killed at any moment, and then begun again. What was folded stays as it is.
 */
export async function rebuildStore(
  path: string,
  world: RebuildWorld,
): Promise<RebuildOutcome | StoreAbsence | 'job_running'> {
  const startedMs = world.clock.now()
  const reading = openForReading(path)
  if (typeof reading === 'string') return reading
  reading.close()
  // Calls that are folded away meanwhile could not be counted.
  using job = lockJob(path)
  if (job === null) return 'job_running'
  const database = openForWriting(path)
  try {
    const found = await rebuildAll(new RecountRollups(database), world)
    return { ...found, durationMs: world.clock.now() - startedMs }
  } finally {
    database.close()
  }
}

async function rebuildAll(
  recount: RecountRollups,
  { clock, onProgress }: RebuildWorld,
): Promise<Omit<RebuildOutcome, 'durationMs'>> {
  const days = recount.days()
  let [wrongHours, wrongDays] = [0, 0]
  let turnFromMs = clock.now()
  const inTurn = async (work: () => boolean): Promise<boolean> => {
    const fromMs = clock.now()
    const hasWritten = work()
    const nowMs = clock.now()
    if (hasWritten || nowMs - turnFromMs >= longestTurnMs) {
      await clock.delay(pauseAfter(hasWritten ? nowMs - fromMs : 0))
      turnFromMs = clock.now()
    }
    return hasWritten
  }
  for (const [done, day] of days.entries()) {
    onProgress({ done, total: days.length })
    for (let hour = day * hoursPerDay; hour < (day + 1) * hoursPerDay; hour++) {
      if (await inTurn(() => recount.hour(hour))) wrongHours += 1
    }
    if (await inTurn(() => recount.wider(day))) wrongDays += 1
  }
  recount.finish()
  onProgress({ done: days.length, total: days.length })
  return { days: days.length, hours: days.length * hoursPerDay, wrongHours, wrongDays }
}
