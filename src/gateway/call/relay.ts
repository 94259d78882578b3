import type { CallObserver } from '../../call/call-observer.ts'
import type { Clock } from '../../call/clock.ts'
import { Failure } from '../../call/failure.ts'
import type { CallTimeline } from '../recorder/call-timeline.ts'
import type { AnswerSink, AnswerSource, ClientAnswer } from '../http/client-answer.ts'
import type { Connection, PooledAttempt } from '../upstream/connection-pool.ts'
import { failureOf, isRefused, missesNoBody } from '../upstream/undici-failure.ts'
import { readHead } from '../upstream/undici-upstream.ts'
import { asFailure } from '../http/error-answer.ts'
import type { Attempt } from './attempt.ts'

/** Chunks that follow each other more quickly came in one read, or in a flood of them. */
const burstGapMs = 0.1
/** Larger chunks of a burst are worth a write each. */
const gatheredBytes = 4096
/** So many chunks of a burst are relayed, in a millisecond or two, before other calls have their turn. */
const burstChunks = 1024

/** Between two tries to connect to an upstream that refuses: at first, and at most. */
const firstPauseMs = 50
const longestPauseMs = 1000

/** So many interim answers (1xx) may come before an answer. */
const mostInterimAnswers = 100

const noTrailers: readonly never[] = []

/** What a relay works on: one call's client, observers and marks. */
export interface RelayedCall {
  readonly client: ClientAnswer
  readonly timeline: CallTimeline
  readonly clock: Clock
  /** Whether the client said that it takes trailers (`TE: trailers`). */
  readonly acceptsTrailers: boolean
  /** Makes the observer of an attempt that was handed to the transport now. */
  observe(atMs: number): CallObserver
  /** Headers that the gateway adds to the answer, made when its head has arrived. */
  addedHeaders(): readonly string[]
}

/**
 * Makes one attempt, and copies its answer to `answer` as it comes, past the observer.
 * Resolves when the answer is complete; rejects with the `Failure` that ended it, also when the client leaves.
 */
export function relay(attempt: Attempt, call: RelayedCall, answer: AnswerSink): Promise<void> {
  if (call.client.over !== null) return Promise.reject(call.client.over)
  const now = call.clock.now()
  call.timeline.attempt(now)
  const relayed = new RelayedAttempt(attempt, call, answer, call.observe(now))
  call.client.source = relayed
  attempt.upstream.send(attempt, relayed)
  return relayed.settled.promise
}

/** undici's verbs on one side; the client, the observer and the marks on the other. */
class RelayedAttempt implements PooledAttempt, AnswerSource {
  readonly #attempt: Attempt
  readonly #call: RelayedCall
  readonly #answer: AnswerSink
  readonly #observer: CallObserver
  readonly settled = Promise.withResolvers<void>()
  isOver = false
  connection: Connection | null = null
  /** undici's own; `null` until the request goes out. */
  #abort: ((error?: Error) => void) | null = null
  #resume: (() => void) | null = null
  /** Of the answer; 0 before it. */
  #status = 0
  /** Answers 1xx so far. */
  #interimAnswers = 0
  #streamed = false
  #lastChunkAt = 0
  #inBurst = 0
  /** Since when the upstream refuses connections; 0 before it did. */
  #refusedSinceMs = 0
  #pauseMs = firstPauseMs
  #nextTry: NodeJS.Timeout | undefined

  constructor(attempt: Attempt, call: RelayedCall, answer: AnswerSink, observer: CallObserver) {
    this.#attempt = attempt
    this.#call = call
    this.#answer = answer
    this.#observer = observer
  }

