import type { Clock } from '../../call/clock.ts'
import {
  type BothClocks,
  SlotHolderProtocol,
  type SlotAnswer,
  type SlotSync,
  mostAges,
} from './slot-holder-protocol.ts'
import type { SlotSharing } from './admission.ts'
import type { SlotLimiter } from './slot-limiter.ts'
import { oneAtATime } from '../../lib/one-at-a-time.ts'

/** The connection to the pool. */
export interface SlotLink {
  /** Sends a message. Resolves with the answer, or null if it was lost or late. Never rejects. */
  sync(message: SlotSync): Promise<SlotAnswer | null>
}

/** The parts of a gateway that a shared limit uses. */
export interface LimitedGateway {
  /** Returns the gateway's figures. `held`: slots that it may use. */
  figures(): { readonly active: number; readonly queued: number; readonly held: number }
  /** Sends a message to the pool at once. */
  wake(): void
  /** Sets the slots of all gateways together. */
  limit(maxConcurrent: number): void
  /** Sets the number of sharing gateways, before calls get the slots of the same answer. */
  shareWith(gateways: number): void
  /** Sets the instance number of new ids. */
  number(number: number): void
}

export interface SlotHolderOptions {
  readonly admission: SlotLimiter
  readonly clock: Clock
  readonly holder: string
  readonly leaseMs: number
}

const heartbeatMs = 1000
/** Interval of messages while calls wait for a slot of the pool. */
const waitingHeartbeatMs = 100
/** A slot goes back to the pool after this time without use. */
const longestIdleMs = 1000
/** After this time without an answer of the pool, the gateway keeps its freed slots. */
const noReplyMs = 200

/**
 * Limits a gateway to the slots that the pool grants, and reports its demand. Without a link, all slots are
 * the gateway's own.
 */
export class SlotHolder implements SlotSharing {
  readonly #options: SlotHolderOptions
  readonly #protocol: SlotHolderProtocol
  #link: SlotLink | null = null
  /** Slots that cool before they go back to the pool. */
  #leaving = 0
  /** Waiting calls in the last message. */
  #reportedWaiting = 0
  #idleSinceMs: number | null = null
  /** When the unanswered message was sent. */
  #sentMs: number | null = null
  /** True if the last message was not answered. */
  #isAway = false

  /** Sends a message to the pool: now, or when the last one is answered. */
  readonly sync: () => void = oneAtATime(() => this.#exchange())

  constructor(options: SlotHolderOptions) {
    const { admission, holder, leaseMs } = options
    this.#options = options
    this.#protocol = new SlotHolderProtocol({ holder, leaseMs, inUse: () => admission.inUse + this.#leaving })
  }

  /** Uses the slots of the pool behind this link from now on. */
  connect(link: SlotLink): void {
    this.#options.admission.share(this)
    this.#link = link
    this.#beat()
  }

  /** Call it when calls came, ended, or began to wait. */
  changed(): void {
    if (this.#link !== null && this.#waiting() > this.#reportedWaiting) this.sync()
  }

  /** The next message to the pool. */
  message(): SlotSync {
    const ages = this.#options.admission.ages(this.#free(), mostAges)
    this.#reportedWaiting = ages.length
    return this.#protocol.message(ages)
  }

  leaseIsValid(): boolean {
    return this.#protocol.leaseIsValid(this.#clocks())
  }

  /** Slots that calls here use or may use. */
  get usable(): number {
    return this.leaseIsValid() ? this.#protocol.slots - this.#leaving : 0
  }

  /** True if waiting calls can get a slot: the gateway has some, or the pool answers. */
  get isServed(): boolean {
    return this.usable > 0 || (this.leaseIsValid() && this.#isAnswering)
  }

  released(): void {
    const { admission, clock } = this.#options
    if (this.#link === null || !this.#protocol.contended || !this.#mayGive) return
    // The call here that has waited longest would get the slot.
    const [age = 0] = admission.ages(Math.max(0, this.#free() - 1), 1)
    if (this.#protocol.mayKeepFor(age, this.#clocks())) return
    const give = (): void => {
      this.#leaving--
      if (!this.#mayGive) return this.#apply()
      this.#protocol.returnSlot()
      this.sync()
    }
    this.#leaving++
    this.#apply()
    const { slotCooldownMs } = admission.snapshot()
    if (slotCooldownMs === 0) give()
    else clock.after(slotCooldownMs, give)
  }

  /** Sends a message, and applies the answer. Returns true to send another message at once. */
  async #exchange(): Promise<boolean> {
    const link = this.#link
    if (link === null) return false
    const sent = { ...this.#clocks(), joinCount: this.#protocol.joinCount }
    this.#sentMs = sent.monotonicMs
    const answer = await link.sync(this.message())
    this.#sentMs = null
    this.#isAway = answer === null
    if (answer !== null) return this.#onAnswer(answer, sent)
    this.#keepUnreported()
    return false
  }

  /** Applies an answer of the pool. Returns true to send another message at once. */
  #onAnswer(answer: SlotAnswer, sent: BothClocks & { readonly joinCount: number }): boolean {
    const before = this.#protocol.slots
    const joins = this.#protocol.applyAnswer(answer, sent)
    this.#reportedWaiting = Math.max(0, this.#reportedWaiting - Math.max(0, this.#protocol.slots - before))
    this.#apply()
    // Give slots back only after an answer: without a pool, this gateway keeps its slots.
    const mayGive = this.#protocol.contended || this.#isLongIdle()
    return joins || (mayGive && this.#giveIdle()) || this.#waiting() > this.#reportedWaiting
  }

  /** True if the pool answers, as far as the gateway knows. */
  get #isAnswering(): boolean {
    if (this.#isAway) return false
    return this.#sentMs === null || this.#options.clock.now() - this.#sentMs < noReplyMs
  }

  get #mayGive(): boolean {
    return this.#isAnswering && this.#protocol.mayReturn
  }

  #keepUnreported(): void {
    if (this.#protocol.keepUnreported()) this.#apply()
  }

  #isLongIdle(): boolean {
    const sinceMs = this.#idleSinceMs
    return sinceMs !== null && this.#options.clock.now() - sinceMs >= longestIdleMs
  }

  /** Gives back idle slots. Returns true if there were any. */
  #giveIdle(): boolean {
    if (!this.#protocol.returnIdle()) return false
    this.#idleSinceMs = null
    this.#apply()
    return true
  }

  /** Waiting calls without a slot here, at most `mostAges`. */
  #waiting(): number {
    const { admission } = this.#options
    return Math.min(mostAges, Math.max(0, admission.demandNow - admission.snapshot().active - this.#free()))
  }

  /** Held slots that no call uses. */
  #free(): number {
    return Math.max(0, this.#protocol.slots - this.#leaving - this.#options.admission.snapshot().active)
  }

  #apply(): void {
    this.#options.admission.setCeiling(this.usable)
  }

  #beat(): void {
    const nowMs = this.#options.clock.now()
    if (this.#protocol.idle === 0) this.#idleSinceMs = null
    else this.#idleSinceMs ??= nowMs
    if (!this.#isAnswering) this.#protocol.keepUnreported()
    // After the lease no call may begin.
    this.#apply()
    this.sync()
    const nextMs = this.#waiting() > 0 ? waitingHeartbeatMs : heartbeatMs
    this.#options.clock.after(nextMs, () => this.#beat(), { background: true })
  }

  #clocks(): BothClocks {
    const { clock } = this.#options
    return { monotonicMs: clock.now(), wallMs: clock.wallTime() }
  }
}
