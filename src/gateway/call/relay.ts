import { backoffMs } from '../../lib/backoff.ts'
import { Failure } from '../../call/failure.ts'
import type { AnswerSink, ResumableAttempt } from '../http/client-response.ts'
import type { CallMeter } from '../meter/call-meter.ts'
import { failureOf, isRefused, isBodylessMismatch } from '../upstream/undici-failure.ts'
import type { Transport, TransportAttempt, TransportRequest } from '../upstream/transport.ts'
import { type AnswerHead, type Connection, readHead } from '../upstream/undici-transport.ts'
import { proxyFailure } from '../upstream/upstream-proxy.ts'
import { asFailure } from '../http/own-answers.ts'
import type { Attempts } from './attempts.ts'
import type { RunningCall } from './running-call.ts'

/** Chunks with a shorter gap (ms) came in one read, or in a burst of reads. */
const burstGapMs = 0.1
/** Chunks of a burst up to this size are gathered into one write. */
const gatheredBytes = 4096
/** Most chunks of a burst that are relayed (in 1 to 2 ms) before other calls get their turn. */
const burstChunks = 1024

/** Pauses between two tries to connect to an upstream that refuses connections. */
const connectPause = { firstMs: 50, longestMs: 1000 } as const

/** Most interim responses (1xx) before a response. */
const mostInterimAnswers = 100

const noTrailers: readonly never[] = []

/** A withheld answer is read up to these limits (bytes, milliseconds), so that its connection can be reused. */
const longestUnseen = 65_536
const longestUnseenMs = 1000

/**
 * The result of an attempt. `passed`: the client has the complete answer. `withheld`: the answer is complete,
 * and the client does not get it. A failure has ended the attempt, also if the client has left.
 */
export type RelayEnd = 'passed' | 'withheld' | Failure

/** The attempts of the call, which decide whether another one follows. */
type FollowUp = Pick<Attempts, 'withholds' | 'isFinal'>

/**
 * Makes one attempt, and copies its answer to `answer` as it arrives, and to the meter. An answer's head
 * decides whether the answer is withheld until it is complete, so that the client never gets part of a
 * withheld one. Never rejects.
 */
export function relay(
  call: RunningCall,
  request: TransportRequest,
  transport: Transport,
  answer: AnswerSink,
  followUp: FollowUp,
): Promise<RelayEnd> {
  if (call.client.over !== null) return Promise.resolve(call.client.over)
  const now = call.clock.now()
  call.timeline.attempt(now)
  const relayed = new RelayedAttempt(call, request, transport, answer, followUp, now)
  call.client.source = relayed
  transport.send(request, relayed)
  return relayed.settled.promise
}

/** An attempt between undici, which calls its `on…` methods, and the client, the meter and the timeline. */
class RelayedAttempt implements TransportAttempt, ResumableAttempt {
  readonly #call: RunningCall
  readonly #request: TransportRequest
  readonly #transport: Transport
  readonly #answer: AnswerSink
  readonly #followUp: FollowUp
  readonly #meter: CallMeter
  readonly settled = Promise.withResolvers<RelayEnd>()
  isOver = false
  connection: Connection | null = null
  /** undici's function that aborts; `null` until the request is sent. */
  #abort: ((error?: Error) => void) | null = null
  #resume: (() => void) | null = null
  /** Status of the answer; 0 before it. */
  #status = 0
  /** Interim responses (1xx) so far. */
  #interimAnswers = 0
  #streamed = false
  #lastChunkAt = 0
  #inBurst = 0
  /** When the upstream began to refuse connections (monotonic ms); 0 if it does not. */
  #refusedSinceMs = 0
  #refusals = 0
  /** Fires at the next try to connect, or when a withheld answer is dropped. */
  #timer: NodeJS.Timeout | undefined
  /** A withheld answer; null while the client gets the answer. */
  #unseen: { readonly head: AnswerHead; readonly chunks: Buffer[]; bytes: number } | null = null

  constructor(
    call: RunningCall,
    request: TransportRequest,
    transport: Transport,
    answer: AnswerSink,
    followUp: FollowUp,
    nowMs: number,
  ) {
    this.#call = call
    this.#request = request
    this.#transport = transport
    this.#answer = answer
    this.#followUp = followUp
    this.#meter = call.newMeter(nowMs)
  }

