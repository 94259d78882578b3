import type { Clock } from '../../call/clock.ts'
import { Failure } from '../../call/failure.ts'
import { getOrAdd } from '../../lib/get-or-add.ts'
import { SwapList } from '../../lib/swap-list.ts'
import {
  type Caller,
  type MinuteStake,
  Permit,
  type QueueDiscipline,
  type QueueOrder,
  type SlotFigures,
  type SlotSharing,
  drainRetryAfterS,
  unknownCaller,
} from './admission.ts'
import { QueueSpeed } from './queue-speed.ts'
import { SlotMinute, SlotTally } from './slot-minute.ts'
import { SlotScheduler } from './slot-scheduler.ts'
import type { Waiter } from './sub-queue.ts'

export interface AdmissionOptions {
  readonly clock: Clock
  readonly maxConcurrent: number
  /** Pause (ms) before a freed slot goes to a waiting call. */
  readonly slotCooldownMs: number
  /** Most waiting calls. */
  readonly queueLimit: number
  /** Longest wait of a call in ms; 0 for no limit. */
  readonly queueTimeoutMs: number
  /** Which waiting call is next (default: `fifo`). */
  readonly queueOrder?: QueueDiscipline
  /** Counts the calls of all upstreams. */
  readonly tally?: SlotTally
}

/** A waiting call, and how to end its wait. */
interface Wait {
  readonly sinceMs: number
  /** Returns the call's share of the present limits a minute. */
  readonly stakeOf: () => MinuteStake | null
  readonly resolve: (permit: Permit) => void
  readonly reject: (reason: unknown) => void
  /** Removes the listener of the signal, and the timer of the longest wait. */
  readonly endings: (() => void)[]
}

/** Admits at most `maxConcurrent` calls; others wait. {@link SlotScheduler} has the rules, this class the timers. */
export class SlotLimiter {
  readonly #clock: Clock
  readonly #options: AdmissionOptions
  readonly #queue: SlotScheduler<Wait>
  readonly #queueSpeed = new QueueSpeed()
  readonly #minute: SlotMinute
  readonly #permits = new SwapList<Permit>()
  #maxConcurrent: number
  /** Most slots that this gateway may use. */
  #ceiling = Infinity
  /** Slots that the replaced gateway uses or needs. */
  #reserved = 0
  #sharing: SlotSharing | null = null
  #queueOrder: QueueDiscipline
  #limits: ReadonlyMap<string, number> = new Map()
  #reservedOf: ReadonlyMap<string, number> = new Map()
  #watcher: (() => void) | null = null
  #draining: Failure | null = null
  #timerAtMs: number | null = null
  #cancelTimer: (() => void) | null = null

  constructor(options: AdmissionOptions) {
    this.#clock = options.clock
    this.#options = options
    this.#maxConcurrent = options.maxConcurrent
    this.#queue = new SlotScheduler(
      options.maxConcurrent,
      options.slotCooldownMs,
      new SlotTally(options.tally),
    )
    this.#minute = new SlotMinute(() => this.#clock.now())
    this.#queueOrder = options.queueOrder ?? 'fifo'
    if (this.#queueOrder !== 'fifo') this.#arrange()
  }

