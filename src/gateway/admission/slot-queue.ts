import { getOrAdd } from '../../lib/get-or-add.ts'
import { type Owner, clientOwner, keyOwner, ownerOfCaller, ownerOfEntry } from './owner.ts'
import { type Placeable, SortedLine, WaitingLine, compared } from './waiting-line.ts'
import { type Caller, type QueueDiscipline, type QueueOrder, type SlotFigures, nobody } from './admission.ts'

/** A waiting call, to be kept for {@link SlotQueue.cancel}. */
export interface Waiter<T> extends Placeable {
  readonly call: T
  readonly order: QueueOrder
  readonly caller: Caller
  lane: Lane<T>
}

/** Calls that wait for one another: those of one client, or of all whom nothing tells apart. */
interface Lane<T> {
  readonly arrival: WaitingLine<Waiter<T>>
  readonly back: SortedLine<Waiter<T>>
  readonly client: string
  /** Whose calls they are, if clients take turns. */
  readonly owner: Owner | ''
  /** Slots that they may hold together. */
  most: number
  /** Slots that they hold; counted only if there is such a limit. */
  active: number
}

/**
 * Who may be in flight: a pure machine that knows neither timers nor promises. `take`, `wait`, `cancel`,
 * `release`, `setCapacity`, `setCooldown`, `arrange` and `limit` tell it what happened; `next` says who goes.
 *
 * Calls wait first in, first out (`fifo`), or so within each client, and clients take turns, a call each (`fair`): deficit
 * round robin (Shreedhar and Varghese, 1995) with calls of one size. A call that comes back goes before all that wait since
 * later than it does, whoever's they are. A client may have a limit of its own: at its limit, its
 * calls keep their places, and those behind them are served past them. A slot that is given back while a call waits that
 * may take it cools before the next one does, each slot on its own; a cooling slot is neither in use nor free for an
 * arrival. When nobody waits who may go, nothing cools.
 *
 * All times are milliseconds of one monotonic clock. However many wait, all operations but `setCooldown` and `arrange`
 * take constant time; `next` with `fifo` looks at each client with a limit of its own that waits.
 */
export class SlotQueue<T> {
  #max: number
  #cooldownMs: number
  #discipline: QueueDiscipline = 'fifo'
  /** Calls that hold a slot. Set here alone, as are the next. */
  active = 0
  queued = 0
  totalAdmitted = 0
  #totalQueued = 0
  #seq = 0
  #peakActive = 0
  #common: Lane<T> = newLane('')
  /** Of clients with a limit. */
  readonly #limited = new Map<Owner, Lane<T>>()
  /** Of clients that take turns and have none, while they wait. */
  readonly #fair = new Map<Owner | '', Lane<T>>()
  /** Lanes in which a call waits that a slot is all it lacks. With `fair`, the one whose turn is next comes first. */
  readonly #turns = { back: new WaitingLine<Lane<T>>(), arrival: new WaitingLine<Lane<T>>() }
  /** The instants at which the cooling slots are ready, in rising order. */
  #cooling: number[] = []

  constructor(maxConcurrent: number, cooldownMs: number) {
    this.#max = maxConcurrent
    this.#cooldownMs = cooldownMs
  }

  /** No slot is free: each is in use, or cools for a call that waits. */
  get full(): boolean {
    return this.taken >= this.#max
  }

  /** Slots in use, those that cool among them. */
  get taken(): number {
    return this.active + this.#cooling.length
  }

  /** The instant at which the next cooling slot is ready, `null` where none cools. */
  get readyAtMs(): number | null {
    return this.#cooling[0] ?? null
  }

  /** All that wait, in any order. */
  unordered(): Waiter<T>[] {
    return this.#lanes().flatMap(({ back, arrival }) => Array.from(back).concat(Array.from(arrival)))
  }

