import { getOrAdd } from '../../lib/get-or-add.ts'
import { type Owner, entryOf, ownerOfCaller, ownerOfEntry } from './owner.ts'
import {
  type SubQueue,
  type QueueHead,
  type Queuer,
  type Waiter,
  byAge,
  inOrder,
  subQueueOf,
  mayGo,
  newQueuer,
  oldest,
  room,
  sizeOf,
} from './sub-queue.ts'
import { SlotTally } from './slot-minute.ts'
import { WaitingLine, compareAge } from './waiting-line.ts'
import {
  type Caller,
  type MinuteStake,
  type QueueDiscipline,
  type QueueOrder,
  unknownCaller,
} from './admission.ts'

/**
 * Decides which calls may be in flight: a pure machine without timers and promises. The caller reports events, and
 * `next` returns the call to admit.
 * - `fifo` serves the oldest call. `fair` serves one call of each client in rotation (deficit round robin,
 *   Shreedhar and Varghese, 1995).
 * - A call that comes back after a 429 goes before all calls that have waited less.
 * - A call whose client is at its limit keeps its place, and later calls pass it.
 * - A call that waits for a limit a minute is passed only by calls that do not need that limit.
 * - A freed slot cools before the next waiting call takes it. If no waiting call may go, nothing cools.
 * Times are milliseconds of one monotonic clock. All operations but `setCooldown` and `arrange` take constant time.
 * But `next` checks each waiting client with a limit (`fifo`), and the first call of each sub-queue while calls
 * wait for limits a minute.
 */
export class SlotScheduler<T> {
  #max: number
  /** Pause (ms) before a freed slot goes to a waiting call. Only this class sets it. */
  slotCooldownMs: number
  #discipline: QueueDiscipline = 'fifo'
  /** The counts of calls here. */
  readonly tally: SlotTally
  #seq = 0
  #common: Queuer<T> = newQueuer('')
  /** Clients with a limit. */
  readonly #limited = new Map<Owner, Queuer<T>>()
  /** Clients without a limit, while their calls wait for their turns. */
  readonly #fair = new Map<Owner | '', Queuer<T>>()
  /** Sub-queues with a call that lacks only a slot. With `fair`, the sub-queue whose turn is next comes first. */
  readonly #turns = { back: new WaitingLine<SubQueue<T>>(), arrival: new WaitingLine<SubQueue<T>>() }
  /** The instants at which the cooling slots are ready, in rising order. */
  #cooling: number[] = []
  /** Waiting calls with limits a minute. */
  #staked = 0
  /** Limits for which the calls that were checked so far wait. */
  readonly #claims = new Set<object>()
  /** When the first of these limits has room, as of the last check. */
  #roomAtMs = Infinity

  constructor(maxConcurrent: number, cooldownMs: number, tally: SlotTally = new SlotTally()) {
    this.#max = maxConcurrent
    this.slotCooldownMs = cooldownMs
    this.tally = tally
  }

  /** No slot is free: each is in use, or cools for a call that waits. */
  get full(): boolean {
    return this.occupied >= this.#max
  }

  /** Slots in use, with cooling ones. */
  get occupied(): number {
    return this.tally.active + this.#cooling.length
  }

  /** When the next cooling slot is ready, or else a limit a minute has room; `null` if no call waits for them. */
  get readyAtMs(): number | null {
    const isAwaited = this.#staked > 0 && this.tally.active < this.#max && this.#roomAtMs !== Infinity
    return this.#cooling[0] ?? (isAwaited ? this.#roomAtMs : null)
  }

  /** True if calls wait for limits a minute. */
  get waitsForMinutes(): boolean {
    return this.#staked > 0
  }

  /** All waiting calls, in any order. */
  unordered(): Waiter<T>[] {
    return this.#subQueues().flatMap(({ back, arrival }) => Array.from(back).concat(Array.from(arrival)))
  }

