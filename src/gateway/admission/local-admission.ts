import type { Clock } from '../../call/clock.ts'
import { Failure } from '../../call/failure.ts'
import {
  type Admission,
  type Permit,
  type QueueOrder,
  type SlotFigures,
  drainRetryAfterS,
} from './admission.ts'
import { DrainRate } from './drain-rate.ts'
import { MinuteFigures } from './minute-figures.ts'
import type { MinuteCounts } from './minute-figures.ts'
import { SlotQueue } from './slot-queue.ts'

export interface AdmissionOptions {
  readonly clock: Clock
  readonly maxConcurrent: number
  /** How long a slot that is given back while calls wait stays empty. */
  readonly slotCooldownMs: number
  /** How many calls may wait. */
  readonly queueLimit: number
  /** How long a call may wait; 0 for as long as it likes. */
  readonly queueTimeoutMs: number
}

/** Why nobody is admitted for now, though slots may be free. */
export interface AdmissionHold {
  /** How long a call waits for its end. */
  readonly limitMs: number
  /** What it is refused with then. */
  readonly refusal: () => Failure
}

/** A waiting call, and how to end its wait. */
interface Wait {
  readonly signal: AbortSignal
  readonly admit: () => void
  readonly refuse: (reason: unknown) => void
}

/**
 * Lets at most `maxConcurrent` calls be in flight and keeps the others waiting in order: the rules are
 * {@link SlotQueue}'s, the timers and promises are here.
 */
export class LocalAdmission implements Admission {
  readonly #clock: Clock
  readonly #options: AdmissionOptions
  readonly #queue: SlotQueue<Wait>
  readonly #drainRate = new DrainRate()
  readonly #minute: MinuteFigures
  #maxConcurrent: number
  #lent = 0
  #hold: AdmissionHold | null = null
  #watcher: (() => void) | null = null
  #draining: Failure | null = null
  #timerAtMs: number | null = null
  #cancelTimer: (() => void) | null = null

  constructor(options: AdmissionOptions) {
    this.#clock = options.clock
    this.#options = options
    this.#maxConcurrent = options.maxConcurrent
    this.#queue = new SlotQueue(options.maxConcurrent, options.slotCooldownMs)
    this.#minute = new MinuteFigures(() => this.#clock.now())
  }

