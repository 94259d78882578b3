import type { RawHeaders, ResponseHead } from '../../call/call-observer.ts'
import type { Clock } from '../../call/clock.ts'
import { Failure } from '../../call/failure.ts'
import type { Admission, Caller, Permit } from '../admission/admission.ts'
import type { CallTimeline } from '../recorder/call-timeline.ts'
import type { AnswerSink, ClientAnswer } from '../http/client-answer.ts'
import { readRetryHint } from './retry-after.ts'
import { type RetriesSoFar, retryWaitMs } from './retry-wait.ts'

/** So long the rest of a 429 that nobody will see is waited for. */
const restOf429Ms = 1000

export interface Retries429Options {
  readonly clock: Clock
  readonly admission: Admission
  /** How often a call may be sent again; 0 for never. */
  readonly max: number
  /** From 0 up to 1. */
  readonly random: () => number
}

/** What trying again needs of a call. */
export interface RetriedCall {
  readonly client: AnswerSink & Pick<ClientAnswer, 'gone' | 'signal' | 'source'>
  readonly timeline: CallTimeline
  /** Whom it comes from. */
  readonly record: Caller
  /**
   * Since when it waits before its next attempt, and then for a slot; null while it does not. Meanwhile it holds none,
   * and nothing of it is at the upstream.
   */
  backsOffSince: number | null
}

/** Tries calls again that the upstream refused with 429. */
export class Retries429 {
  readonly #options: Retries429Options
  /** Attempts that were sent again. */
  total = 0

  constructor(options: Retries429Options) {
    this.#options = options
  }

  get enabled(): boolean {
    return this.#options.max > 0
  }

  /**
   * Makes attempts, each given where its answer is to go, until one is answered otherwise or a 429 is the
   * client's. While a call waits it gives its slot back, and takes one again ahead of all arrivals. Rejects as
   * the last attempt does; with the signal's reason where the client leaves during a wait, and with what
   * {@link Admission.acquire} rejects with. Whatever becomes of it, `permit` is given back.
   */
  async run(
    call: RetriedCall,
    permit: Permit | null,
    attempt: (answer: AnswerSink) => Promise<void>,
  ): Promise<void> {
    const { clock, admission } = this.#options
    const { signal } = call.client
    let held = permit
    try {
      for (let retries = 0, waitedMs = 0; ; retries++) {
        const waitMs = await this.#attempt(call, attempt, { retries, waitedMs })
        if (waitMs === null) return
        waitedMs += waitMs
        held?.release()
        call.timeline.attemptLost()
        call.backsOffSince = clock.now()
        await clock.delay(waitMs, signal)
        call.backsOffSince = clock.now()
        if (held !== null) held = await admission.acquire(signal, 'back', call.record)
        call.backsOffSince = null
        this.total += 1
      }
    } finally {
      call.backsOffSince = null
      held?.release()
    }
  }

  /** Answers how long to wait for the next one, or `null` where this was the last. */
  async #attempt(
    call: RetriedCall,
    attempt: (answer: AnswerSink) => Promise<void>,
    soFar: RetriesSoFar,
  ): Promise<number | null> {
    const { clock } = this.#options
    using timers = new DisposableStack()
    const answer = new RetriableAnswer(call.client, (head) => {
      const waitMs = this.#waitAfter(head, soFar)
      const giveUp = (): void => call.client.source?.abort(restIsLate())
      if (waitMs !== null) timers.defer(clock.after(restOf429Ms, giveUp))
      return waitMs
    })
    try {
      await attempt(answer)
    } catch (error) {
      // However a 429 breaks off, it was one.
      const isUpstreams = error instanceof Failure && error.kind.side === 'upstream'
      if (answer.waitMs === null || !isUpstreams || call.client.gone !== null) throw error
    }
    return answer.waitMs
  }

  #waitAfter({ headers }: ResponseHead, soFar: RetriesSoFar): number | null {
    const { clock, max, random } = this.#options
    return retryWaitMs(readRetryHint(headers, clock.wallTime()), soFar, max, random())
  }
}

function restIsLate(): Failure {
  return new Failure('upstream_http', 'The rest of a 429 that is tried again does not come.')
}

/** Of a 429 that nobody will see, so much is read to keep its connection, in bytes. */
const longestRead = 65_536

/**
 * The answer to a call that may be tried again: a 429 that is to be followed by another attempt is kept from the
 * client, all else goes on as it comes. Decided by the head, so that nothing is ever taken back.
 */
class RetriableAnswer implements AnswerSink {
  readonly #client: AnswerSink
  readonly #waitAfter: (head: ResponseHead) => number | null
  #unread = longestRead
  /** Milliseconds to wait before the next attempt; `null` if the client has this answer, or none came. */
  waitMs: number | null = null

  /** `waitAfter` is asked about a 429: milliseconds until the next attempt, or `null` if there will be none. */
  constructor(client: AnswerSink, waitAfter: (head: ResponseHead) => number | null) {
    this.#client = client
    this.#waitAfter = waitAfter
  }

  head(head: ResponseHead): void {
    if (head.status === 429) this.waitMs = this.#waitAfter(head)
    if (this.waitMs === null) this.#client.head(head)
  }

  /** Throws a failure of the upstream's side where the body of a 429 is longer than a connection is worth. */
  write(chunk: Uint8Array): boolean {
    if (this.waitMs === null) return this.#client.write(chunk)
    this.#unread -= chunk.length
    if (this.#unread < 0)
      throw new Failure('upstream_http', 'The rest of a 429 that is tried again is not read.')
    return true
  }

  end(trailers: RawHeaders): void {
    if (this.waitMs === null) this.#client.end(trailers)
  }
}
