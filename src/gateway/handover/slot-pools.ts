import type { Clock } from '../../call/clock.ts'
import type { LocalAdmission } from '../admission/local-admission.ts'
import type { SharedSlots } from '../admission/shared-slots.ts'
import { type SlotAnswer, SlotPool, type SlotSync } from '../admission/slot-pool.ts'

/** The slots of one upstream in this gateway. */
export interface UpstreamSlots {
  /** Empty for the default one. */
  readonly name: string
  readonly admission: LocalAdmission
  readonly slots: Pick<
    SharedSlots,
    'changed' | 'connect' | 'disconnect' | 'drain' | 'goOnAlone' | 'release' | 'tell'
  >
}

export interface SlotPoolsOptions {
  readonly instance: string
  readonly clock: Clock
  /** This gateway's own; the default one's is not among them if its pool is elsewhere. */
  readonly own: () => Iterable<UpstreamSlots>
  /** There is news for this holder, another gateway: it is to ask. */
  readonly wake: (holder: string) => void
}

/** The slots of each upstream, as long as gateways before this one hold some of them: it holds its own like the others. */
export class SlotPools {
  readonly #options: SlotPoolsOptions
  readonly #pools = new Map<string, SlotPool>()
  #made = 0

  constructor(options: SlotPoolsOptions) {
    this.#options = options
  }

  /**
   * This gateway may hold slots of the default upstream, which has `max`, and of these: nobody else gets any before it has said
   * which.
   */
  expect(holder: string, max: number, names: readonly string[]): void {
    this.#poolOf('', max).expect(holder)
    // Of an upstream that is only known there its gateway will say how many slots there are.
    for (const name of names) if (this.#own(name) !== undefined) this.#poolOf(name, max).expect(holder)
  }

  /** `max`: the upstream's limit where the message comes from, which counts if it is not known here. */
  sync(name: string, max: number, message: SlotSync): SlotAnswer {
    const answer = this.#poolOf(name, max).sync(message, this.#options.clock.now())
    this.#wake()
    return answer
  }

  /** Limits have changed, or upstreams have come. */
  refresh(): void {
    for (const own of this.#options.own()) {
      const pool = this.#pools.get(own.name)
      if (pool === undefined) continue
      pool.setMax(own.admission.snapshot().maxConcurrent, this.#options.clock.now())
      this.#connect(own, pool)
    }
    this.#wake()
  }

  leave(holder: string): void {
    for (const pool of this.#pools.values()) pool.leave(holder, this.#options.clock.now())
    this.#wake()
  }

  /** Nobody else holds any. */
  end(): void {
    this.#pools.clear()
    for (const { slots } of this.#options.own()) slots.release()
  }

  /** They are in another gateway from now on. */
  move(): void {
    this.#pools.clear()
    for (const { slots } of this.#options.own()) slots.disconnect()
  }

  #own(name: string): UpstreamSlots | undefined {
    return Array.from(this.#options.own()).find((each) => each.name === name)
  }

  #poolOf(name: string, max: number): SlotPool {
    const known = this.#pools.get(name)
    if (known !== undefined) return known
    const { instance, clock } = this.#options
    const own = this.#own(name)
    const pool = new SlotPool({
      max: own?.admission.snapshot().maxConcurrent ?? max,
      // Who has ended is seen by its connection, or its process.
      leaseMs: Infinity,
      epoch: `${instance} ${++this.#made}`,
      nowMs: clock.now(),
    })
    this.#pools.set(name, pool)
    if (own !== undefined) this.#connect(own, pool)
    return pool
  }

  #connect({ name, slots, admission }: UpstreamSlots, pool: SlotPool): void {
    slots.connect({
      sync: async (message) => {
        const isThere = this.#pools.get(name) === pool
        return isThere ? this.sync(name, admission.snapshot().maxConcurrent, message) : null
      },
    })
  }

  /** Those for whom there is news ask for it. */
  #wake(): void {
    const { instance, wake } = this.#options
    for (const [name, pool] of this.#pools) {
      for (const holder of pool.news()) {
        if (holder === instance) this.#own(name)?.slots.tell()
        else wake(holder)
      }
    }
  }
}
