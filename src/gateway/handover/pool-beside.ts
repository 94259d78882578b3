import type { Clock } from '../../call/clock.ts'
import { KeptSlots } from '../admission/kept-slots.ts'
import type { LocalAdmission } from '../admission/local-admission.ts'
import { oneAtATime } from '../admission/one-at-a-time.ts'
import type { SlotLink } from '../admission/shared-slots.ts'
import type { SlotSync } from '../admission/slot-pool.ts'
import type { DrainingSlots } from './draining.ts'

/**
 * Of a gateway whose slots are of a pool elsewhere: what it uses of them it tells its successor, which may not share that pool,
 * and it asks for none.
 */
export class PoolBeside implements DrainingSlots {
  readonly #clock: Clock
  readonly #kept: KeptSlots
  #link: SlotLink | null = null
  readonly tell: () => void = oneAtATime(() => this.#ask())

  constructor({
    admission,
    clock,
    instance,
  }: {
    readonly admission: LocalAdmission
    readonly clock: Clock
    readonly instance: string
  }) {
    this.#clock = clock
    this.#kept = new KeptSlots({ holder: instance, leaseMs: Infinity, inUse: () => admission.inUse })
  }

  connect(link: SlotLink): void {
    this.#link = link
    this.tell()
  }

  disconnect(): void {
    this.#link = null
  }

  drain(): void {}

  goOnAlone(): void {}

  message(): SlotSync {
    this.#kept.giveIdle()
    return this.#kept.message([])
  }

  /** True: once more. */
  async #ask(): Promise<boolean> {
    const sent = { monotonicMs: this.#clock.now(), wallMs: this.#clock.wallTime(), life: this.#kept.life }
    const answer = (await this.#link?.sync(this.message())) ?? null
    return answer !== null && this.#kept.answered(answer, sent)
  }
}
