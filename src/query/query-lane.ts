import type { Clock } from '../call/clock.ts'
import type { QueryOutcome, QueryReply } from './query-messages.ts'
import type { QueryQuestion } from './query-question.ts'
import type { SpawnQuery, SpawnedQuery } from './spawn-query.ts'

export interface WaitingQuestion {
  readonly question: QueryQuestion
  /** When it was asked; later where it had to wait for a start, which is none of its time. */
  askedAtMs: number
  readonly resolve: (outcome: QueryOutcome) => void
  readonly reject: (error: Error) => void
}

export interface QueryLaneOptions {
  readonly clock: Clock
  readonly spawn: SpawnQuery
  readonly onFault: (error: unknown) => void
  readonly graceMs: number
  readonly startLimitMs: number
  /** The process is there, after it has been starting since then. */
  readonly onReady: (sinceMs: number) => void
  /** It has died, or a pause before its next start is over. */
  readonly onEnded: () => void
  /** It may be asked again. */
  readonly onFree: () => void
}

interface Running extends WaitingQuestion {
  readonly number: number
  readonly budgetMs: number
  cancelKill: () => void
}

const stopSignals: ReadonlySet<string> = new Set(['SIGTERM', 'SIGINT', 'SIGHUP'])
const restart = { firstMs: 100, longestMs: 5000 } as const

/** One query process, which is asked one question at a time, and started anew after it has died or had to be killed. */
export class QueryLane {
  readonly #options: QueryLaneOptions
  readonly #clock: Clock
  #running: Running | null = null
  #process: SpawnedQuery | null = null
  /** Since when the process has been starting; null once it is there. */
  #startingSinceMs: number | null = null
  #cancelStartLimit: (() => void) | null = null
  #lastNumber = 0
  #deaths = 0
  /** The pause before the next start, while there is one. */
  #cancelStart: (() => void) | null = null
  #isClosed = false

  constructor(options: QueryLaneOptions) {
    this.#options = options
    this.#clock = options.clock
  }

  get isBusy(): boolean {
    return this.#running !== null
  }

  /** Whether its process could answer at once. */
  get isReady(): boolean {
    return this.#process !== null && this.#startingSinceMs === null
  }

  /** Has the process there before it is asked; false while a start has to wait. */
  start(): boolean {
    if (!this.#isClosed) this.#process ??= this.#start()
    return this.#process !== null
  }

  /** To be called while it is not busy, after `start` has answered true. */
  ask(waiting: WaitingQuestion, budgetMs: number): void {
    const number = ++this.#lastNumber
    this.#running = { ...waiting, number, budgetMs, cancelKill: () => {} }
    if (this.#startingSinceMs === null) this.#limitRunning(this.#running)
    this.#process?.ask({ number, question: waiting.question, nowMs: this.#clock.wallTime(), budgetMs })
  }

  /** Ends the process; who is being answered is told so. */
  close(): void {
    this.#isClosed = true
    this.#cancelStart?.()
    this.#cancelStart = null
    this.#endRunning()?.resolve({ kind: 'unavailable', code: 'closed' })
    this.#end()
  }

  #limitRunning(running: Running): void {
    const delayMs = running.budgetMs + this.#options.graceMs
    running.cancelKill = this.#clock.after(delayMs, () => this.#overrun(), { background: true })
  }

  /** Null while a start has to wait. */
  #start(): SpawnedQuery | null {
    if (this.#cancelStart !== null) return null
    if (this.#deaths === 0) return this.#spawned()
    const delayMs = Math.min(restart.longestMs, restart.firstMs * 2 ** (this.#deaths - 1))
    this.#cancelStart = this.#clock.after(
      delayMs,
      () => {
        this.#cancelStart = null
        this.#process = this.#spawned()
        this.#options.onEnded()
      },
      { background: true },
    )
    return null
  }

  #spawned(): SpawnedQuery {
    this.#startingSinceMs = this.#clock.now()
    const { startLimitMs } = this.#options
    const tooLate = (): void => {
      this.#end()
      this.#ended(`it did not start within ${startLimitMs / 1000} seconds`)
    }
    this.#cancelStartLimit = this.#clock.after(startLimitMs, tooLate, { background: true })
    const spawned: SpawnedQuery = this.#options.spawn({
      onReady: () => {
        if (this.#process === spawned) this.#ready()
      },
      onReply: ({ number, reply }) => this.#receive(number, reply),
      onEnd: (reason) => {
        if (this.#process === spawned) this.#ended(reason)
      },
    })
    return spawned
  }

  #ready(): void {
    const since = this.#startingSinceMs ?? this.#clock.now()
    this.#startingSinceMs = null
    this.#cancelStartLimit?.()
    if (this.#running !== null) this.#limitRunning(this.#running)
    this.#options.onReady(since)
  }

  #receive(number: number, reply: QueryReply): void {
    if (this.#running?.number !== number) return
    this.#deaths = 0
    const running = this.#endRunning()
    if (reply.kind === 'fault') running?.reject(new Error(`the query process failed: ${reply.message}`))
    else running?.resolve(reply)
    this.#options.onFree()
  }

  /** The deadline that the process watches itself did not end it: a statement that reads without a pause. */
  #overrun(): void {
    const running = this.#endRunning()
    this.#end()
    const message = 'The answer takes too long; ask for a shorter range, or with fewer filters.'
    running?.resolve({ kind: 'refused', code: 'too_slow', message, param: null })
    this.#options.onFree()
  }

  /** Its end is then nothing to be told of. */
  #end(): void {
    const ending = this.#process
    this.#process = null
    this.#cancelStartLimit?.()
    ending?.kill()
  }

  #ended(reason: string): void {
    this.#process = null
    this.#cancelStartLimit?.()
    if (this.#isClosed) return
    this.#deaths += 1
    // Who ends the whole group, or its parent, meets it before it can ignore that.
    if (!stopSignals.has(reason)) this.#options.onFault(new Error(`the query process ended: ${reason}`))
    this.#endRunning()?.resolve({ kind: 'unavailable', code: 'interrupted' })
    this.#options.onEnded()
  }

  #endRunning(): Running | null {
    const running = this.#running
    this.#running = null
    running?.cancelKill()
    return running
  }
}
