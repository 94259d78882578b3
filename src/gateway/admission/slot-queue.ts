import type { QueueOrder, SlotFigures } from './admission.ts'

/** A waiting call, to be kept for {@link SlotQueue.cancel}. */
export interface Waiter<T> {
  readonly call: T
  readonly order: QueueOrder
}

/**
 * Who may be in flight: a pure machine that knows neither timers nor promises. `take`, `wait`, `cancel`,
 * `release`, `setCapacity` and `setCooldown` tell it what happened; `next` says who goes.
 *
 * Calls wait first in, first out. A slot that is given back while a call waits cools before the longest
 * waiting call takes it, each slot on its own; a cooling slot is neither in use nor free for an arrival.
 * When nobody waits nothing cools.
 *
 * All times are milliseconds of one monotonic clock. However many wait, all operations but
 * `setCooldown` take constant time.
 */
export class SlotQueue<T> {
  #max: number
  #cooldownMs: number
  /** Calls that hold a slot. Set here alone, as is the next. */
  active = 0
  totalAdmitted = 0
  #totalQueued = 0
  #peakActive = 0
  readonly #back = new WaitingLine<Waiter<T>>()
  readonly #arrivals = new WaitingLine<Waiter<T>>()
  /** The instants at which the cooling slots are ready, in rising order. */
  #cooling: number[] = []

  constructor(maxConcurrent: number, cooldownMs: number) {
    this.#max = maxConcurrent
    this.#cooldownMs = cooldownMs
  }

  get queued(): number {
    return this.#back.size + this.#arrivals.size
  }

  /** No slot is free: each is in use, or cools for a call that waits. */
  get full(): boolean {
    return this.active + this.#cooling.length >= this.#max
  }

  /** The instant at which the next cooling slot is ready, `null` where none cools. */
  get readyAtMs(): number | null {
    return this.#cooling[0] ?? null
  }

  /** All that wait, those whose turn is next first. */
  get waiting(): readonly T[] {
    return [...this.#back, ...this.#arrivals].map(({ call }) => call)
  }

  /** A call takes a free slot, unless there is none or others wait for it. */
  take(order: QueueOrder = 'arrival'): boolean {
    if (this.full || this.queued > 0) return false
    this.#admit(order)
    return true
  }

  /** A call that `take` refused joins the queue. */
  wait(call: T, order: QueueOrder = 'arrival'): Waiter<T> {
    const waiter = { call, order }
    if (order === 'back') this.#back.push(waiter)
    else {
      this.#totalQueued += 1
      this.#arrivals.push(waiter)
    }
    return waiter
  }

  /** A waiting call leaves. Says whether it was still waiting. */
  cancel(waiter: Waiter<T>): boolean {
    const left = this.#arrivals.delete(waiter) || this.#back.delete(waiter)
    if (left) this.#stopCoolingIfNobodyWaits()
    return left
  }

  /** A call gives its slot back. */
  release(nowMs: number): void {
    if (this.active === 0) throw new Error('A slot was given back that nobody holds.')
    this.active -= 1
    // With a lowered capacity the slot does not come back at all.
    if (this.queued > 0 && !this.full) this.#cooling.push(nowMs + this.#cooldownMs)
  }

  /** The longest waiting call, if a slot is ready for it, which it then holds. Ask until it says `null`. */
  next(nowMs: number): T | null {
    while (this.queued > 0) {
      if (this.full) {
        const readyAtMs = this.readyAtMs
        if (readyAtMs === null || readyAtMs > nowMs) return null
        this.#cooling.shift()
        // A lowered capacity may have left more cooling slots than there are places.
        if (this.active >= this.#max) continue
      }
      const waiting = this.#back.shift() ?? this.#arrivals.shift()
      if (waiting === undefined) return null
      this.#admit(waiting.order)
      this.#stopCoolingIfNobodyWaits()
      return waiting.call
    }
    return null
  }

  /**
   * More slots are free at once; of fewer, those in use stay so until they are given back. 0 lets nobody in.
   */
  setCapacity(maxConcurrent: number): void {
    this.#max = maxConcurrent
  }

  /** Slots that cool already are ready when they were to be, or after the new time from now on if that is sooner. */
  setCooldown(cooldownMs: number, nowMs: number): void {
    this.#cooldownMs = cooldownMs
    this.#cooling = this.#cooling.map((readyAtMs) => Math.min(readyAtMs, nowMs + cooldownMs))
  }

  figures(): SlotFigures {
    return {
      maxConcurrent: this.#max,
      slotCooldownMs: this.#cooldownMs,
      active: this.active,
      queued: this.queued,
      totalAdmitted: this.totalAdmitted,
      totalQueued: this.#totalQueued,
      peakActive: this.#peakActive,
    }
  }

  #admit(order: QueueOrder): void {
    this.active += 1
    if (this.active > this.#peakActive) this.#peakActive = this.active
    if (order === 'arrival') this.totalAdmitted += 1
  }

  #stopCoolingIfNobodyWaits(): void {
    if (this.queued === 0) this.#cooling.length = 0
  }
}

/** First in, first out, with removal from anywhere. */
class WaitingLine<T extends object> extends Set<T> {
  #next: SetIterator<T> = this.values()

  push(one: T): void {
    this.add(one)
  }

  /**
   * An iterator of its own goes on with what is added later, and passes over what has left: to begin anew would be
   * to walk over the holes that all who went before have left in the set.
   */
  shift(): T | undefined {
    if (this.size === 0) return undefined
    let { value } = this.#next.next()
    if (value === undefined) {
      // Once at its end, an iterator stays there.
      this.#next = this.values()
      value = this.#next.next().value
    }
    if (value !== undefined) this.delete(value)
    return value
  }
}