  /** Ends the attempt at once, with this failure, and closes its connection. */
  abort(failure: Failure): void {
    if (this.isOver) return
    clearTimeout(this.#timer)
    this.#abort?.(failure)
    this.#fail(failure)
  }

  /** Continues after `onData` returned false. */
  resume(): void {
    if (!this.isOver) this.#resume?.()
  }

  onConnect(abort: (error?: Error) => void): void {
    this.#abort = abort
    this.connection?.sending()
    if (this.isOver) abort()
    else {
      const { clock, timeline, stake } = this.#call
      timeline.startedAt = clock.now()
      stake?.sent(timeline.startedAt)
    }
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
    const { answeringProxy } = this.#transport
    // A 407 is the proxy's (RFC 9110 §15.5.8). The client would think that its key was refused.
    if (status === 407 && answeringProxy !== null) {
      this.abort(proxyFailure(answeringProxy, `it answered 407 ${statusText}`.trimEnd()))
      return true
    }
    if (head.isTransferCoded && this.#call.arrived.req.httpVersionMinor === 0) {
      this.abort(
        new Failure('upstream_protocol_error', 'The answer has a transfer coding, which HTTP/1.0 lacks.'),
      )
      return true
    }
    this.#progressed()
    this.#status = status
    this.#streamed = head.contentLength === null
    this.#call.answered(head)
    try {
      if (this.#followUp.withholds(head)) this.#withhold(head)
      else this.#sendHead(head)
    } catch (error) {
      // Node throws for a header with a control character, which ends the attempt, not the process.
      this.abort(asFailure(error))
      return true
    }
    this.#meter.responseStart(head)
    return true
  }

  #sendHead(head: AnswerHead): void {
    head.headers.push(...this.#call.addedHeaders())
    this.#answer.head(head)
  }

  #withhold(head: AnswerHead): void {
    this.#unseen = { head, chunks: [], bytes: 0 }
    this.#timer = setTimeout(() => this.abort(unseen('does not come')), longestUnseenMs)
  }

  onData(chunk: Buffer): boolean {
    if (this.isOver) return true
    this.#progressed()
    if (this.#unseen !== null) {
      this.#unseen.bytes += chunk.length
      if (this.#unseen.bytes > longestUnseen) this.abort(unseen('is not read'))
      else this.#unseen.chunks.push(Buffer.from(chunk))
      return true
    }
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
    this.#meter.data(chunk, now)
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
    if (isBodylessMismatch(error, this.#status)) this.#end(noTrailers)
    else this.#fail(this.#failureOf(error))
  }

  #progressed(): void {
    if (this.connection !== null) this.connection.hasProgressed = true
  }

  /** True if the connection will be tried again. Nothing was sent yet, so that is safe. */
  #triesAgain(): boolean {
    const { connectRetryMs } = this.#transport.options
    if (connectRetryMs === 0 || this.#abort !== null) return false
    const nowMs = performance.now()
    if (this.#refusedSinceMs === 0) this.#refusedSinceMs = nowMs
    const leftMs = this.#refusedSinceMs + connectRetryMs - nowMs
    if (leftMs <= 0) return false
    const sendAgain = (): void => this.#transport.send(this.#request, this)
    this.#timer = setTimeout(sendAgain, Math.min(backoffMs(connectPause, ++this.#refusals), leftMs))
    return true
  }

  #failureOf(error: Error): Failure {
    const failure = failureOf(error, {
      started: this.#abort !== null,
      answered: this.#status > 0,
      reusedSocket: (this.connection?.attemptsOnSocket ?? 0) > 1,
      maxHeaderBytes: this.#transport.options.maxHeaderBytes,
    })
    if (failure.shouldRetry === true) this.connection?.died()
    return failure
  }

  /** Pauses this attempt until the next turn of the event loop, so that other calls get theirs. */
  #letOthers(): void {
    this.#inBurst = 0
    setImmediate(() => {
      if (!this.#call.client.isWaiting) this.resume()
    })
  }

  #end(trailers: readonly (Buffer | string)[]): void {
    if (this.isOver) return
    this.#finish()
    const { acceptsTrailers } = this.#call.arrived.head
    try {
      this.#showIfFinal()
      if (this.#unseen === null)
        this.#answer.end(acceptsTrailers ? trailers.map((part) => part.toString('latin1')) : noTrailers)
    } catch (error) {
      this.#endWith(asFailure(error))
      return
    }
    this.#meter.end(true)
    this.settled.resolve(this.#unseen === null ? 'passed' : 'withheld')
  }

  /** Passes a withheld answer to the client if no other attempt follows after all. */
  #showIfFinal(): void {
    if (this.#unseen === null) return
    const { head, chunks } = this.#unseen
    const body = Buffer.concat(chunks)
    if (!this.#followUp.isFinal(head, body)) return
    this.#unseen = null
    this.#sendHead(head)
    if (body.length === 0) return
    this.#answer.write(body)
    this.#meter.data(body, this.#call.clock.now())
  }

  #fail(failure: Failure): void {
    if (this.isOver) return
    this.isOver = true
    let reason = failure
    try {
      if (this.#call.client.gone === null && this.#unseen === null) this.#answer.breakOff?.()
    } catch (error) {
      reason = asFailure(error)
    }
    this.#finish()
    this.#endWith(reason)
  }

  #endWith(failure: Failure): void {
    this.#meter.end(false)
    // A withheld answer that breaks off still leads to another attempt, because its head has decided that.
    const isLost = this.#unseen !== null && failure.kind.side === 'upstream'
    this.settled.resolve(isLost && this.#call.client.over === null ? 'withheld' : failure)
  }

  #finish(): void {
    clearTimeout(this.#timer)
    const now = this.#call.clock.now()
    this.isOver = true
    this.#call.timeline.attemptOverAt = now
    if (this.#call.client.isWaiting) this.#call.timeline.clientAloneFrom = now
    this.#call.client.source = null
  }
}

function unseen(what: string): Failure {
  return new Failure('upstream_http', `The rest of an answer that another attempt follows ${what}.`)
}

function tooManyInterim(): Failure {
  const message = `The upstream sent more than ${mostInterimAnswers} interim answers, and no answer.`
  return new Failure('upstream_protocol_error', message)
}
