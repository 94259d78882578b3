import type { Clock } from '../call/clock.ts'
import { WorkerHost } from '../lib/process/worker-host.ts'
import { type FromQuery, type QueryOutcome, type ToQuery, tooSlow } from './query-messages.ts'
import type { QueryQuestion } from './query-question.ts'
import type { SpawnQuery } from './spawn-query.ts'

/** A question that waits for its answer. */
export interface WaitingQuestion {
  readonly question: QueryQuestion
  /** Monotonic milliseconds. */
  readonly askedAtMs: number
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
  /** Called when the process can take a question, or can be started again. */
  readonly onFree: () => void
  /** Called when the process has ended by itself, or did not start. */
  readonly onDied: () => void
}

const stopSignals: ReadonlySet<string> = new Set(['SIGTERM', 'SIGINT', 'SIGHUP'])

/** A query process, which gets one question at a time, and is started again after a crash or a kill. */
export class QueryWorkerHandle {
  readonly #options: QueryWorkerOptions
  readonly #host: WorkerHost<ToQuery, FromQuery>
  #isReady = false
  #running: WaitingQuestion | null = null
  /** Cancels the time limit of the start, or of the running question. */
  #cancelLimit: () => void = () => {}

  constructor(options: QueryWorkerOptions) {
    const { clock, spawn, startLimitMs } = options
    const tooLate = `it did not start within ${startLimitMs / 1000} seconds`
    this.#options = options
    this.#host = new WorkerHost({
      clock,
      start: spawn,
      started: () => this.#limit(startLimitMs, () => this.#host.kill(tooLate)),
      received: (message) => this.#receive(message),
      died: (reason) => this.#died(reason),
    })
  }

  get isBusy(): boolean {
    return this.#running !== null
  }

  /** True if the process would answer a question at once. */
  get isFree(): boolean {
    return this.#isReady && this.#running === null
  }

  /** Starts the process if it does not run. */
  start(): void {
    this.#host.need()
  }

  /** Asks a question. Call it while the process is free. */
  ask(waiting: WaitingQuestion, budgetMs: number): void {
    const { clock, graceMs } = this.#options
    this.#running = waiting
    this.#limit(budgetMs + graceMs, () => this.#overrun())
    this.#host.post({ question: waiting.question, nowMs: clock.wallTime(), budgetMs })
  }

  /** Ends the process; the open question resolves as `unavailable`. */
  close(): void {
    this.#isReady = false
    this.#host.end()
    this.#endRunning()?.resolve({ kind: 'unavailable', code: 'closed' })
  }

  #limit(ms: number, onLate: () => void): void {
    this.#cancelLimit = this.#options.clock.after(ms, onLate, { background: true })
  }

  #receive(message: FromQuery): void {
    const running = this.#endRunning()
    if (message.kind === 'ready') this.#isReady = true
    else {
      this.#host.isWell()
      if (message.kind !== 'fault') running?.resolve(message)
      else running?.reject(new Error(`the query process failed: ${message.message}`))
    }
    this.#options.onFree()
  }

  /** Kills the process: a statement that reads without a pause cannot check the deadline itself. */
  #overrun(): void {
    this.#isReady = false
    this.#host.kill()
    this.#endRunning()?.resolve(tooSlow)
    this.#options.onFree()
  }

  #died(reason: string): void {
    this.#isReady = false
    // A signal to the process group may reach the process before it can ignore signals; that is no fault.
    if (!stopSignals.has(reason)) this.#options.onFault(new Error(`the query process ended: ${reason}`))
    this.#endRunning()?.resolve({ kind: 'unavailable', code: 'interrupted' })
    this.#options.onDied()
  }

  #endRunning(): WaitingQuestion | null {
    this.#cancelLimit()
    const running = this.#running
    this.#running = null
    return running
  }
}
