import type { Clock } from '../../call/clock.ts'
import type { PredecessorSlots } from '../../control/control-messages.ts'
import type { SlotLimiter } from '../admission/slot-limiter.ts'

/** The slots of one upstream in a gateway. */
export interface Limiter {
  /** The name of the upstream. */
  readonly name: string
  readonly admission: SlotLimiter
  /** The slots are shared through a database, which counts both gateways of a restart. */
  readonly isShared: boolean
}

/**
 * The slots of one upstream that a replaced gateway still uses: those that its calls hold or wait for. A slot
 * that no call here needs goes to the successor. A call that is tried again later needs a slot granted again.
 */
export class ShrinkingSlots {
  readonly #limiter: Limiter
  readonly #clock: Clock
  /** Called when the successor should get a report soon. */
  readonly #onChange: () => void
  #holding = 0
  /** Slots that cool before they go to the successor. */
  #leaving = 0

  /** `isNew`: the upstream was added after the restart, so the successor has granted no slot yet. */
  constructor(limiter: Limiter, clock: Clock, isNew: boolean, onChange: () => void) {
    this.#limiter = limiter
    this.#clock = clock
    this.#onChange = onChange
    if (limiter.isShared) return
    if (isNew) this.#hold(0)
    else this.#holding = limiter.admission.fixCeiling()
    limiter.admission.watch(() => this.#update())
    this.#update()
  }

  report(): PredecessorSlots {
    const { name, admission, isShared } = this.#limiter
    const wants = this.#wants
    const clients = Array.from(admission.callsOfLimited, ([of, slots]) => ({ of, slots }))
    return {
      name,
      max: admission.snapshot().maxConcurrent,
      holding: isShared ? wants : this.#holding,
      wants,
      clients: clients.filter(({ slots }) => slots > 0),
    }
  }

  /** Uses further slots that the successor grants. */
  grow(by: number): void {
    if (by > 0 && !this.#limiter.isShared) this.#hold(this.#holding + by)
  }

  /** Uses one slot if calls need any, because no successor answers. */
  useOneSlot(): void {
    if (this.#wants > 0 && this.#holding === 0 && !this.#limiter.isShared) this.#hold(1)
  }

  get #wants(): number {
    const { admission } = this.#limiter
    return Math.max(admission.inUse, admission.demand)
  }

  #hold(slots: number): void {
    this.#holding = slots
    this.#limiter.admission.setCeiling(slots)
  }

  #update(): void {
    const wants = this.#wants
    const idle = this.#holding - this.#leaving - wants
    if (idle > 0) this.#giveBack(idle)
    else if (wants > this.#holding) this.#onChange()
  }

  #giveBack(slots: number): void {
    const give = (): void => {
      this.#leaving -= slots
      const idle = this.#holding - this.#leaving - this.#wants
      if (idle <= 0) return
      this.#hold(this.#holding - Math.min(slots, idle))
      this.#onChange()
    }
    this.#leaving += slots
    const { slotCooldownMs } = this.#limiter.admission.snapshot()
    if (slotCooldownMs === 0) give()
    else this.#clock.after(slotCooldownMs, give)
  }
}
