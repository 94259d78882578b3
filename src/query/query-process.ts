import type { Clock } from '../call/clock.ts'
import type { QueryAnswer, QueryFailure, QueryReply } from './query-messages.ts'
import type { QueryQuestion } from './query-question.ts'
import { SharedReplies } from './shared-replies.ts'
import type { SpawnQuery, SpawnedQuery } from './spawn-query.ts'

/** What a query process is made of. */
export interface QueryProcessOptions {
  readonly clock: Clock
  readonly spawn: SpawnQuery
  /** Told of faults of the process: that it died, or met an error of ours. */
  readonly onFault: (error: unknown) => void
  /** From the asking to the answer. */
  readonly deadlineMs?: number
  /** How long a process that has overrun its deadline may go on before it is killed. */
  readonly graceMs?: number
  /** Different questions that wait or are being answered. */
  readonly limit?: number
  /** How long a process may take to start; the deadline of a question begins afterwards. */
  readonly startLimitMs?: number
}

/** There is no answer, and nothing is wrong with the question. */
export type QueryUnavailable = 'too_busy' | 'closed' | 'interrupted'

/** What `ask` resolves with. */
export type QueryOutcome =
  | QueryAnswer
  | QueryFailure
  | { readonly kind: 'unavailable'; readonly code: QueryUnavailable }

interface Waiting {
  readonly question: QueryQuestion
  /** When it was asked; later where it had to wait for a start, which is none of its time. */
  askedAtMs: number
  readonly resolve: (outcome: QueryOutcome) => void
  readonly reject: (error: Error) => void
}

interface Running extends Waiting {
  readonly number: number
  readonly budgetMs: number
  cancelKill: () => void
}

const stopSignals: ReadonlySet<string> = new Set(['SIGTERM', 'SIGINT', 'SIGHUP'])
const restart = { firstMs: 100, longestMs: 5000 } as const
/** A statement that reads many rows at a time looks at the clock now and then; this much it may be late. */
const defaultGraceMs = 500

/** On a machine whose processors a model keeps busy, a process takes seconds to load. */
const defaultStartLimitMs = 30_000

/**
 * Asks a process of its own, which reads the database, one question at a time: nothing here waits for SQLite. It is
 * started by `start` or the first question, and anew after it has died or had to be killed.
 */
export class QueryProcess {
  readonly #options: Required<QueryProcessOptions>
  readonly #clock: Clock
  readonly #shared: SharedReplies<QueryOutcome>
  #waiting: Waiting[] = []
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

  constructor(options: QueryProcessOptions) {
    this.#options = {
      deadlineMs: 5000,
      graceMs: defaultGraceMs,
      limit: 64,
      startLimitMs: defaultStartLimitMs,
      ...options,
    }
    this.#clock = this.#options.clock
    this.#shared = new SharedReplies(this.#clock, ({ kind }) => kind !== 'unavailable')
  }

  /** Has the process there before the first question. */
  start(): void {
    if (!this.#isClosed) this.#process ??= this.#start()
  }

  /**
   * Answers, or says why not; rejects with a fault of ours. Who asks the same within a second shares the answer, but for
   * payloads: they are large, and who asks for them again wants to know whether there are more.
   */
  ask(question: QueryQuestion): Promise<QueryOutcome> {
    if ('filePath' in question) return this.#askAlone(question)
    return this.#shared.get(JSON.stringify(question), () => this.#askAlone(question))
  }

  /** Ends the process; what waits is told so. */
  close(): void {
    this.#isClosed = true
    this.#cancelStart?.()
    this.#cancelStart = null
    const waiting = this.#waiting
    this.#waiting = []
    const running = this.#endRunning()
    for (const { resolve } of running === null ? waiting : [running, ...waiting]) {
      resolve({ kind: 'unavailable', code: 'closed' })
    }
    this.#end()
  }

  #askAlone(question: QueryQuestion): Promise<QueryOutcome> {
    if (this.#isClosed) return Promise.resolve({ kind: 'unavailable', code: 'closed' })
    const count = this.#waiting.length + (this.#running === null ? 0 : 1)
    if (count >= this.#options.limit) return Promise.resolve({ kind: 'unavailable', code: 'too_busy' })
    return new Promise((resolve, reject) => {
      this.#waiting.push({ question, askedAtMs: this.#clock.now(), resolve, reject })
      this.#next()
    })
  }

  #next(): void {
    if (this.#running !== null || this.#isClosed) return
    const next = this.#waiting[0]
    if (next === undefined) return
    this.#process ??= this.#start()
    if (this.#process === null) return
    this.#waiting.shift()
    const budgetMs = this.#options.deadlineMs - (this.#clock.now() - next.askedAtMs)
    if (budgetMs <= 0) {
      next.resolve({ kind: 'unavailable', code: 'too_busy' })
      this.#next()
      return
    }
    const number = ++this.#lastNumber
    this.#running = { ...next, number, budgetMs, cancelKill: () => {} }
    if (this.#startingSinceMs === null) this.#limitRunning(this.#running)
    this.#process.ask({ number, question: next.question, nowMs: this.#clock.wallTime(), budgetMs })
  }

  #limitRunning(running: Running): void {
    const delayMs = running.budgetMs + this.#options.graceMs
    running.cancelKill = this.#clock.after(delayMs, () => this.#overrun(), { background: true })
  }

  /** Null while a start has to wait. */
  #start(): SpawnedQuery | null {
    if (this.#cancelStart !== null) return null
    if (this.#deaths > 0) {
      const delayMs = Math.min(restart.longestMs, restart.firstMs * 2 ** (this.#deaths - 1))
      this.#cancelStart = this.#clock.after(
        delayMs,
        () => {
          this.#cancelStart = null
          this.#process = this.#spawned()
          this.#giveUpLate()
          this.#next()
        },
        { background: true },
      )
      return null
    }
    return this.#spawned()
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
    const now = this.#clock.now()
    const since = this.#startingSinceMs ?? now
    this.#startingSinceMs = null
    this.#cancelStartLimit?.()
    for (const waiting of this.#waiting) waiting.askedAtMs += now - Math.max(since, waiting.askedAtMs)
    if (this.#running !== null) this.#limitRunning(this.#running)
  }

  #receive(number: number, reply: QueryReply): void {
    if (this.#running?.number !== number) return
    this.#deaths = 0
    const running = this.#endRunning()
    if (reply.kind === 'fault') running?.reject(new Error(`the query process failed: ${reply.message}`))
    else running?.resolve(reply)
    this.#next()
  }

  /** The deadline that the process watches itself did not end it: a statement that reads without a pause. */
  #overrun(): void {
    const running = this.#endRunning()
    this.#end()
    const message = 'The answer takes too long; ask for a shorter range, or with fewer filters.'
    running?.resolve({ kind: 'refused', code: 'too_slow', message, param: null })
    this.#next()
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
    this.#giveUpLate()
    this.#next()
  }

  /** Those for whom a new start would come too late. */
  #giveUpLate(): void {
    const latestMs = this.#clock.now() - this.#options.deadlineMs
    const late = this.#waiting.filter(({ askedAtMs }) => askedAtMs <= latestMs)
    this.#waiting = this.#waiting.filter(({ askedAtMs }) => askedAtMs > latestMs)
    for (const { resolve } of late) resolve({ kind: 'unavailable', code: 'interrupted' })
  }

  #endRunning(): Running | null {
    const running = this.#running
    this.#running = null
    running?.cancelKill()
    return running
  }
}
