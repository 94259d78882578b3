import type { ResponseHead } from '../../call/call-observer.ts'
import type { Clock } from '../../call/clock.ts'
import { Failure } from '../../call/failure.ts'
import type { Admission, Caller, Permit } from '../admission/admission.ts'
import type { CallTimeline } from '../recorder/call-timeline.ts'
import type { AnswerSink, ClientAnswer } from '../http/client-answer.ts'
import { readRetryHint } from './retry-after.ts'
import { type RetriesSoFar, retryWaitMs } from './retry-wait.ts'
import { WithheldAnswer } from './withheld-answer.ts'

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
   * Makes attempts, each given where its answer is to go, until one is answered otherwise or a 429 is to be the
   * client's: that answer goes on to `to`. While a call waits it gives its slot back. It takes one again behind the calls that have
   * waited longer than its attempt was at the upstream. Rejects as
   * the last attempt does; with the signal's reason where the client leaves during a wait, and with what
   * {@link Admission.acquire} rejects with. Whatever becomes of it, `permit` is given back.
   */
  async run(
    call: RetriedCall,
    permit: Permit | null,
    attempt: (answer: AnswerSink) => Promise<void>,
    to: AnswerSink = call.client,
  ): Promise<void> {
    const { clock, admission } = this.#options
    const { signal } = call.client
    let held = permit
    try {
      for (let retries = 0, waitedMs = 0; ; retries++) {
        const sentMs = clock.now()
        const waitMs = await this.#attempt(call, attempt, to, { retries, waitedMs })
        if (waitMs === null) return
        const atUpstreamMs = clock.now() - sentMs
        waitedMs += waitMs
        held?.release()
        call.timeline.attemptLost()
        call.backsOffSince = clock.now()
        await clock.delay(waitMs, signal)
        call.backsOffSince = clock.now()
        if (held !== null) held = await admission.acquire(signal, 'back', call.record, atUpstreamMs)
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
    to: AnswerSink,
    soFar: RetriesSoFar,
  ): Promise<number | null> {
    const { clock } = this.#options
    let waitMs: number | null = null
    using answer = new WithheldAnswer({ client: call.client, clock }, to, (head) => {
      if (head.status === 429) waitMs = this.#waitAfter(head, soFar)
      return waitMs !== null
    })
    try {
      await attempt(answer)
    } catch (error) {
      // However a 429 breaks off, it was one.
      const isUpstreams = error instanceof Failure && error.kind.side === 'upstream'
      if (!answer.isWithheld || !isUpstreams || call.client.gone !== null) throw error
    }
    return waitMs
  }

  #waitAfter({ headers }: ResponseHead, soFar: RetriesSoFar): number | null {
    const { clock, max, random } = this.#options
    return retryWaitMs(readRetryHint(headers, clock.wallTime()), soFar, max, random())
  }
}
