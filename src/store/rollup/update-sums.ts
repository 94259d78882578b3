import type { DatabaseSync } from 'node:sqlite'
import type { Warning } from '../../call/call-sink.ts'
import type { Clock } from '../../call/clock.ts'
import { messageOf } from '../../lib/errors.ts'
import { sliceSize } from '../../lib/slice-size.ts'
import { withLockWait } from '../sqlite/lock-wait.ts'
import { Summing } from './summing.ts'
import { sqliteCode, sqliteCodes } from '../sqlite/sqlite-code.ts'

/** Pause (ms) when all calls are added up, and after a failure. */
const everyMs = 2000
const afterTroubleMs = 3000
/** Calls of the first step, and bounds of later ones, in calls and in milliseconds for which new calls wait. */
const step = { first: 100, least: 8, most: 5000, ms: 10 } as const
/** Pause (ms) between steps, for other writers: SQLite tries a lock again after 1, 3, 8, 18 … ms. */
const pauseMs = 6
/** Time (ms) to wait for another process's lock, while calls wait for this thread. */
const lockWaitMs = 5

/**
 * Keeps the sums of an open database up to date in small steps between the thread's other work. Errors become a
 * warning, and the next step tries again. `warn` gets a problem, and null when it is over. `onDamage` is called
 * for each damaged page. Returns a function that ends the steps.
 */
export function updateSums(
  database: DatabaseSync,
  clock: Pick<Clock, 'after' | 'wallTime'>,
  warn: (warning: Warning | null) => void,
  onDamage: () => void = () => undefined,
): () => void {
  let summing = new Summing(database)
  let limit: number = step.first
  let cancel = (): void => undefined

  /** Takes a step, and returns the pause until the next one (ms). */
  const takeStep = (): number => {
    try {
      const startedMs = performance.now()
      const hasMore = withLockWait(database, lockWaitMs, () => summing.step(clock.wallTime(), limit))
      const next = sliceSize(limit, performance.now() - startedMs, step)
      // A step that found few calls says nothing about larger ones.
      limit = hasMore ? next : Math.min(next, limit)
      warn(null)
      return hasMore ? pauseMs : everyMs
    } catch (error) {
      const code = sqliteCode(error)
      if (code === sqliteCodes.busy || code === sqliteCodes.locked) return everyMs
      summing = new Summing(database)
      if (code === sqliteCodes.corrupt) onDamage()
      const message = `calls are recorded, but not added up: ${messageOf(error)}; questions over long times may be slow`
      warn({ code: 'rollups_behind', message })
      return afterTroubleMs
    }
  }
  const stepAfter = (delayMs: number): void => {
    cancel = clock.after(delayMs, () => stepAfter(takeStep()))
  }
  stepAfter(pauseMs)
  return () => cancel()
}
