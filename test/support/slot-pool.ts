import type { SlotAnswer, SlotSync } from '../../src/gateway/admission/slot-holder-protocol.ts'

interface Holder {
  readonly joinCount: number
  grantedTotal: number
  returnedTotal: number
  /** Since when its oldest calls wait, by the pool's clock. */
  waiting: readonly number[]
  leaseEndsMs: number
  /** What it was told last. */
  lastSent: Pick<SlotAnswer & { known: true }, 'grantedTotal' | 'contended'> | null
}

export interface SlotPoolOptions {
  readonly max: number
  /** So long after its last message a holder's slots are its own. */
  readonly leaseMs: number
  /** Of this state: another one whenever what was known may be lost. */
  readonly poolId: string
  /** Who may hold slots of a former state: until all of them have joined, or a lease is over, nobody gets more. */
  readonly expected?: Iterable<string>
  /** By the pool's own clock, the only one that counts here. */
  readonly nowMs: number
}

/**
 * The slots that several gateways share, and who holds them: what the functions in the database do, as a pure machine. A holder has `grantedTotal − returnedTotal` slots, and
 * uses no more. Counters only grow between two joins, so that no message that is late, lost or repeated gives a slot twice; what
 * belongs to another join or another state of the pool counts for nothing.
 */
export class SlotPool {
  readonly poolId: string
  readonly #leaseMs: number
  #max: number
  readonly #holders = new Map<string, Holder>()
  /** The last join of holders that are gone: a message of that time that is still on its way does not bring it back. */
  readonly #ended = new Map<string, number>()
  readonly #expected: Set<string>
  readonly #expectedUntilMs: number

  constructor({ max, leaseMs, poolId, expected = [], nowMs }: SlotPoolOptions) {
    this.#max = max
    this.#leaseMs = leaseMs
    this.poolId = poolId
    this.#expected = new Set(expected)
    this.#expectedUntilMs = nowMs + leaseMs
  }

  /** Slots that are held, whether used or not. */
  get held(): number {
    let held = 0
    for (const { grantedTotal, returnedTotal } of this.#holders.values()) held += grantedTotal - returnedTotal
    return held
  }

  /** Nobody gets more: it is not known yet what is held. */
  isLearning(nowMs: number): boolean {
    return this.#expected.size > 0 && nowMs < this.#expectedUntilMs
  }

  /** Takes a message, and grants what is free. */
  sync(message: SlotSync, nowMs: number): SlotAnswer {
    this.endLeases(nowMs)
    const holder = this.#take(message, nowMs)
    if (holder === null) return { known: false, poolId: this.poolId }
    this.#grant(nowMs)
    const answer = this.#answer(message.holder, holder, nowMs)
    holder.lastSent = answer
    return answer
  }

  /** It may hold slots, and has not joined: until it has, nobody gets more. */
  expect(holder: string): void {
    if (!this.#holders.has(holder)) this.#expected.add(holder)
  }

  /** It has ended, or is known to be dead: its slots are free at once. */
  leave(holder: string, nowMs: number): void {
    this.#end(holder)
    this.#grant(nowMs)
  }

  setMax(max: number, nowMs: number): void {
    this.#max = max
    this.#grant(nowMs)
  }

  /** Who has not been heard of for a lease holds nothing any more. */
  endLeases(nowMs: number): void {
    for (const [name, { leaseEndsMs }] of this.#holders) if (leaseEndsMs <= nowMs) this.#end(name)
    this.#grant(nowMs)
  }

  /** Those for whom something is so that they have not been told: each is to be woken once, so that it asks. */
  news(): readonly string[] {
    const names: string[] = []
    for (const [name, holder] of this.#holders) {
      const { grantedTotal, contended } = this.#answer(name, holder, 0)
      const { lastSent } = holder
      if (lastSent?.grantedTotal === grantedTotal && lastSent.contended === contended) continue
      holder.lastSent = { grantedTotal, contended }
      names.push(name)
    }
    return names
  }

  knows(holder: string): boolean {
    return this.#holders.has(holder)
  }

  #end(holder: string): void {
    const joinCount = this.#holders.get(holder)?.joinCount
    this.#expected.delete(holder)
    if (joinCount === undefined) return
    this.#ended.set(holder, joinCount)
    this.#holders.delete(holder)
  }

  #take(
    { holder: name, poolId, joinCount, usedAtJoin, returnedTotal, grantedTotal, ages }: SlotSync,
    nowMs: number,
  ): Holder | null {
    if (poolId !== this.poolId) return null
    let holder = this.#holders.get(name)
    if (holder?.joinCount !== joinCount) {
      if (joinCount <= (holder?.joinCount ?? this.#ended.get(name) ?? 0)) return null
      holder = {
        joinCount,
        grantedTotal: usedAtJoin,
        returnedTotal: 0,
        waiting: [],
        leaseEndsMs: 0,
        lastSent: null,
      }
      this.#holders.set(name, holder)
      this.#expected.delete(name)
    }
    holder.returnedTotal = Math.max(holder.returnedTotal, returnedTotal)
    // Slots on their way to it are for those that have waited the longest.
    holder.waiting = ages.slice(holder.grantedTotal - grantedTotal).map((age) => nowMs - age)
    holder.leaseEndsMs = nowMs + this.#leaseMs
    return holder
  }

  /** Each free slot goes to the call that has waited the longest. */
  #grant(nowMs: number): void {
    if (this.isLearning(nowMs)) return
    for (let free = this.#max - this.held; free > 0; free--) {
      let next: Holder | null = null
      for (const holder of this.#holders.values()) {
        const [since = Infinity] = holder.waiting
        if (since < (next?.waiting[0] ?? Infinity)) next = holder
      }
      if (next === null) return
      next.grantedTotal++
      next.waiting = next.waiting.slice(1)
    }
  }

  #answer(name: string, { grantedTotal }: Holder, nowMs: number): SlotAnswer & { readonly known: true } {
    let oldest = Infinity
    for (const [other, { waiting }] of this.#holders)
      if (other !== name) oldest = Math.min(oldest, waiting[0] ?? Infinity)
    const isOver = this.held > this.#max
    const isWanted = oldest < Infinity
    return {
      known: true,
      grantedTotal,
      contended: isOver || isWanted,
      elsewhereMs: isOver || !isWanted ? null : Math.max(0, nowMs - oldest),
    }
  }
}
