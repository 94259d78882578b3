import type { Clock } from '../../call/clock.ts'
import { type BothClocks, KeptSlots, type SlotAnswer, type SlotSync, mostAges } from './kept-slots.ts'
import type { SlotSharing } from './admission.ts'
import type { LocalAdmission } from './local-admission.ts'
import { oneAtATime } from '../../lib/one-at-a-time.ts'

/** Carries messages to the pool, wherever that is. */
export interface SlotLink {
  /** Resolves with the answer; with null if it was lost, or takes too long. Never rejects. */
  sync(message: SlotSync): Promise<SlotAnswer | null>
}

/** The gateway, as far as a limit that is elsewhere needs it. */
export interface LimitedGateway {
  /** `held`: the slots that it may use, whether or not they are in use. */
  figures(): { readonly active: number; readonly queued: number; readonly held: number }
  /** There is news for it. */
  wake(): void
  /** So many slots there are, for all. */
  limit(maxConcurrent: number): void
  /** So many gateways share, this one among them. Told before calls get the slots of the same answer. */
  shareWith(gateways: number): void
  /** Its ids carry this number from now on. */
  number(number: number): void
}

export interface SharedSlotsOptions {
  readonly admission: LocalAdmission
  readonly clock: Clock
  readonly holder: string
  readonly leaseMs: number
}

const heartbeatMs = 1000
/** While calls wait for a slot of the pool. */
const waitingHeartbeatMs = 100
/** A slot that nobody has used for so long goes back. */
const keptIdleMs = 1000
/** A pool that has not answered for so long can give slots to nobody: what is held is kept. */
const silentMs = 200

/**
 * Has one gateway use no more slots than the pool lets it hold, and tells the pool what it needs. Without a link all slots are
 * its own.
 */
export class SharedSlots implements SlotSharing {
  readonly #options: SharedSlotsOptions
  readonly #kept: KeptSlots
  #link: SlotLink | null = null
  /** Slots that calls have given back and that go to the pool once they have cooled. */
  #leaving = 0
  /** Waiting calls of which the pool knows. */
  #told = 0
  #idleSinceMs: number | null = null
  /** When the message was sent that is not answered yet. */
  #askedMs: number | null = null
  /** The last message was lost. */
  #isAway = false

  /** Asks the pool, now or once it has answered what it is asked. */
  readonly tell: () => void = oneAtATime(() => this.#ask())

  constructor(options: SharedSlotsOptions) {
    const { admission, holder, leaseMs } = options
    this.#options = options
    this.#kept = new KeptSlots({ holder, leaseMs, inUse: () => admission.inUse + this.#leaving })
  }

  /** From here on it uses what the pool behind this link lets it have. */
  connect(link: SlotLink): void {
    this.#options.admission.share(this)
    this.#link = link
    this.#beat()
  }

  /** Calls may have come, ended, or begun to wait. */
  changed(): void {
    if (this.#link !== null && this.#waiting() > this.#told) this.tell()
  }

  /** What the pool is to know. */
  message(): SlotSync {
    const ages = this.#options.admission.ages(this.#free(), mostAges)
    this.#told = ages.length
    return this.#kept.message(ages)
  }

  isSure(): boolean {
    return this.#kept.isSure(this.#clocks())
  }

  /** Slots that calls here may use, or do. */
  get usable(): number {
    return this.isSure() ? this.#kept.held - this.#leaving : 0
  }

  /** Whether a call that waits may hope for a slot: there are some here, or the pool can be asked for one. */
  get isServed(): boolean {
    return this.usable > 0 || (this.isSure() && this.#answers)
  }

  released(): void {
    const { admission, clock } = this.#options
    if (this.#link === null || !this.#kept.contended || !this.#mayGive) return
    // Of those that wait here the first has the slot next.
    const [age = 0] = admission.ages(Math.max(0, this.#free() - 1), 1)
    if (this.#kept.mayKeepFor(age, this.#clocks())) return
    const give = (): void => {
      this.#leaving--
      if (!this.#mayGive) return this.#apply()
      this.#kept.give()
      this.tell()
    }
    this.#leaving++
    this.#apply()
    const { slotCooldownMs } = admission.snapshot()
    if (slotCooldownMs === 0) give()
    else clock.after(slotCooldownMs, give)
  }

  /** True: once more. */
  async #ask(): Promise<boolean> {
    const link = this.#link
    if (link === null) return false
    const sent = { ...this.#clocks(), life: this.#kept.life }
    this.#askedMs = sent.monotonicMs
    const answer = await link.sync(this.message())
    this.#askedMs = null
    this.#isAway = answer === null
    if (answer !== null) return this.#take(answer, sent)
    this.#keepUntold()
    return false
  }

  /** True: the pool is to be told of it at once. */
  #take(answer: SlotAnswer, sent: BothClocks & { readonly life: number }): boolean {
    const before = this.#kept.held
    const joins = this.#kept.answered(answer, sent)
    this.#told = Math.max(0, this.#told - Math.max(0, this.#kept.held - before))
    this.#apply()
    // Only with an answer, as the pool can be told: cut off from it, this gateway goes on with what it holds.
    const mayGive = this.#kept.contended || this.#isLongIdle()
    return joins || (mayGive && this.#giveIdle()) || this.#waiting() > this.#told
  }

  /** Whether the pool can be told that slots are free, as far as is known. */
  get #answers(): boolean {
    if (this.#isAway) return false
    return this.#askedMs === null || this.#options.clock.now() - this.#askedMs < silentMs
  }

  get #mayGive(): boolean {
    return this.#answers && this.#kept.mayGive
  }

  #keepUntold(): void {
    if (this.#kept.keepUntold()) this.#apply()
  }

  #isLongIdle(): boolean {
    const sinceMs = this.#idleSinceMs
    return sinceMs !== null && this.#options.clock.now() - sinceMs >= keptIdleMs
  }

  /** Whether there was anything to give. */
  #giveIdle(): boolean {
    if (!this.#kept.giveIdle()) return false
    this.#idleSinceMs = null
    this.#apply()
    return true
  }

  /** Calls that wait for a slot which is not held yet, as far as the pool is told of them. */
  #waiting(): number {
    const { admission } = this.#options
    return Math.min(mostAges, Math.max(0, admission.wantedNow - admission.snapshot().active - this.#free()))
  }

  /** Held, and not used by a call. */
  #free(): number {
    return Math.max(0, this.#kept.held - this.#leaving - this.#options.admission.snapshot().active)
  }

  #apply(): void {
    this.#options.admission.useAtMost(this.usable)
  }

  #beat(): void {
    const nowMs = this.#options.clock.now()
    if (this.#kept.idle === 0) this.#idleSinceMs = null
    else this.#idleSinceMs ??= nowMs
    if (!this.#answers) this.#kept.keepUntold()
    // Once it is not sure any more of what it holds, nobody is let in.
    this.#apply()
    this.tell()
    const nextMs = this.#waiting() > 0 ? waitingHeartbeatMs : heartbeatMs
    this.#options.clock.after(nextMs, () => this.#beat(), { background: true })
  }

  #clocks(): BothClocks {
    const { clock } = this.#options
    return { monotonicMs: clock.now(), wallMs: clock.wallTime() }
  }
}