  /** All waiting calls in the order of their turns, without regard to the limits of clients. */
  get waiting(): readonly Waiter<T>[] {
    if (this.#discipline === 'fifo') return this.unordered().sort(compareAge)
    return (['back', 'arrival'] as const).flatMap((order) => {
      const subQueues = [...new Set([...this.#turns[order], ...this.#subQueues()])]
      const numbered = subQueues.flatMap((subQueue) =>
        [...subQueue[order]].map((waiter, round) => ({ waiter, round })),
      )
      numbered.sort((a, b) => a.round - b.round)
      return numbered.map(({ waiter }) => waiter)
    })
  }

  /** The calls that have waited longest among those that only lack a slot. */
  oldest(count: number, nowMs: number): readonly Waiter<T>[] {
    return this.#subQueues()
      .flatMap((subQueue) => {
        const most = Math.min(count, room(subQueue.of), mayGo(subQueue, nowMs))
        return [...subQueue.back.values().take(most), ...subQueue.arrival.values().take(most)].slice(0, most)
      })
      .sort((a, b) => a.seq - b.seq)
      .slice(0, count)
  }

  /** Calls that would be in flight if slots were free: not those that a client's limit holds back. */
  get demand(): number {
    let demand = this.tally.active + this.tally.queued
    for (const queuer of this.#limited.values()) demand -= Math.max(0, sizeOf(queuer) - room(queuer))
    return demand
  }

  /** {@link demand} without the calls that a limit a minute holds back. */
  demandAt(nowMs: number): number {
    if (this.#staked === 0) return this.demand
    return this.tally.active + this.oldest(this.tally.queued, nowMs).length
  }

  /** The calls of each client with a limit, in flight or waiting. */
  get ofLimited(): ReadonlyMap<string, number> {
    return new Map(
      Array.from(this.#limited.values(), (queuer) => [queuer.client, queuer.active + sizeOf(queuer)]),
    )
  }

  /** The client's name or key fingerprint under which a caller's calls are counted. */
  nameOf(caller: Caller): string {
    return this.#limitedQueuer(caller)?.client ?? caller.client ?? caller.keyFingerprint ?? ''
  }

  /** Admits a call if a slot is free and no waiting call may take it. Returns whether the call was admitted. */
  tryAdmit(
    order: QueueOrder = 'arrival',
    caller = unknownCaller,
    stake: MinuteStake | null = null,
    nowMs = 0,
  ): boolean {
    if (this.full || this.#someMayGo(nowMs)) return false
    const queuer = this.#limitedQueuer(caller)
    if (queuer !== undefined && queuer.active >= queuer.most) return false
    if (stake !== null) {
      if (stake.waitMs(nowMs, this.#claims) > 0) return false
      stake.charge(nowMs)
    }
    this.#admit(order, queuer)
    return true
  }

  /** Adds a call that `tryAdmit` refused to the queue. */
  wait(
    call: T,
    order: QueueOrder = 'arrival',
    caller = unknownCaller,
    sinceMs = order === 'back' ? -Infinity : 0,
    stake: MinuteStake | null = null,
  ): Waiter<T> {
    const subQueue = subQueueOf(this.#common, null)
    const waiter = { call, order, caller, seq: this.#seq++, sinceMs, stake, subQueue }
    this.tally.waits(order)
    this.#enqueue(waiter)
    return waiter
  }

  /** Removes a waiting call. Returns whether the call was still waiting. */
  cancel(waiter: Waiter<T>): boolean {
    const { subQueue, order } = waiter
    const wasWaiting = subQueue[order].delete(waiter)
    if (wasWaiting) this.#afterLeave(waiter)
    return wasWaiting
  }

  /** Frees the slot of a call of this caller. */
  release(nowMs: number, caller = unknownCaller): void {
    if (this.tally.active === 0) throw new Error('A slot was given back that no call holds.')
    this.tally.released()
    const queuer = this.#limitedQueuer(caller)
    if (queuer !== undefined) {
      queuer.active -= 1
      this.#enlist(queuer)
    }
    // If the capacity was lowered, the slot no longer exists.
    if (!this.full && this.#someMayGo(nowMs)) this.#cooling.push(nowMs + this.slotCooldownMs)
  }

  /** Admits and returns the call whose turn it is, if a slot is ready; `null` if none is. Repeat until `null`. */
  next(nowMs: number): Waiter<T> | null {
    for (let first = this.#first(nowMs); first !== null; first = this.#first(nowMs)) {
      if (this.full) {
        const [readyAtMs] = this.#cooling
        if (readyAtMs === undefined || readyAtMs > nowMs) return null
        this.#cooling.shift()
        // After the capacity was lowered, there may be more cooling slots than slots.
        if (this.tally.active >= this.#max) continue
      }
      const { order, subQueue } = first
      const waiter = subQueue[order].shift()
      if (waiter === undefined) return null
      if (this.#discipline === 'fair')
        for (const sibling of subQueue.of.subQueues.values()) this.#turns[order].delete(sibling)
      waiter.stake?.charge(nowMs)
      this.#admit(order, subQueue.of)
      this.#afterLeave(waiter)
      return waiter
    }
    this.#cooling.length = 0
    return null
  }

  /** Changes the number of slots; 0 admits no call. `givenBack` of the new slots cool; others are free at once. */
  setCapacity(maxConcurrent: number, givenBack = 0, nowMs = 0): void {
    this.#max = maxConcurrent
    for (let left = givenBack; left > 0 && !this.full && this.#someMayGo(nowMs); left--)
      this.#cooling.push(nowMs + this.slotCooldownMs)
  }

  /** Changes the cooldown. A cooling slot is ready at its old time or after the new cooldown, if that is earlier. */
  setCooldown(cooldownMs: number, nowMs: number): void {
    this.slotCooldownMs = cooldownMs
    this.#cooling = this.#cooling.map((readyAtMs) => Math.min(readyAtMs, nowMs + cooldownMs))
  }

  /**
   * Sets the discipline and the limits of clients, by name or fingerprint. `inFlight` are the callers that hold a slot.
   * Waiting calls keep their order.
   */
  arrange(
    discipline: QueueDiscipline,
    limits: ReadonlyMap<string, number>,
    inFlight: Iterable<{ readonly caller: Caller }>,
  ): void {
    const waiting = this.unordered()
    this.#discipline = discipline
    this.#common = newQueuer('')
    this.#staked = 0
    this.#limited.clear()
    this.#fair.clear()
    this.#turns.back.clear()
    this.#turns.arrival.clear()
    for (const [client, most] of limits) {
      this.#limited.set(ownerOfEntry(client), Object.assign(newQueuer<T>(client), { most }))
    }
    for (const { caller } of inFlight) {
      const queuer = this.#limitedQueuer(caller)
      if (queuer !== undefined) queuer.active += 1
    }
    for (const waiter of waiting.sort((a, b) => a.seq - b.seq)) this.#enqueue(waiter)
    this.#stopCoolingIfNobodyMayGo()
  }

  /** Changes the limit of a client that has one. */
  limit(client: string, most: number): void {
    const queuer = this.#limited.get(ownerOfEntry(client))
    if (queuer === undefined) return
    queuer.most = most
    this.#enlist(queuer)
    this.#stopCoolingIfNobodyMayGo()
  }

  get #mayGo(): boolean {
    return this.#turns.arrival.size > 0 || this.#turns.back.size > 0
  }

  #someMayGo(nowMs: number): boolean {
    if (this.#staked > 0) return this.#first(nowMs) !== null
    // Clearing an empty set allocates memory.
    if (this.#claims.size > 0) this.#claims.clear()
    return this.#mayGo
  }

  /** The sub-queue whose first call is next. */
  #first(nowMs: number): QueueHead<T> | null {
    // Clearing an empty set allocates memory.
    if (this.#claims.size > 0) this.#claims.clear()
    this.#roomAtMs = Infinity
    if (!this.#mayGo) return null
    if (this.#staked > 0) return this.#firstWithRoom(nowMs)
    const order = this.#nextOrder()
    const turns = this.#turns[order]
    const subQueue = this.#discipline === 'fair' ? turns.head : oldest(turns, order)
    return subQueue === undefined ? null : { subQueue, order }
  }

  /** In the order of turns, the first sub-queue whose first call waits for no limit a minute. */
  #firstWithRoom(nowMs: number): QueueHead<T> | null {
    const heads = (this.#nextOrder() === 'back' ? orders : orders.toReversed()).flatMap((order) =>
      Array.from(this.#turns[order], (subQueue) => ({ subQueue, order })),
    )
    if (this.#discipline === 'fifo') heads.sort(byAge)
    for (const head of heads) {
      const stake = head.subQueue[head.order].head?.stake ?? null
      const waitMs = stake === null ? 0 : stake.waitMs(nowMs, this.#claims)
      if (waitMs === 0) return head
      this.#roomAtMs = Math.min(this.#roomAtMs, nowMs + waitMs)
    }
    return null
  }

  /** `back` if the first call that comes back has waited longer than the oldest arrival. */
  #nextOrder(): QueueOrder {
    const { back, arrival } = this.#turns
    if (back.size === 0) return 'arrival'
    if (arrival.size === 0) return 'back'
    const fair = this.#discipline === 'fair'
    const comes = (fair ? back.head : oldest(back, 'back'))?.back.head
    const waits = oldest(arrival, 'arrival')?.arrival.head
    return (comes?.sinceMs ?? 0) <= (waits?.sinceMs ?? 0) ? 'back' : 'arrival'
  }

  #subQueues(): SubQueue<T>[] {
    return [this.#common, ...this.#limited.values(), ...this.#fair.values()].flatMap(({ subQueues }) =>
      Array.from(subQueues.values()),
    )
  }

  #enqueue(waiter: Waiter<T>): void {
    const { caller, order, stake } = waiter
    const isFair = this.#discipline === 'fair'
    const queuer = this.#limitedQueuer(caller) ?? (isFair ? this.#fairQueuer(caller) : this.#common)
    if (stake !== null) this.#staked += 1
    waiter.subQueue = subQueueOf(queuer, stake?.group ?? null)
    waiter.subQueue[order].push(waiter)
    this.#enlist(queuer)
  }

  /** The limited client of a caller. */
  #limitedQueuer(caller: Caller): Queuer<T> | undefined {
    return this.#limited.size === 0 ? undefined : entryOf(caller, this.#limited)
  }

  #fairQueuer(caller: Caller): Queuer<T> {
    const owner = ownerOfCaller(caller)
    return getOrAdd(this.#fair, owner, () => newQueuer(this.nameOf(caller), owner))
  }

  #admit(order: QueueOrder, queuer: Queuer<T> | undefined): void {
    if (queuer !== undefined) queuer.active += queuer.most === Infinity ? 0 : 1
    this.tally.admitted(order)
  }

  /** Updates the counts after a call has left its sub-queue. */
  #afterLeave({ subQueue, stake }: Waiter<T>): void {
    const { of: queuer, group, back, arrival } = subQueue
    this.tally.waited()
    if (stake !== null) this.#staked -= 1
    this.#enlist(queuer)
    if (group !== null && back.size + arrival.size === 0) queuer.subQueues.delete(group)
    if (sizeOf(queuer) === 0) this.#fair.delete(queuer.owner)
    this.#stopCoolingIfNobodyMayGo()
  }

  /** A client that has had its turn, or is new, comes last; a client in line keeps its turn. */
  #enlist(queuer: Queuer<T>): void {
    const hasRoom = queuer.active < queuer.most
    for (const order of orders) {
      for (const subQueue of inOrder(queuer, order)) {
        if (hasRoom && subQueue[order].size > 0) this.#turns[order].push(subQueue)
        else this.#turns[order].delete(subQueue)
      }
    }
  }

  #stopCoolingIfNobodyMayGo(): void {
    if (!this.#mayGo) this.#cooling.length = 0
  }
}

const orders = ['back', 'arrival'] as const