  /** All that wait, those whose turn is next first; what holds a client at its limit is not looked at. */
  get waiting(): readonly Waiter<T>[] {
    if (this.#discipline === 'fifo') return this.unordered().sort(compared)
    return (['back', 'arrival'] as const).flatMap((order) => {
      const lanes = [...new Set([...this.#turns[order], ...this.#lanes()])]
      const placed = lanes.flatMap((lane) => [...lane[order]].map((waiter, round) => ({ waiter, round })))
      placed.sort((one, other) => one.round - other.round)
      return placed.map(({ waiter }) => waiter)
    })
  }

  /** Of those that a slot is all they lack, these that have waited the longest. */
  oldest(count: number): readonly Waiter<T>[] {
    return this.#lanes()
      .flatMap((lane) => {
        const most = Math.min(count, room(lane))
        return [...lane.back.values().take(most), ...lane.arrival.values().take(most)].slice(0, most)
      })
      .sort((one, other) => one.seq - other.seq)
      .slice(0, count)
  }

  /** How many could be in flight if slots were free: those in flight, and those that wait for nothing else. */
  get wanted(): number {
    let wanted = this.active + this.queued
    for (const lane of this.#limited.values()) wanted -= Math.max(0, sizeOf(lane) - room(lane))
    return wanted
  }

  /** The calls of each client with a limit, in flight or waiting. */
  get ofLimited(): ReadonlyMap<string, number> {
    return new Map(Array.from(this.#limited.values(), (lane) => [lane.client, lane.active + sizeOf(lane)]))
  }

  /** Under which name a caller's calls are counted. */
  nameOf(caller: Caller): string {
    return this.#limitedLane(caller)?.client ?? caller.client ?? caller.keyFingerprint ?? ''
  }

  /** A call takes a free slot, unless there is none for it or others wait for it. */
  take(order: QueueOrder = 'arrival', caller = nobody): boolean {
    if (this.full || this.#mayGo) return false
    const lane = this.#limitedLane(caller)
    if (lane !== undefined && lane.active >= lane.most) return false
    this.#admit(order, lane)
    return true
  }

  /** A call that `take` refused joins the queue. */
  wait(
    call: T,
    order: QueueOrder = 'arrival',
    caller = nobody,
    sinceMs = order === 'back' ? -Infinity : 0,
  ): Waiter<T> {
    const waiter = { call, order, caller, seq: this.#seq++, sinceMs, lane: this.#common }
    if (order === 'arrival') this.#totalQueued += 1
    this.queued += 1
    this.#place(waiter)
    return waiter
  }

  /** A waiting call leaves. Says whether it was still waiting. */
  cancel(waiter: Waiter<T>): boolean {
    const { lane, order } = waiter
    const left = lane[order].delete(waiter)
    if (left) this.#left(lane)
    return left
  }

  /** A call of this caller gives its slot back. */
  release(nowMs: number, caller = nobody): void {
    if (this.active === 0) throw new Error('A slot was given back that nobody holds.')
    this.active -= 1
    const lane = this.#limitedLane(caller)
    if (lane !== undefined) {
      lane.active -= 1
      this.#enlist(lane)
    }
    // With a lowered capacity the slot does not come back at all.
    if (this.#mayGo && !this.full) this.#cooling.push(nowMs + this.#cooldownMs)
  }

  /** The call whose turn it is, if a slot is ready for it, which it then holds. Ask until it says `null`. */
  next(nowMs: number): Waiter<T> | null {
    while (this.#mayGo) {
      if (this.full) {
        const readyAtMs = this.readyAtMs
        if (readyAtMs === null || readyAtMs > nowMs) return null
        this.#cooling.shift()
        // A lowered capacity may have left more cooling slots than there are places.
        if (this.active >= this.#max) continue
      }
      const order = this.#nextOrder()
      const turns = this.#turns[order]
      const lane = this.#discipline === 'fair' ? turns.shift() : oldest(turns, order)
      const waiter = lane?.[order].shift()
      if (lane === undefined || waiter === undefined) return null
      this.#admit(order, lane)
      this.#left(lane)
      return waiter
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

  /**
   * From now on clients take turns, or do not, and these have limits of their own, by name or fingerprint. `inFlight`
   * tells whose calls hold a slot. Those that wait keep their order.
   */
  arrange(
    discipline: QueueDiscipline,
    limits: ReadonlyMap<string, number>,
    inFlight: Iterable<{ readonly caller: Caller }>,
  ): void {
    const waiting = this.unordered()
    this.#discipline = discipline
    this.#common = newLane('')
    this.#limited.clear()
    this.#fair.clear()
    this.#turns.back.clear()
    this.#turns.arrival.clear()
    for (const [client, most] of limits) {
      this.#limited.set(ownerOfEntry(client), Object.assign(newLane<T>(client), { most }))
    }
    for (const { caller } of inFlight) {
      const lane = this.#limitedLane(caller)
      if (lane !== undefined) lane.active += 1
    }
    for (const waiter of waiting.sort((one, other) => one.seq - other.seq)) this.#place(waiter)
    this.#stopCoolingIfNobodyMayGo()
  }

  /** A client that has a limit has another one now. */
  limit(client: string, most: number): void {
    const lane = this.#limited.get(ownerOfEntry(client))
    if (lane === undefined) return
    lane.most = most
    this.#enlist(lane)
    this.#stopCoolingIfNobodyMayGo()
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

  get #mayGo(): boolean {
    return this.#turns.arrival.size > 0 || this.#turns.back.size > 0
  }

  /** Whether a call that comes back is next. */
  #nextOrder(): QueueOrder {
    const { back, arrival } = this.#turns
    if (back.size === 0) return 'arrival'
    if (arrival.size === 0) return 'back'
    const fair = this.#discipline === 'fair'
    const comes = (fair ? back.head : oldest(back, 'back'))?.back.head
    const waits = oldest(arrival, 'arrival')?.arrival.head
    return (comes?.sinceMs ?? 0) <= (waits?.sinceMs ?? 0) ? 'back' : 'arrival'
  }

  #lanes(): Lane<T>[] {
    return [this.#common, ...this.#limited.values(), ...this.#fair.values()]
  }

  #place(waiter: Waiter<T>): void {
    const { caller, order } = waiter
    const isFair = this.#discipline === 'fair'
    const lane = this.#limitedLane(caller) ?? (isFair ? this.#fairLane(caller) : this.#common)
    waiter.lane = lane
    lane[order].push(waiter)
    this.#enlist(lane)
  }

  /** A key's own limit goes before that of its client's name. */
  #limitedLane({ client, keyFingerprint }: Caller): Lane<T> | undefined {
    if (this.#limited.size === 0) return undefined
    const byKey = keyFingerprint === null ? undefined : this.#limited.get(keyOwner(keyFingerprint))
    return byKey ?? (client === null ? undefined : this.#limited.get(clientOwner(client)))
  }

  #fairLane(caller: Caller): Lane<T> {
    const owner = ownerOfCaller(caller)
    return getOrAdd(this.#fair, owner, () => newLane(this.nameOf(caller), owner))
  }

  #admit(order: QueueOrder, lane: Lane<T> | undefined): void {
    this.active += 1
    if (lane !== undefined) lane.active += lane.most === Infinity ? 0 : 1
    if (this.active > this.#peakActive) this.#peakActive = this.active
    if (order === 'arrival') this.totalAdmitted += 1
  }

  /** A call has left this lane. */
  #left(lane: Lane<T>): void {
    this.queued -= 1
    this.#enlist(lane)
    if (sizeOf(lane) === 0) this.#fair.delete(lane.owner)
    this.#stopCoolingIfNobodyMayGo()
  }

  /** Who has had its turn, or had none, comes last; who has one already keeps it. */
  #enlist(lane: Lane<T>): void {
    const hasRoom = lane.active < lane.most
    for (const order of orders) {
      if (hasRoom && lane[order].size > 0) this.#turns[order].push(lane)
      else this.#turns[order].delete(lane)
    }
  }

  #stopCoolingIfNobodyMayGo(): void {
    if (!this.#mayGo) this.#cooling.length = 0
  }
}

const orders = ['back', 'arrival'] as const

function newLane<T>(client: string, owner: Owner | '' = ''): Lane<T> {
  return { client, owner, most: Infinity, active: 0, back: new SortedLine(), arrival: new WaitingLine() }
}

function sizeOf({ back, arrival }: Lane<unknown>): number {
  return back.size + arrival.size
}

/** Slots that a client may still take. */
function room({ most, active }: Lane<unknown>): number {
  return Math.max(0, most - active)
}

/** Of these lanes, the one whose first call has waited longest. */
function oldest<T>(lanes: ReadonlySet<Lane<T>>, order: QueueOrder): Lane<T> | undefined {
  let found: Lane<T> | undefined
  let first: Waiter<unknown> | undefined
  for (const lane of lanes) {
    const { head } = lane[order]
    if (head !== undefined && (first === undefined || compared(head, first) < 0))
      [found, first] = [lane, head]
  }
  return found
}
