import { execFile, type ChildProcess } from 'node:child_process'
import { statSync } from 'node:fs'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as v from 'valibot'
import { CompressResult } from '../../api/database-job.ts'
import type { Clock } from '../../call/clock.ts'
import { lowerPriority } from '../../lib/process/lower-priority.ts'
import { fits } from '../../lib/message-schema.ts'
import { readMessage } from '../../lib/message-shape.ts'
import { programChange } from '../../lib/process/program-files.ts'
import { foldUntil } from '../rollup/fold-calls.ts'
import { dayMs } from '../rollup/time-plan.ts'

/** Which calls are kept one by one: whole days before today, and megabytes of the database; 0 for no limit. */
export interface RetentionLimits {
  readonly keepDays: number
  readonly keepMb: number
}

/** The parts and callbacks of the retention. */
export interface RetentionSetup {
  readonly path: string
  readonly clock: Pick<Clock, 'after' | 'now' | 'wallTime'>
  /** Returns true if no call is in progress. */
  readonly isQuiet: () => boolean
  readonly onFolded: (result: CompressResult) => void
  /** Called with the reason why the database exceeds its limit. */
  readonly onProblem: (problem: string) => void
}

/** Delay of the first check, so that the gateway's start has priority. */
const firstCheckMs = 10_000
const checkEveryMs = 600_000
/** Most checks (an hour) for which folding waits for a moment without calls. */
const busyChecks = 6
const bytesPerMb = 1_000_000
/** Days that are longer than any database is old. */
const allDays = 36_500

const isResult = fits(v.object({ ...CompressResult.entries, used_bytes: v.number() }))

/**
 * Folds old calls once a day, at a moment without calls, and whenever the file is too large. A process of low
 * priority, which may be killed at any time, does the work. The job lock prevents two jobs on one database.
 */
export class Retention {
  readonly #setup: RetentionSetup
  #limits: RetentionLimits = { keepDays: 0, keepMb: 0 }
  /** All calls before this instant are folded because of `keepDays`. `#doneAtMs`: when that was done (monotonic ms). */
  #doneUntilMs = 0
  #doneAtMs = Number.NEGATIVE_INFINITY
  /** Start of the day on which nothing more can be folded, although the file is too large. */
  #stuckDayMs = 0
  #busy = 0
  #problem = ''
  #child: ChildProcess | null = null
  #cancel: () => void = () => undefined

  constructor(setup: RetentionSetup) {
    this.#setup = setup
  }

  /** Sets the limits. Checks soon, and then every ten minutes while there is a limit. */
  set(limits: RetentionLimits): void {
    const { keepDays, keepMb } = this.#limits
    if (limits.keepDays === keepDays && limits.keepMb === keepMb) return
    this.#limits = { keepDays: limits.keepDays, keepMb: limits.keepMb }
    this.#doneUntilMs = 0
    this.#doneAtMs = Number.NEGATIVE_INFINITY
    this.#stuckDayMs = 0
    this.#problem = ''
    this.#cancel()
    if (limits.keepDays + limits.keepMb > 0) this.#plan(firstCheckMs)
  }

  get isFolding(): boolean {
    return this.#child !== null
  }

  /** Ends the checks, and kills a running job. The next start continues its work. */
  close(): void {
    this.#cancel()
    this.#child?.kill('SIGKILL')
  }

  #plan(delayMs: number): void {
    this.#cancel = this.#setup.clock.after(
      delayMs,
      () => {
        this.#plan(checkEveryMs)
        this.#foldIfDue()
      },
      { background: true },
    )
  }

  #foldIfDue(): void {
    if (this.#child !== null) return
    const isOld = this.#limits.keepDays > 0 && this.#isDue()
    const isLarge = this.#isLarge() && this.#stuckDayMs !== this.#todayMs()
    if (!isOld && !isLarge) return
    const change = programChange()
    if (change !== null) {
      this.#report(`old calls are not folded: ${change}`)
      return
    }
    if (!isLarge && !this.#setup.isQuiet() && ++this.#busy < busyChecks) return
    this.#busy = 0
    this.#fold()
  }

  /** True if a new day has begun. A clock that is set to another day counts only once a day. */
  #isDue(): boolean {
    const daysOnMs = this.#untilMs() - this.#doneUntilMs
    if (daysOnMs === 0) return false
    return daysOnMs === dayMs || this.#setup.clock.now() - this.#doneAtMs >= dayMs
  }

  #untilMs(): number {
    return foldUntil(this.#setup.clock.wallTime(), this.#limits.keepDays)
  }

  #todayMs(): number {
    return foldUntil(this.#setup.clock.wallTime(), 0)
  }

  #isLarge(): boolean {
    const { keepMb } = this.#limits
    // The size without the log, which is emptied by itself.
    const size = statSync(this.#setup.path, { throwIfNoEntry: false })?.size ?? 0
    return keepMb > 0 && size > keepMb * bytesPerMb
  }

  #fold(): void {
    const limits = this.#limits
    const keepBytes = limits.keepMb === 0 ? Number.POSITIVE_INFINITY : limits.keepMb * bytesPerMb
    const [untilMs, todayMs] = [this.#untilMs(), this.#todayMs()]
    const file = fileURLToPath(new URL(`./retention-worker${extname(import.meta.url)}`, import.meta.url))
    const args = [file, this.#setup.path, String(limits.keepDays || allDays), String(keepBytes)]
    const child = execFile(process.execPath, args, { env: {} }, (error, stdout, stderr) => {
      this.#child = null
      if (child.killed) return
      if (error !== null) {
        this.#report(`old calls could not be folded: ${/^\w*Error: .*$/m.exec(stderr)?.[0] ?? error.message}`)
        return
      }
      const result = readMessage(stdout, isResult)
      // Another job runs, or there is no database. The next check tries again.
      if (result === null) return
      if (result.folded_calls > 0) this.#setup.onFolded(result)
      if (limits !== this.#limits) return
      this.#doneUntilMs = untilMs
      this.#doneAtMs = this.#setup.clock.now()
      // The file itself shrinks later, when its readers have ended.
      if (result.used_bytes <= keepBytes) return
      this.#stuckDayMs = todayMs
      const size = `${Math.ceil(result.used_bytes / bytesPerMb)} MB`
      this.#report(
        `the database takes ${size}, more than --keep-mb ${limits.keepMb}: only sums are left, and calls of ` +
          'yesterday and today, which are kept; a higher --keep-mb ends this message',
      )
    })
    if (child.pid !== undefined) lowerPriority(child.pid)
    this.#child = child
  }

  /** Reports a problem once. */
  #report(problem: string): void {
    if (problem !== this.#problem) this.#setup.onProblem(problem)
    this.#problem = problem
  }
}
