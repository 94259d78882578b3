import type { Clock } from '../../call/clock.ts'
import { Failure } from '../../call/failure.ts'
import { getOrAdd } from '../../lib/get-or-add.ts'
import { SwapList } from '../../lib/swap-list.ts'
import {
  type Caller,
  type MinuteStake,
  type QueueDiscipline,
  type QueueOrder,
  type SlotFigures,
  type SlotSharing,
  drainRetryAfterS,
  nobody,
} from './admission.ts'
import { DrainRate } from './drain-rate.ts'
import { Permit } from './permit.ts'
import { type MinuteCounts, MinuteFigures } from './minute-figures.ts'
import { SlotQueue } from './slot-queue.ts'
import type { SlotTally } from './slot-tally.ts'

export interface AdmissionOptions {
  readonly clock: Clock
  readonly maxConcurrent: number
  /** How long a slot that is given back while calls wait stays empty. */
  readonly slotCooldownMs: number
  /** How many calls may wait. */
  readonly queueLimit: number
  /** How long a call may wait; 0 for as long as it likes. */
  readonly queueTimeoutMs: number
  /** Who of those that wait is next; `fifo` unless given. */
  readonly queueOrder?: QueueDiscipline
  /** What is in use at all upstreams. */
  readonly tally?: SlotTally
}

/** A waiting call, and how to end its wait. */
interface Wait {
  readonly signal: AbortSignal
  readonly sinceMs: number
  /** What it takes of limits a minute, as these are now. */
  readonly stakeOf: () => MinuteStake | null
  readonly admit: () => void
  readonly refuse: (reason: unknown) => void
}

/**
 * Lets at most `maxConcurrent` calls be in flight and keeps the others waiting in order: the rules are
 * {@link SlotQueue}'s, the timers and promises are here.
 */
export class LocalAdmission {
  readonly #clock: Clock
  readonly #options: AdmissionOptions
  readonly #queue: SlotQueue<Wait>
  readonly #drainRate = new DrainRate()
  readonly #minute: MinuteFigures
  /** As they were last told. */
  #active = 0
  #queued = 0
  readonly #held = new SwapList<Permit>()
  #maxConcurrent: number
  /** This gateway uses no more slots than these. */
  #ownSlots = Infinity
  /** Slots that a gateway before this one still uses, or needs. */
  #lent = 0
  #sharing: SlotSharing | null = null
  #queueOrder: QueueDiscipline
  #limits: ReadonlyMap<string, number> = new Map()
  #lentOf: ReadonlyMap<string, number> = new Map()
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
    this.#queueOrder = options.queueOrder ?? 'fifo'
    if (this.#queueOrder !== 'fifo') this.#arrange()
  }

