import { LinkedList } from './linked-list.ts'
import type { Place } from './linked-list.ts'

/**
 * Where a call stands in the queue: an `arrival` at its end; one that comes `back` after it gave its slot
 * up for a while, ahead of all arrivals and behind those that came back before it.
 */
export type QueueOrder = 'arrival' | 'back'

interface Waiting<T> {
  readonly call: T
  readonly order: QueueOrder
}

/** A waiting call's place, to be kept for {@link SlotQueue.cancel}. */
export type Waiter<T> = Place<Waiting<T>>

/** The state and the running totals of a {@link SlotQueue}. */
export interface SlotFigures {
  readonly maxConcurrent: number
  readonly slotCooldownMs: number
  /** Calls that hold a slot. */
  readonly active: number
  /** Calls that wait for one. */
  readonly queued: number
  /** Calls that were given a slot; one that comes back for its slot counts once. */
  readonly totalAdmitted: number
  /** Calls that had to wait. */
  readonly totalQueued: number
  readonly peakActive: number
}

/**
 * Who may be in flight: a pure machine that knows neither timers nor promises. `take`, `wait`, `cancel`,
 * `release`, `setCapacity` and `setCooldown` tell it what happened; `next` says who goes.
 *
 * Calls wait first in, first out. A slot that is given back while a call waits cools before the longest
 * waiting call takes it, each slot on its own; a cooling slot is neither in use nor free for an arrival.
 * Where nobody waits nothing cools.
 *
 * All times are milliseconds of one monotonic clock. All operations take constant time, however many wait.
 */
export class SlotQueue<T> {
  #max: number
  #cooldownMs: number
  #active = 0
  #totalAdmitted = 0
  #totalQueued = 0
  #peakActive = 0
  readonly #back = new LinkedList<Waiting<T>>()
  readonly #arrivals = new LinkedList<Waiting<T>>()
  /** The instants at which the cooling slots are ready, in rising order. */
  readonly #cooling = new LinkedList<number>()

  constructor(maxConcurrent: number, cooldownMs: number) {
    this.#max = maxConcurrent
    this.#cooldownMs = cooldownMs
  }

  get active(): number {
    return this.#active
  }

  get queued(): number {
    return this.#back.size + this.#arrivals.size
  }

  get totalAdmitted(): number {
    return this.#totalAdmitted
  }

  /** No slot is free: each is in use, or cools for a call that waits. */
  get full(): boolean {
    return this.#active + this.#cooling.size >= this.#max
  }

  /** The instant at which the next cooling slot is ready, `null` where none cools. */
  get readyAtMs(): number | null {
    return this.#cooling.first?.value ?? null
  }

  /** Whose turn is next, `null` where nobody waits. */
  get longestWaiting(): T | null {
    return (this.#back.first ?? this.#arrivals.first)?.value.call ?? null
  }

  /** A call takes a free slot, unless there is none or others wait for it. */
  take(order: QueueOrder = 'arrival'): boolean {
    if (this.full || this.queued > 0) return false
    this.#admit(order)
    return true
  }

  /** A call that `take` refused joins the queue. */
  wait(call: T, order: QueueOrder = 'arrival'): Waiter<T> {
    if (order === 'back') return this.#back.push({ call, order })
    this.#totalQueued += 1
    return this.#arrivals.push({ call, order })
  }

  /** A waiting call leaves. Says whether it was still waiting. */
  cancel(waiter: Waiter<T>): boolean {
    const left = this.#arrivals.remove(waiter) || this.#back.remove(waiter)
    if (left) this.#stopCoolingIfNobodyWaits()
    return left
  }

  /** A call gives its slot back. */
  release(nowMs: number): void {
    if (this.#active === 0) throw new Error('A slot was given back that nobody holds.')
    this.#active -= 1
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
        if (this.#active >= this.#max) continue
      }
      const waiting = (this.#back.shift() ?? this.#arrivals.shift())?.value
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
    for (let left = this.#cooling.size; left > 0; left--) {
      const readyAtMs = this.#cooling.shift()?.value ?? nowMs
      this.#cooling.push(Math.min(readyAtMs, nowMs + cooldownMs))
    }
  }

  figures(): SlotFigures {
    return {
      maxConcurrent: this.#max,
      slotCooldownMs: this.#cooldownMs,
      active: this.#active,
      queued: this.queued,
      totalAdmitted: this.#totalAdmitted,
      totalQueued: this.#totalQueued,
      peakActive: this.#peakActive,
    }
  }

  #admit(order: QueueOrder): void {
    this.#active += 1
    if (this.#active > this.#peakActive) this.#peakActive = this.#active
    if (order === 'arrival') this.#totalAdmitted += 1
  }

  #stopCoolingIfNobodyWaits(): void {
    if (this.queued === 0) this.#cooling.clear()
  }
}
