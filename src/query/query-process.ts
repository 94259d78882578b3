import type { Clock } from '../call/clock.ts'
import { QueryWorkerHandle, type WaitingQuestion } from './query-worker-handle.ts'
import type { QueryOutcome } from './query-messages.ts'
import type { QueryQuestion } from './query-question.ts'
import { SharedReplies } from './shared-replies.ts'
import type { SpawnQuery } from './spawn-query.ts'

/** The parts of a query process. */
export interface QueryProcessOptions {
  readonly clock: Clock
  readonly spawn: SpawnQuery
  /** Called with crashes and internal errors of the process. */
  readonly onFault: (error: unknown) => void
  /** Time limit from the question to the answer. The first start of a process does not count. */
  readonly deadlineMs?: number
  /** Time that a process gets beyond its deadline before it is killed. */
  readonly graceMs?: number
  /** Most different questions that wait or are being answered. */
  readonly limit?: number
}

/** Default grace. A statement that reads many rows checks the clock only now and then, and may be late by this time. */
const defaultGraceMs = 500

/** Time limit for a start: on a machine that a model keeps busy, a process takes seconds to load. */
const startLimitMs = 30_000

/** After this wait behind others, a question gets a second process. */
const slowMs = 250

/**
 * Asks one or two query processes, which read the database, each answering one question at a time. So this
 * process never waits for SQLite. `start` or the first question starts the first process; a slow question,
 * while others wait, starts the second. Both stay.
 */
export class QueryProcess {
  readonly #options: Required<QueryProcessOptions>
  readonly #clock: Clock
  readonly #shared: SharedReplies<QueryOutcome>
  readonly #first: QueryWorkerHandle
  readonly #second: QueryWorkerHandle
  #waiting: WaitingQuestion[] = []
  /** When a process was ready for the first time (monotonic ms). */
  #readySinceMs: number | null = null
  #cancelSecond: (() => void) | null = null
  #isClosed = false

  constructor(options: QueryProcessOptions) {
    this.#options = { deadlineMs: 5000, graceMs: defaultGraceMs, limit: 64, ...options }
    this.#clock = this.#options.clock
    this.#shared = new SharedReplies(this.#clock, ({ kind }) => kind !== 'unavailable')
    const callbacks = { onFree: () => this.#next(), onDied: () => this.#rejectExpired() }
    const worker = { ...this.#options, ...callbacks, startLimitMs }
    this.#first = new QueryWorkerHandle(worker)
    this.#second = new QueryWorkerHandle(worker)
  }

  /** Starts the process before the first question. */
  start(): void {
    this.#first.start()
  }

  /**
   * Answers a question, or says why there is no answer. Rejects with an internal error. Equal questions
   * within a second share the answer, except for payloads, which are large and may change.
   */
  ask(question: QueryQuestion): Promise<QueryOutcome> {
    if ('filePath' in question) return this.#askAlone(question)
    return this.#shared.get(JSON.stringify(question), () => this.#askAlone(question))
  }

  /** Forgets the answers of the last second, so that equal questions get new ones. */
  forgetAnswers(): void {
    this.#shared.clear()
  }

  /** Ends the processes; waiting questions are answered `closed`. */
  close(): void {
    this.#isClosed = true
    this.#cancelSecond?.()
    const waiting = this.#waiting
    this.#waiting = []
    this.#first.close()
    this.#second.close()
    for (const { resolve } of waiting) resolve({ kind: 'unavailable', code: 'closed' })
  }

  #askAlone(question: QueryQuestion): Promise<QueryOutcome> {
    if (this.#isClosed) return Promise.resolve({ kind: 'unavailable', code: 'closed' })
    const count = this.#waiting.length + Number(this.#first.isBusy) + Number(this.#second.isBusy)
    if (count >= this.#options.limit) return Promise.resolve({ kind: 'unavailable', code: 'too_busy' })
    return new Promise((resolve, reject) => {
      this.#waiting.push({ question, askedAtMs: this.#clock.now(), resolve, reject })
      this.#next()
    })
  }

  #next(): void {
    if (this.#isClosed) return
    for (const worker of [this.#first, this.#second]) {
      while (worker.isFree && this.#waiting.length > 0) this.#askNext(worker)
    }
    if (this.#waiting.length > 0) this.#startMore()
  }

  #askNext(worker: QueryWorkerHandle): void {
    const next = this.#waiting.shift()
    if (next === undefined) return
    const sinceMs = Math.max(next.askedAtMs, (this.#readySinceMs ??= this.#clock.now()))
    const budgetMs = this.#options.deadlineMs - (this.#clock.now() - sinceMs)
    if (budgetMs > 0) worker.ask(next, budgetMs)
    else next.resolve({ kind: 'unavailable', code: 'too_busy' })
  }

  /** Starts the first process; if it is busy, after a while the second. */
  #startMore(): void {
    if (!this.#first.isBusy) {
      this.#first.start()
      return
    }
    const startSecond = (): void => {
      this.#cancelSecond = null
      if (this.#waiting.length > 0 && this.#first.isBusy) this.#second.start()
    }
    this.#cancelSecond ??= this.#clock.after(slowMs, startSecond, { background: true })
  }

  /** Rejects questions whose deadline a new start could not meet. */
  #rejectExpired(): void {
    const latestMs = this.#clock.now() - this.#options.deadlineMs
    const late = this.#waiting.filter(({ askedAtMs }) => askedAtMs <= latestMs)
    this.#waiting = this.#waiting.filter(({ askedAtMs }) => askedAtMs > latestMs)
    for (const { resolve } of late) resolve({ kind: 'unavailable', code: 'interrupted' })
    this.#next()
  }
}