  tryAcquire(order: QueueOrder = 'arrival'): Permit | null {
    if (this.#draining !== null || !this.#queue.take(order)) return null
    this.#noteChange()
    return this.#permit()
  }

  async acquire(signal: AbortSignal, order: QueueOrder = 'arrival'): Promise<Permit> {
    signal.throwIfAborted()
    if (this.#draining !== null) throw this.#draining
    const permit = this.tryAcquire(order)
    if (permit !== null) return permit
    // One of the lent slots may be on its way to this call, which is then no reason to refuse it.
    const queueLimit = this.#options.queueLimit + this.#lent
    if (order === 'arrival' && this.#queue.queued >= queueLimit) throw this.#refusal('queue_full')
    return this.#wait(signal, order)
  }

  drain(): void {
    if (this.#draining !== null) return
    this.#draining = new Failure('draining', 'The gateway is stopping and takes no more calls.', {
      retryAfterS: drainRetryAfterS,
    })
    for (const wait of this.#queue.waiting) wait.refuse(this.#draining)
  }

  /** Changes the number of slots. More let waiting calls in now; fewer never interrupt a call. */
  setCapacity(maxConcurrent: number): void {
    this.#maxConcurrent = maxConcurrent
    this.#applyCapacity()
  }

  /** So many of the slots are another gateway's to use. */
  lend(slots: number): void {
    if (slots === this.#lent) return
    this.#lent = slots
    this.#applyCapacity()
  }

  /** All who come wait, until the hold is lifted again with `null`. */
  hold(hold: AdmissionHold | null): void {
    this.#hold = hold
    this.#applyCapacity()
  }

  /** Calls back whenever the number of calls that are in flight, or wait, may have changed. */
  watch(watcher: (() => void) | null): void {
    this.#watcher = watcher
  }

  /** Changes the pause before a freed slot is given on; a shorter one also ends the pauses under way sooner. */
  setCooldown(slotCooldownMs: number): void {
    this.#queue.setCooldown(slotCooldownMs, this.#clock.now())
    this.#admitNext()
  }

  snapshot(): SlotFigures {
    return { ...this.#queue.figures(), maxConcurrent: this.#maxConcurrent }
  }

  waiting(): readonly AbortSignal[] {
    return this.#queue.waiting.map(({ signal }) => signal)
  }

  /** What happened since a minute was last closed; `closes` it, so that from here on is counted anew. */
  minute(closes: boolean): MinuteCounts {
    return this.#minute.counts(this.#queue.totalAdmitted, closes)
  }

  /** For a slot that was just taken. */
  #permit(): Permit {
    let isHeld = true
    const release = (): void => {
      if (!isHeld) return
      isHeld = false
      this.#queue.release(this.#clock.now())
      this.#admitNext()
    }
    return { release, [Symbol.dispose]: release }
  }

  #wait(signal: AbortSignal, order: QueueOrder): Promise<Permit> {
    return new Promise((resolve, reject) => {
      if (this.#queue.queued === 0) this.#drainRate.started(this.#clock.now())
      const timers: (() => void)[] = []
      const leave = (): void => {
        signal.removeEventListener('abort', onAbort)
        for (const cancel of timers) cancel()
      }
      const wait: Wait = {
        signal,
        admit: () => {
          leave()
          resolve(this.#permit())
        },
        refuse: (reason) => {
          this.#queue.cancel(waiter)
          leave()
          this.#noteChange()
          this.#arm()
          // eslint-disable-next-line typescript/prefer-promise-reject-errors -- an abort's reason is whatever was given
          reject(reason)
        },
      }
      const onAbort = (): void => wait.refuse(signal.reason)
      const waiter = this.#queue.wait(wait, order)
      signal.addEventListener('abort', onAbort)
      if (this.#options.queueTimeoutMs > 0) {
        const tooLate = (): void => wait.refuse(this.#refusal('queue_timeout'))
        timers.push(this.#clock.after(this.#options.queueTimeoutMs, tooLate))
      }
      const hold = this.#hold
      if (hold !== null) {
        const stillHeld = (): void => {
          if (this.#hold !== null) wait.refuse(hold.refusal())
        }
        timers.push(this.#clock.after(hold.limitMs, stillHeld))
      }
      this.#noteChange()
    })
  }

  #admitNext(): void {
    if (this.#queue.queued > 0) {
      const nowMs = this.#clock.now()
      for (let wait = this.#queue.next(nowMs); wait !== null; wait = this.#queue.next(nowMs)) {
        this.#drainRate.took(nowMs)
        wait.admit()
      }
    }
    this.#noteChange()
    this.#arm()
  }

  #applyCapacity(): void {
    const own = Math.max(0, this.#maxConcurrent - this.#lent)
    this.#queue.setCapacity(this.#hold === null ? own : 0)
    this.#admitNext()
  }

  #noteChange(): void {
    this.#minute.changed(this.#queue.active, this.#queue.queued, this.#queue.full)
    this.#watcher?.()
  }

  /** One timer serves all cooling slots: they are ready in the order in which they were given back. */
  #arm(): void {
    const readyAtMs = this.#queue.readyAtMs
    if (readyAtMs === this.#timerAtMs) return
    this.#cancelTimer?.()
    this.#cancelTimer = null
    this.#timerAtMs = readyAtMs
    if (readyAtMs === null) return
    this.#cancelTimer = this.#clock.after(Math.ceil(readyAtMs - this.#clock.now()), () => {
      // Also where the timer came a fraction too early: then it is armed again for the rest.
      this.#timerAtMs = null
      this.#admitNext()
    })
  }

  /** Tells to come back when those who wait now will have been served, as fast as the queue has moved so far. */
  #refusal(code: 'queue_full' | 'queue_timeout'): Failure {
    const { queued } = this.#queue
    const message =
      code === 'queue_full'
        ? `The queue is full: ${queued} calls wait for one of ${this.#maxConcurrent} slots.`
        : `No slot became free for this call within ${this.#options.queueTimeoutMs} ms.`
    const retryAfterS = this.#drainRate.retryAfterS(queued, this.#clock.now())
    return new Failure(code, message, { retryAfterS })
  }
}