  /** A permit for a call of this caller; null if the call has to wait with `acquire`. */
  tryAcquire(
    caller = unknownCaller,
    order: QueueOrder = 'arrival',
    stake: MinuteStake | null = null,
  ): Permit | null {
    if (this.#draining !== null || !this.#leaseIsValid) return null
    const nowMs = stake === null && !this.#queue.waitsForMinutes ? 0 : this.#clock.now()
    if (!this.#queue.tryAdmit(order, caller, stake, nowMs)) return null
    this.#noteChange()
    return this.#permit(caller)
  }

  /**
   * Resolves with a permit, at once or when it is the call's turn. Rejects with a `Failure` (`queue_full`,
   * `queue_timeout`, `draining`), or with the reason of an aborted signal. `heldMs`: how long a call that
   * comes back had its slot. `stakeOf` returns the call's share of limits a minute, and is called again when
   * these limits change.
   */
  async acquire(
    signal: AbortSignal,
    order: QueueOrder = 'arrival',
    caller = unknownCaller,
    heldMs = 0,
    stakeOf: () => MinuteStake | null = () => null,
  ): Promise<Permit> {
    signal.throwIfAborted()
    if (this.#draining !== null) throw this.#draining
    const stake = stakeOf()
    const permit = this.tryAcquire(caller, order, stake)
    if (permit !== null) return permit
    // Calls may also wait for slots that other gateways use now.
    const queueLimit = this.#options.queueLimit + this.#maxConcurrent - this.slots
    if (order === 'arrival' && this.#queue.tally.queued >= queueLimit) throw this.#refusal('queue_full')
    return this.#wait(stake, signal, order, caller, heldMs, stakeOf)
  }

  /** Refuses waiting and new calls with `draining`; calls in flight keep their permits. */
  refuseNew(): void {
    if (this.#draining !== null) return
    this.#draining = new Failure('draining', 'The gateway is stopping and accepts no more calls.', {
      retryAfterS: drainRetryAfterS,
    })
    for (const waiter of this.#queue.waiting) this.#refuse(waiter, this.#draining)
  }

  /** Refuses calls that have waited for at least `waitedMs`. */
  refuseAfter(waitedMs: number, refusal: () => Failure): void {
    const latestMs = this.#clock.now() - waitedMs
    for (const waiter of this.#queue.unordered())
      if (waiter.call.sinceMs <= latestMs) this.#refuse(waiter, refusal())
  }

  /** Changes the number of slots. New slots admit waiting calls at once; fewer slots never interrupt a call. */
  setCapacity(maxConcurrent: number): void {
    this.#maxConcurrent = maxConcurrent
    this.#applyCapacity()
  }

  /** Shares slots with other gateways from now on; null ends that. */
  share(sharing: SlotSharing | null): void {
    this.#sharing = sharing
  }

  /** Uses at most `slots`, because other gateways use the rest; Infinity for no ceiling. */
  setCeiling(slots: number): void {
    if (slots === this.#ceiling) return
    this.#ceiling = slots
    this.#applyCapacity()
  }

  /** Changes which waiting call is next. */
  setQueueOrder(queueOrder: QueueDiscipline): void {
    if (queueOrder === this.#queueOrder) return
    this.#queueOrder = queueOrder
    this.#arrange()
    this.#admitNext()
  }

  get queueOrder(): QueueDiscipline {
    return this.#queueOrder
  }

  /** Sets the most slots of each of these clients. Calls in flight keep their slots. */
  setLimits(limits: ReadonlyMap<string, number>): void {
    const isSameClients =
      limits.size === this.#limits.size && [...limits.keys()].every((of) => this.#limits.has(of))
    this.#limits = limits
    if (isSameClients) this.#applyLimits()
    else this.#arrange()
    this.#admitNext()
  }

  /** Reserves slots, and slots of each client, for the gateways that this one replaces. A slot that they give back cools here. */
  reserveForPredecessor(slots: number, ofClients: ReadonlyMap<string, number>): void {
    if (slots === this.#reserved && ofClients.size + this.#reservedOf.size === 0) return
    // Their slots are unknown before their first reports.
    const givenBack = this.#reserved === Infinity ? 0 : this.#reserved - slots
    this.#reserved = slots
    this.#reservedOf = ofClients
    this.#applyLimits()
    this.#applyCapacity(givenBack)
  }

  /** Keeps at most `most` of the present slots, because this gateway's successor uses the rest. */
  keep(most: number): void {
    const ceiling = Math.min(this.slots, most)
    this.#reserved = 0
    this.setCeiling(ceiling)
  }

  /** In-flight and waiting calls by client; unnamed callers count for the empty name. */
  byClient(): ReadonlyMap<string, { readonly active: number; readonly waiting: number }> {
    const calls = new Map<string, { active: number; waiting: number }>()
    const of = (caller: Caller) =>
      getOrAdd(calls, this.#queue.nameOf(caller), () => ({ active: 0, waiting: 0 }))
    for (const { caller } of this.#permits) of(caller).active += 1
    for (const { caller } of this.#queue.unordered()) of(caller).waiting += 1
    return calls
  }

  /** Slots in use, with cooling ones, and those that waiting calls need. */
  get needed(): number {
    return Math.max(this.#queue.occupied, this.#queue.demand)
  }

  /** Most slots that calls here may use now. */
  get slots(): number {
    return Math.max(0, Math.min(this.#maxConcurrent - this.#reserved, this.#ceiling))
  }

  /** Slots in use, with cooling ones. */
  get inUse(): number {
    return this.#queue.occupied
  }

  /** Waits (ms) of calls that only lack a slot, the longest first, without the first `skipped`; at most `most`. */
  ages(skipped: number, most: number): readonly number[] {
    const nowMs = this.#clock.now()
    const oldest = this.#queue.oldest(skipped + most, nowMs).slice(skipped)
    return oldest.map(({ call }) => nowMs - call.sinceMs)
  }

  /** Calls that would be in flight if slots were free, without those that wait for a limit a minute. */
  get demandNow(): number {
    return this.#queue.demandAt(this.#clock.now())
  }

  /** Call it when a limit a minute may have room again. */
  wake(): void {
    if (this.#queue.waitsForMinutes) this.#admitNext()
  }

  /** Call it when limits a minute change: waiting calls get new shares. */
  restake(): void {
    for (const waiter of this.#queue.unordered()) waiter.stake = waiter.call.stakeOf()
    this.#arrange()
    this.#admitNext()
  }

  /** The calls of each client with a limit, in flight or waiting. */
  get callsOfLimited(): ReadonlyMap<string, number> {
    return this.#queue.ofLimited
  }

  /** Calls `watcher` whenever the number of calls in flight or waiting may have changed. */
  watch(watcher: (() => void) | null): void {
    this.#watcher = watcher
  }

  /** The shares of limits a minute of waiting calls. */
  stakes(): readonly MinuteStake[] {
    return this.#queue.unordered().flatMap(({ stake }) => stake ?? [])
  }

  /** Changes the cooldown; a shorter one also ends present cooldowns sooner. */
  setCooldown(slotCooldownMs: number): void {
    this.#queue.setCooldown(slotCooldownMs, this.#clock.now())
    this.#admitNext()
  }

  snapshot(): SlotFigures {
    const { active, queued } = this.#queue.tally
    const { slotCooldownMs } = this.#queue
    return { maxConcurrent: this.#maxConcurrent, slotCooldownMs, active, queued }
  }

  /** The counts of calls since the start. */
  get tally(): SlotTally {
    return this.#queue.tally
  }

  /** The callers of waiting calls, the next one first. */
  waiting(): readonly Caller[] {
    return this.#queue.waiting.map(({ caller }) => caller)
  }

  /** The time (ms) without a free slot since the last closed minute; `isOver` starts a new minute. */
  atLimitMs(isOver: boolean): number {
    return this.#minute.atLimitMs(isOver)
  }

  #permit(caller: Caller): Permit {
    const permit = new Permit(caller, this.#giveBack)
    this.#permits.add(permit)
    return permit
  }

  readonly #giveBack = (permit: Permit): void => {
    this.#permits.remove(permit)
    this.#queue.release(this.#clock.now(), permit.caller)
    this.#sharing?.released()
    this.#admitNext()
  }

  get #leaseIsValid(): boolean {
    return this.#sharing === null || this.#sharing.leaseIsValid()
  }

  #arrange(): void {
    this.#queue.arrange(this.#queueOrder, this.#limits, this.#permits)
    this.#applyLimits()
  }

  #applyLimits(): void {
    for (const [client, most] of this.#limits) {
      this.#queue.limit(client, Math.max(0, most - (this.#reservedOf.get(client) ?? 0)))
    }
  }

  #wait(
    stake: MinuteStake | null,
    ...[signal, order, caller, heldMs, stakeOf]: Required<Parameters<SlotLimiter['acquire']>>
  ): Promise<Permit> {
    const nowMs = this.#clock.now()
    if (this.#queue.tally.queued === 0) this.#queueSpeed.queueBegan(nowMs)
    const { promise, resolve, reject } = Promise.withResolvers<Permit>()
    const wait: Wait = { sinceMs: nowMs, stakeOf, resolve, reject, endings: [] }
    const waiter = this.#queue.wait(wait, order, caller, nowMs - heldMs, stake)
    const onAbort = (): void => this.#refuse(waiter, signal.reason)
    signal.addEventListener('abort', onAbort)
    wait.endings.push(() => signal.removeEventListener('abort', onAbort))
    if (this.#options.queueTimeoutMs > 0) {
      const tooLate = (): void => this.#refuse(waiter, this.#refusal('queue_timeout'))
      wait.endings.push(this.#clock.after(this.#options.queueTimeoutMs, tooLate))
    }
    if (stake === null) this.#noteChange()
    else this.#admitNext()
    return promise
  }

  /** Ends the wait of a call without a permit. */
  #refuse(waiter: Waiter<Wait>, reason: unknown): void {
    this.#queue.cancel(waiter)
    for (const end of waiter.call.endings) end()
    if (this.#queue.waitsForMinutes && this.#draining === null) this.#admitNext()
    this.#noteChange()
    this.#arm()
    waiter.call.reject(reason)
  }

  #admitNext(): void {
    if (this.#queue.tally.queued > 0 && this.#leaseIsValid) {
      const nowMs = this.#clock.now()
      for (let next = this.#queue.next(nowMs); next !== null; next = this.#queue.next(nowMs)) {
        this.#queueSpeed.slotTaken(nowMs)
        for (const end of next.call.endings) end()
        next.call.resolve(this.#permit(next.caller))
      }
    }
    this.#noteChange()
    this.#arm()
  }

  #applyCapacity(givenBack = 0): void {
    this.#queue.setCapacity(this.slots, givenBack, this.#clock.now())
    this.#admitNext()
  }

  #noteChange(): void {
    const { tally, occupied, full } = this.#queue
    // A gateway without a valid lease may use no slot, so it does not count as being at the limit.
    const isAtLimit = full && occupied + tally.queued > 0 && this.#leaseIsValid
    this.#minute.changed(isAtLimit)
    this.#watcher?.()
  }

  /** A single timer serves all cooling slots, because they are ready in the order in which they were given back. */
  #arm(): void {
    const readyAtMs = this.#queue.readyAtMs
    if (readyAtMs === this.#timerAtMs) return
    this.#cancelTimer?.()
    this.#cancelTimer = null
    this.#timerAtMs = readyAtMs
    if (readyAtMs === null) return
    // On a busy machine the time may have passed already, and Node warns about a negative delay.
    const delayMs = Math.max(0, Math.ceil(readyAtMs - this.#clock.now()))
    this.#cancelTimer = this.#clock.after(delayMs, () => {
      // If the timer fires a fraction too early, it is set again for the rest.
      this.#timerAtMs = null
      this.#admitNext()
    })
  }

  /** `Retry-After` is the time to serve the present queue, at its speed so far, and until a limit a minute has room. */
  #refusal(code: 'queue_full' | 'queue_timeout'): Failure {
    const { tally, readyAtMs } = this.#queue
    const { queued } = tally
    const nowMs = this.#clock.now()
    const message =
      code === 'queue_full'
        ? `The queue is full: ${queued} calls wait for one of ${this.#maxConcurrent} slots, or for a limit a minute.`
        : `This call waited ${this.#options.queueTimeoutMs} ms for a slot, or for a limit a minute.`
    const readyS = Math.ceil(((readyAtMs ?? 0) - nowMs) / 1000)
    const retryAfterS = Math.max(this.#queueSpeed.retryAfterS(queued, nowMs), readyS)
    return new Failure(code, message, { retryAfterS })
  }
}
