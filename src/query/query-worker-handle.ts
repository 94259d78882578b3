import type { Clock } from '../call/clock.ts'
import { WorkerHost } from '../lib/process/worker-host.ts'
import type { FromQuery, QueryOutcome, ToQuery } from './query-messages.ts'
import type { QueryQuestion } from './query-question.ts'
import type { SpawnQuery } from './spawn-query.ts'

/** A question that waits for its answer. */
export interface WaitingQuestion {
  readonly question: QueryQuestion
  /**
   * When the question's time began (monotonic ms). A start of the process does not count, so its end replaces
   * an earlier time.
   */
  askedAtMs: number
  readonly resolve: (outcome: QueryOutcome) => void
  readonly reject: (error: Error) => void
}

/** Time limits and callbacks of a query process. */
export interface QueryWorkerOptions {
  readonly clock: Clock
  readonly spawn: SpawnQuery
  readonly onFault: (error: unknown) => void
  readonly graceMs: number
  readonly startLimitMs: number
  /** Called when the process is ready, which was started at `sinceMs`. */
  readonly onReady: (sinceMs: number) => void
  /** Called when the process has died or begins to start. */
  readonly onChange: () => void
  /** Called when the process can take another question. */
  readonly onFree: () => void
}

interface Running extends WaitingQuestion {
  readonly budgetMs: number
  cancelKill: () => void
}

const stopSignals: ReadonlySet<string> = new Set(['SIGTERM', 'SIGINT', 'SIGHUP'])

/** A query process, which gets one question at a time, and is started again after a crash or a kill. */
export class QueryWorkerHandle {
  readonly #options: QueryWorkerOptions
  readonly #clock: Clock
  readonly #host: WorkerHost<ToQuery, FromQuery>
  #running: Running | null = null
  /** When the process began to start (monotonic ms); null once it is ready. */
  #startingSinceMs: number | null = null
  #cancelStartLimit: () => void = () => {}

  constructor(options: QueryWorkerOptions) {
    this.#options = options
    this.#clock = options.clock
    this.#host = new WorkerHost({
      clock: options.clock,
      start: options.spawn,
      started: () => this.#started(),
      received: (message) => this.#receive(message),
      died: (reason) => this.#died(reason),
    })
  }

  get isBusy(): boolean {
    return this.#running !== null
  }

  /** True if its process could answer at once. */
  get isReady(): boolean {
    return this.#host.isRunning && this.#startingSinceMs === null
  }

  /** Starts the process before the first question; false while a start has to wait. */
  start(): boolean {
    return this.#host.need()
  }

  /** Asks a question. Call it while the process is not busy, after `start` has answered true. */
  ask(waiting: WaitingQuestion, budgetMs: number): void {
    this.#running = { ...waiting, budgetMs, cancelKill: () => {} }
    if (this.isReady) this.#limitRunning(this.#running)
    this.#host.post({ question: waiting.question, nowMs: this.#clock.wallTime(), budgetMs })
  }

  /** Ends the process; the open question resolves as `unavailable`. */
  close(): void {
    this.#endRunning()?.resolve({ kind: 'unavailable', code: 'closed' })
    this.#cancelStartLimit()
    this.#host.end()
  }

  #limitRunning(running: Running): void {
    const delayMs = running.budgetMs + this.#options.graceMs
    running.cancelKill = this.#clock.after(delayMs, () => this.#overrun(), { background: true })
  }

  #started(): void {
    this.#startingSinceMs = this.#clock.now()
    const { startLimitMs } = this.#options
    const tooLate = (): void => this.#host.kill(`it did not start within ${startLimitMs / 1000} seconds`)
    this.#cancelStartLimit = this.#clock.after(startLimitMs, tooLate, { background: true })
    this.#options.onChange()
  }

  #receive(message: FromQuery): void {
    if (message.kind === 'ready') {
      const since = this.#startingSinceMs ?? this.#clock.now()
      this.#startingSinceMs = null
      this.#cancelStartLimit()
      if (this.#running !== null) this.#limitRunning(this.#running)
      this.#options.onReady(since)
      return
    }
    this.#host.isWell()
    const running = this.#endRunning()
    if (message.kind === 'fault') running?.reject(new Error(`the query process failed: ${message.message}`))
    else running?.resolve(message)
    this.#options.onFree()
  }

  /** Kills the process: a statement that reads without a pause cannot check the deadline itself. */
  #overrun(): void {
    this.#host.kill()
    const message = 'The query takes too long; use a shorter range or fewer filters.'
    this.#endRunning()?.resolve({ kind: 'refused', code: 'too_slow', message, param: null, data: null })
    this.#options.onFree()
  }

  #died(reason: string): void {
    this.#cancelStartLimit()
    // A signal to the process group may reach the process before it can ignore signals; that is no fault.
    if (!stopSignals.has(reason)) this.#options.onFault(new Error(`the query process ended: ${reason}`))
    this.#endRunning()?.resolve({ kind: 'unavailable', code: 'interrupted' })
    this.#options.onChange()
  }

  #endRunning(): Running | null {
    const running = this.#running
    this.#running = null
    running?.cancelKill()
    return running
  }
}
