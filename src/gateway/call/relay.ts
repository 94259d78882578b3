import type { CallObserver, RawHeaders, ResponseHead } from '../../call/call-observer.ts'
import type { Clock } from '../../call/clock.ts'
import type { Failure } from '../../call/failure.ts'
import type { CallTimeline } from '../recorder/call-timeline.ts'
import type { AnswerSink, ClientAnswer } from '../http/client-answer.ts'
import type { AnswerReceiver, Exchange, Upstream, UpstreamRequest } from '../upstream/upstream.ts'
import { asFailure } from '../http/error-answer.ts'

/** Chunks that follow each other more quickly came in one read, or in a flood of them. */
const burstGapMs = 0.1
/** Larger chunks of a burst are worth a write each. */
const gatheredBytes = 4096
/** So many chunks of a burst are relayed, in a millisecond or two, before other calls have their turn. */
const burstChunks = 1024

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
 * One attempt: dispatches the request and copies the answer to the client as it comes, past the observer.
 * Resolves when the answer is complete; rejects with the `Failure` that ended it, also when the client leaves.
 */
export function relay(
  upstream: Upstream,
  request: UpstreamRequest,
  call: RelayedCall,
  answer: AnswerSink = call.client,
): Promise<void> {
  if (call.client.gone !== null) return Promise.reject(call.client.gone)
  const now = call.clock.now()
  call.timeline.attempt(now)
  const attempt = new RelayedAttempt(call, answer, call.observe(now))
  attempt.follow(upstream.dispatch(request, attempt))
  return attempt.settled.promise
}

class RelayedAttempt implements AnswerReceiver {
  readonly #call: RelayedCall
  readonly #answer: AnswerSink
  readonly #observer: CallObserver
  readonly settled = Promise.withResolvers<void>()
  #exchange: Exchange | null = null
  #isOver = false
  #lastChunkAt = 0
  #inBurst = 0

  constructor(call: RelayedCall, answer: AnswerSink, observer: CallObserver) {
    this.#call = call
    this.#answer = answer
    this.#observer = observer
  }

  follow(exchange: Exchange): void {
    this.#exchange = exchange
    if (!this.#isOver) this.#call.client.source = exchange
  }

  started(): void {
    this.#call.timeline.startedAt = this.#call.clock.now()
  }

  informational(head: ResponseHead): void {
    this.#call.client.informational(head)
  }

  head(head: ResponseHead): void {
    this.#call.timeline.answeredAt = this.#call.clock.now()
    try {
      this.#answer.head({ ...head, headers: head.headers.concat(this.#call.addedHeaders()) })
    } catch (error) {
      this.#breakOff(error)
      return
    }
    this.#observer.responseStart(head)
  }

  data(chunk: Uint8Array): boolean {
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
      this.#breakOff(error)
      return true
    }
    this.#observer.data(chunk, now)
    if (this.#inBurst < burstChunks) return wantsMore
    this.#letOthers()
    return false
  }

  /** Nothing more is taken in this turn of the event loop, which is the other calls', too. */
  #letOthers(): void {
    this.#inBurst = 0
    setImmediate(() => {
      if (!this.#call.client.isWaiting) this.#exchange?.resume()
    })
  }

  end(trailers: RawHeaders): void {
    this.#finish()
    try {
      this.#answer.end(this.#call.acceptsTrailers ? trailers : [])
    } catch (error) {
      this.#reject(asFailure(error))
      return
    }
    this.#observer.end(true)
    this.settled.resolve()
  }

  failed(failure: Failure): void {
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
    this.#isOver = true
    this.#call.timeline.attemptOverAt = now
    if (this.#call.client.isWaiting) this.#call.timeline.clientAloneFrom = now
    this.#call.client.source = null
  }

  /** What Node refuses to write (a header with a control character) ends the attempt, never the process. */
  #breakOff(error: unknown): void {
    const failure = asFailure(error)
    if (this.#exchange === null) this.failed(failure)
    else this.#exchange.abort(failure)
  }
}