  /** A permit for a call of this caller, if one can be had without waiting. `null` means: ask `acquire`. */
  tryAcquire(
    caller = nobody,
    order: QueueOrder = 'arrival',
    stake: MinuteStake | null = null,
  ): Permit | null {
    if (this.#draining !== null || !this.#isSure) return null
    const nowMs = stake === null && !this.#queue.waitsForMinutes ? 0 : this.#clock.now()
    if (!this.#queue.take(order, caller, stake, nowMs)) return null
    this.#noteChange()
    return this.#permit(caller)
  }

  /**
   * A permit, at once or when it is this call's turn. Rejects with the signal's reason when that is aborted
   * first, and with a `Failure`: `queue_full`, `queue_timeout`, `draining`.
   * `heldMs`: how long a call that comes back had its slot. `stakeOf`: what it takes of limits a minute; asked again when
   * these limits change while it waits.
   */
  async acquire(
    signal: AbortSignal,
    order: QueueOrder = 'arrival',
    caller = nobody,
    heldMs = 0,
    stakeOf: () => MinuteStake | null = () => null,
  ): Promise<Permit> {
    signal.throwIfAborted()
    if (this.#draining !== null) throw this.#draining
    const stake = stakeOf()
    const permit = this.tryAcquire(caller, order, stake)
    if (permit !== null) return permit
    // A slot that another gateway uses may be on its way to this call, which is then no reason to refuse it.
    const queueLimit = this.#options.queueLimit + this.#maxConcurrent - this.#slots
    if (order === 'arrival' && this.#queue.queued >= queueLimit) throw this.#refusal('queue_full')
    return this.#wait(stake, signal, order, caller, heldMs, stakeOf)
  }

  /** Refuses all who wait and all who come from now on; permits that are held stay good. */
  drain(): void {
    if (this.#draining !== null) return
    this.#draining = new Failure('draining', 'The gateway is stopping and takes no more calls.', {
      retryAfterS: drainRetryAfterS,
    })
    for (const { call } of this.#queue.waiting) call.refuse(this.#draining)
  }

  /** Refuses those who have waited for so long (ms). */
  refuseAfter(waitedMs: number, refusal: () => Failure): void {
    const latestMs = this.#clock.now() - waitedMs
    for (const { call } of this.#queue.unordered()) if (call.sinceMs <= latestMs) call.refuse(refusal())
  }

  /** Changes the number of slots. More let waiting calls in now; fewer never interrupt a call. */
  setCapacity(maxConcurrent: number): void {
    this.#maxConcurrent = maxConcurrent
    this.#applyCapacity()
  }

  /** Slots are shared with other gateways from now on; with null no more. */
  share(sharing: SlotSharing | null): void {
    this.#sharing = sharing
  }

  /** Other gateways use the slots beyond these; an infinite number lifts that. */
  useAtMost(slots: number): void {
    if (slots === this.#ownSlots) return
    this.#ownSlots = slots
    this.#applyCapacity()
  }

  /** Who of those that wait is next, from now on. */
  setQueueOrder(queueOrder: QueueDiscipline): void {
    if (queueOrder === this.#queueOrder) return
    this.#queueOrder = queueOrder
    this.#arrange()
    this.#admitNext()
  }

  get queueOrder(): QueueDiscipline {
    return this.#queueOrder
  }

  /** So many slots each of these clients may have at a time; those in use stay so until they are given back. */
  setLimits(limits: ReadonlyMap<string, number>): void {
    const isSameClients =
      limits.size === this.#limits.size && [...limits.keys()].every((of) => this.#limits.has(of))
    this.#limits = limits
    if (isSameClients) this.#applyLimits()
    else this.#arrange()
    this.#admitNext()
  }

  /** So many slots are another gateway's to use, and so many of the slots of these clients. */
  lend(slots: number, ofClients: ReadonlyMap<string, number>): void {
    if (slots === this.#lent && ofClients.size + this.#lentOf.size === 0) return
    this.#lent = slots
    this.#lentOf = ofClients
    this.#applyLimits()
    this.#applyCapacity()
  }

  /** From here on another gateway lends: this one keeps the slots that are its own. Answers how many. */
  keepOwn(): number {
    this.#ownSlots = this.#slots
    this.#lent = 0
    return this.#ownSlots
  }

  /** In-flight and waiting calls by client; what has no name counts for the empty one. */
  byClient(): ReadonlyMap<string, { readonly active: number; readonly waiting: number }> {
    const calls = new Map<string, { active: number; waiting: number }>()
    const of = (caller: Caller) =>
      getOrAdd(calls, this.#queue.nameOf(caller), () => ({ active: 0, waiting: 0 }))
    for (const { caller } of this.#held) of(caller).active += 1
    for (const { caller } of this.#queue.unordered()) of(caller).waiting += 1
    return calls
  }

  /** Slots in use, those that cool among them. */
  get inUse(): number {
    return this.#queue.taken
  }

  /** How long (ms) calls have waited that a slot is all they lack, the longest first, without the first `skipped`. */
  ages(skipped: number, most: number): readonly number[] {
    const nowMs = this.#clock.now()
    const oldest = this.#queue.oldest(skipped + most, nowMs).slice(skipped)
    return oldest.map(({ call }) => nowMs - call.sinceMs)
  }

  /** How many calls could be in flight if slots were free, now or once limits a minute have room for them. */
  get wanted(): number {
    return this.#queue.wanted
  }

  /** The same without calls that a limit a minute holds back at this instant. */
  get wantedNow(): number {
    return this.#queue.wantedAt(this.#clock.now())
  }

  /** Limits a minute may have room again. */
  wake(): void {
    if (this.#queue.waitsForMinutes) this.#admitNext()
  }

  /** Other limits a minute hold from now on, for calls that wait, too. */
  restake(): void {
    for (const waiter of this.#queue.unordered()) waiter.stake = waiter.call.stakeOf()
    this.#arrange()
    this.#admitNext()
  }

  /** The calls of each client with a limit, in flight or waiting. */
  get ofLimited(): ReadonlyMap<string, number> {
    return this.#queue.ofLimited
  }

  /** Calls back whenever the number of calls that are in flight, or wait, may have changed. */
  watch(watcher: (() => void) | null): void {
    this.#watcher = watcher
  }

  /** What waiting calls take of limits a minute. */
  stakes(): readonly MinuteStake[] {
    return this.#queue.unordered().flatMap(({ stake }) => stake ?? [])
  }

  /** Changes the pause before a freed slot is given on; a shorter one also ends the pauses under way sooner. */
  setCooldown(slotCooldownMs: number): void {
    this.#queue.setCooldown(slotCooldownMs, this.#clock.now())
    this.#admitNext()
  }

  snapshot(): SlotFigures {
    return { ...this.#queue.figures(), maxConcurrent: this.#maxConcurrent }
  }

  /** The signals with which calls wait in `acquire`, the one whose turn is next first. */
  waiting(): readonly AbortSignal[] {
    return this.#queue.waiting.map(({ call }) => call.signal)
  }

  /** What happened since a minute was last closed; `closes` it, so that from here on is counted anew. */
  minute(closes: boolean): MinuteCounts {
    return this.#minute.counts(this.#queue.totalAdmitted, closes)
  }

  /** For a slot that was just taken. */
  #permit(caller: Caller): Permit {
    const permit = new Permit(caller, this.#giveBack)
    this.#held.add(permit)
    return permit
  }

  readonly #giveBack = (permit: Permit): void => {
    this.#held.remove(permit)
    this.#queue.release(this.#clock.now(), permit.caller)
    this.#sharing?.released()
    this.#admitNext()
  }

  get #slots(): number {
    return Math.max(0, Math.min(this.#maxConcurrent - this.#lent, this.#ownSlots))
  }

  get #isSure(): boolean {
    return this.#sharing === null || this.#sharing.isSure()
  }

  #arrange(): void {
    this.#queue.arrange(this.#queueOrder, this.#limits, this.#held)
    this.#applyLimits()
  }

  #applyLimits(): void {
    for (const [client, most] of this.#limits) {
      this.#queue.limit(client, Math.max(0, most - (this.#lentOf.get(client) ?? 0)))
    }
  }

  #wait(
    stake: MinuteStake | null,
    ...[signal, order, caller, heldMs, stakeOf]: Required<Parameters<LocalAdmission['acquire']>>
  ): Promise<Permit> {
    return new Promise((resolve, reject) => {
      if (this.#queue.queued === 0) this.#drainRate.started(this.#clock.now())
      const timers: (() => void)[] = []
      const leave = (): void => {
        signal.removeEventListener('abort', onAbort)
        for (const cancel of timers) cancel()
      }
      const wait: Wait = {
        signal,
        sinceMs: this.#clock.now(),
        stakeOf,
        admit: () => {
          leave()
          resolve(this.#permit(caller))
        },
        refuse: (reason) => {
          this.#queue.cancel(waiter)
          leave()
          if (this.#queue.waitsForMinutes && this.#draining === null) this.#admitNext()
          this.#noteChange()
          this.#arm()
          // eslint-disable-next-line typescript/prefer-promise-reject-errors -- an abort's reason is whatever was given
          reject(reason)
        },
      }
      const onAbort = (): void => wait.refuse(signal.reason)
      const waiter = this.#queue.wait(wait, order, caller, this.#clock.now() - heldMs, stake)
      signal.addEventListener('abort', onAbort)
      if (this.#options.queueTimeoutMs > 0) {
        const tooLate = (): void => wait.refuse(this.#refusal('queue_timeout'))
        timers.push(this.#clock.after(this.#options.queueTimeoutMs, tooLate))
      }
      if (stake === null) this.#noteChange()
      else this.#admitNext()
    })
  }

  #admitNext(): void {
    if (this.#queue.queued > 0 && this.#isSure) {
      const nowMs = this.#clock.now()
      for (let next = this.#queue.next(nowMs); next !== null; next = this.#queue.next(nowMs)) {
        this.#drainRate.took(nowMs)
        next.call.admit()
      }
    }
    this.#noteChange()
    this.#arm()
  }

  #applyCapacity(): void {
    this.#queue.setCapacity(this.#slots)
    this.#admitNext()
  }

  #noteChange(): void {
    const { active, queued, taken, full } = this.#queue
    // Who holds none of the slots that others do not need, is not at the limit.
    const isAtLimit = full && taken + queued > 0 && this.#isSure
    this.#minute.changed(active, queued, isAtLimit)
    this.#options.tally?.changed(active - this.#active, queued - this.#queued)
    this.#active = active
    this.#queued = queued
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
    // On a busy machine it may be past by now: Node warns of negative times.
    const delayMs = Math.max(0, Math.ceil(readyAtMs - this.#clock.now()))
    this.#cancelTimer = this.#clock.after(delayMs, () => {
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
        ? `The queue is full: ${queued} calls wait for one of ${this.#maxConcurrent} slots, or for a limit a minute.`
        : `No slot became free for this call within ${this.#options.queueTimeoutMs} ms.`
    const retryAfterS = this.#drainRate.retryAfterS(queued, this.#clock.now())
    return new Failure(code, message, { retryAfterS })
  }
}
