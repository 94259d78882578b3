import type { DatabaseSync } from 'node:sqlite'
import type { Warning } from '../../call/call-sink.ts'
import type { Clock } from '../../call/clock.ts'
import { messageOf } from '../../lib/errors.ts'
import { withLockWait } from '../sqlite/lock-wait.ts'
import { Summing } from './summing.ts'
import { sqliteCode, sqliteCodes } from '../sqlite/sqlite-code.ts'

/** Pause (ms) when all calls are added up, and after a failure. */
const everyMs = 2000
const afterTroubleMs = 3000
/** Bounds of a step: `longMs` and `shortMs` adapt its number of calls, because new calls wait for the step. */
const step = { longMs: 14, shortMs: 7, firstLimit: 100, leastLimit: 8, mostLimit: 5000 } as const
/** Pause (ms) between steps, for other writers: SQLite tries a lock again after 1, 3, 8, 18 … ms. */
const pauseMs = 6
/** Time (ms) to wait for another process's lock, while calls wait for this thread. */
const lockWaitMs = 5

/**
 * Keeps the sums up to date in small steps between the thread's other work. Errors become a warning, and the
 * updater tries again.
 */
export class SumUpdater {
  readonly #clock: Pick<Clock, 'after' | 'wallTime'>
  readonly #warn: (warning: Warning | null) => void
  readonly #onDamage: () => void
  #current: { readonly database: DatabaseSync; readonly summing: Summing } | null = null
  #limit: number = step.firstLimit
  #cancel: (() => void) | null = null

  /** `warn` gets a problem, and null when it is over. `onDamage` is called for each damaged page. */
  constructor(
    clock: Pick<Clock, 'after' | 'wallTime'>,
    warn: (warning: Warning | null) => void,
    onDamage: () => void = () => undefined,
  ) {
    this.#clock = clock
    this.#warn = warn
    this.#onDamage = onDamage
  }

  /** Starts the steps, each on the database that `current` returns; `null` while none is open. */
  start(current: () => DatabaseSync | null): void {
    this.#cancel = this.#clock.after(this.#run(current()), () => this.start(current))
  }

  stop(): void {
    this.#cancel?.()
  }

  /** Takes a step, and returns the pause until the next one (ms). */
  #run(database: DatabaseSync | null): number {
    if (database === null) return everyMs
    try {
      if (this.#current?.database !== database) {
        this.#current = { database, summing: new Summing(database) }
      }
      const { summing } = this.#current
      const hasMore = withLockWait(database, lockWaitMs, () => this.#step(summing))
      this.#warn(null)
      return hasMore ? pauseMs : everyMs
    } catch (error) {
      const code = sqliteCode(error)
      if (code === sqliteCodes.busy || code === sqliteCodes.locked) return everyMs
      this.#current = null
      if (code === sqliteCodes.corrupt) this.#onDamage()
      const message = `calls are recorded, but not added up: ${messageOf(error)}; questions over long times may be slow`
      this.#warn({ code: 'rollups_behind', message })
      return afterTroubleMs
    }
  }

  #step(summing: Summing): boolean {
    const startedMs = performance.now()
    const hasMore = summing.step(this.#clock.wallTime(), this.#limit)
    const tookMs = performance.now() - startedMs
    if (tookMs > step.longMs) {
      const fitting = Math.floor((this.#limit * step.longMs) / tookMs / 2)
      this.#limit = Math.max(step.leastLimit, fitting)
    } else if (tookMs < step.shortMs && hasMore) {
      this.#limit = Math.min(step.mostLimit, Math.ceil(this.#limit * 1.5))
    }
    return hasMore
  }
}