  /** Ends the attempt at once, with this failure, and closes its connection. */
  abort(failure: Failure): void {
    if (this.isOver) return
    clearTimeout(this.#nextTry)
    this.#abort?.(failure)
    this.#fail(failure)
  }

  /** After `onData` answered false: go on. */
  resume(): void {
    if (!this.isOver) this.#resume?.()
  }

  onConnect(abort: (error?: Error) => void): void {
    this.#abort = abort
    this.connection?.sending()
    if (this.isOver) abort()
    else this.#call.timeline.startedAt = this.#call.clock.now()
  }

  onHeaders(status: number, raw: Buffer[], resume: () => void, statusText: string): boolean {
    if (this.isOver) return true
    this.#resume = resume
    const head = readHead(status, statusText, raw)
    if (status < 200) {
      if (++this.#interimAnswers > mostInterimAnswers) this.abort(tooManyInterim())
      else this.#call.client.informational(head)
      return true
    }
    this.#progressed()
    this.#status = status
    this.#streamed = head.contentLength === null
    this.#call.timeline.answeredAt = this.#call.clock.now()
    try {
      head.headers.push(...this.#call.addedHeaders())
      this.#answer.head(head)
    } catch (error) {
      // What Node refuses to write (a header with a control character) ends the attempt, never the process.
      this.abort(asFailure(error))
      return true
    }
    this.#observer.responseStart(head)
    return true
  }

  onData(chunk: Buffer): boolean {
    if (this.isOver) return true
    this.#progressed()
    const now = this.#call.clock.now()
    if (now - this.#lastChunkAt < burstGapMs) {
      this.#inBurst++
      if (chunk.length < gatheredBytes) this.#call.client.gather()
    } else {
      this.#inBurst = 0
    }
    this.#lastChunkAt = now
    let wantsMore: boolean
    try {
      wantsMore = this.#answer.write(chunk)
    } catch (error) {
      this.abort(asFailure(error))
      return true
    }
    this.#observer.data(chunk, now)
    if (this.#inBurst < burstChunks) return wantsMore
    this.#letOthers()
    return false
  }

  onComplete(trailers: readonly (Buffer | string)[] | null): void {
    this.connection?.answered(this.#streamed)
    this.#end(trailers ?? noTrailers)
  }

  onError(error: Error): void {
    if (this.isOver) return
    if (isRefused(error) && this.#triesAgain()) return
    if (missesNoBody(error, this.#status)) this.#end(noTrailers)
    else this.#fail(this.#failureOf(error))
  }

  #progressed(): void {
    if (this.connection !== null) this.connection.hasProgressed = true
  }

  /** Nothing was sent yet, so the request may go out once the upstream is there. */
  #triesAgain(): boolean {
    const { connectRetryMs } = this.#attempt.upstream.options
    if (connectRetryMs === 0 || this.#abort !== null) return false
    const nowMs = performance.now()
    if (this.#refusedSinceMs === 0) this.#refusedSinceMs = nowMs
    const leftMs = this.#refusedSinceMs + connectRetryMs - nowMs
    if (leftMs <= 0) return false
    const sendAgain = (): void => this.#attempt.upstream.send(this.#attempt, this)
    this.#nextTry = setTimeout(sendAgain, Math.min(this.#pauseMs, leftMs))
    this.#pauseMs = Math.min(2 * this.#pauseMs, longestPauseMs)
    return true
  }

  #failureOf(error: Error): Failure {
    const failure = failureOf(error, {
      started: this.#abort !== null,
      answered: this.#status > 0,
      reusedSocket: (this.connection?.attemptsOnSocket ?? 0) > 1,
      maxHeaderBytes: this.#attempt.upstream.options.maxHeaderBytes,
    })
    if (failure.shouldRetry === true) this.connection?.died()
    return failure
  }

  /** Nothing more is taken in this turn of the event loop, which is the other calls', too. */
  #letOthers(): void {
    this.#inBurst = 0
    setImmediate(() => {
      if (!this.#call.client.isWaiting) this.resume()
    })
  }

  #end(trailers: readonly (Buffer | string)[]): void {
    if (this.isOver) return
    this.#finish()
    try {
      this.#answer.end(
        this.#call.acceptsTrailers ? trailers.map((part) => part.toString('latin1')) : noTrailers,
      )
    } catch (error) {
      this.#reject(asFailure(error))
      return
    }
    this.#observer.end(true)
    this.settled.resolve()
  }

  #fail(failure: Failure): void {
    if (this.isOver) return
    this.isOver = true
    let reason = failure
    try {
      if (this.#call.client.gone === null) this.#answer.breakOff?.()
    } catch (error) {
      reason = asFailure(error)
    }
    this.#finish()
    this.#reject(reason)
  }

  #reject(failure: Failure): void {
    this.#observer.end(false)
    this.settled.reject(failure)
  }

  #finish(): void {
    const now = this.#call.clock.now()
    this.isOver = true
    this.#call.timeline.attemptOverAt = now
    if (this.#call.client.isWaiting) this.#call.timeline.clientAloneFrom = now
    this.#call.client.source = null
  }
}

function tooManyInterim(): Failure {
  const message = `The upstream sent more than ${mostInterimAnswers} interim answers, and no answer.`
  return new Failure('upstream_protocol_error', message)
}
