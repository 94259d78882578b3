/** What a gateway that finishes its calls says of the slots that it may use. */
export interface SlotReport {
  /** Of the last grant that it obeys; 0 before the first. */
  readonly seq: number
  /** How many it may use. It may lower the number itself, and never raises it. */
  readonly slots: number
  readonly active: number
  /** How many it could use: calls in flight, and calls that wait. */
  readonly wanted: number
}

/** How many slots a holder may use from now on. */
export interface SlotGrant {
  readonly holder: string
  readonly seq: number
  readonly slots: number
}

interface Holder {
  /** No more than so many can be in use there. */
  reserved: number
  slots: number
  wanted: number
  seq: number
  reports: boolean
}

/**
 * Shares one gateway's slots with those that it has taken over from, so that all together never use more than
 * there are. A pure machine: it is told what the holders report, and says what each of them may use.
 *
 * Those who wait at a holder came before everybody here, so the holders are served first. A slot counts as used
 * from the grant on; a grant that is taken back counts until the holder says that it obeys.
 */
export class SlotShares {
  #max: number
  readonly #holders = new Map<string, Holder>()

  constructor(max: number) {
    this.#max = max
  }

  /** Slots of this gateway that it must not use itself; more than it has, where holders could use more. */
  get lent(): number {
    const each = [...this.#holders.values()]
    return sum(each.map(({ reserved, wanted }) => Math.max(reserved, Math.min(wanted, this.#max))))
  }

  /** What the holders may be using. */
  get reserved(): number {
    return sum([...this.#holders.values()].map(({ reserved }) => reserved))
  }

  reservedBy(holder: string): number {
    return this.#holders.get(holder)?.reserved ?? 0
  }

  setMax(max: number): void {
    this.#max = max
  }

  /** Keeps slots for a holder that has not reported yet; changes nothing for one that is known. */
  reserve(holder: string, slots: number): void {
    if (this.#holders.has(holder)) return
    this.#holders.set(holder, { reserved: slots, slots, wanted: 0, seq: 0, reports: false })
  }

  /** It reports from now on, for the first time or on a new connection, and has obeyed no grant yet. */
  join(holder: string): void {
    const known = this.#holders.get(holder)
    if (known !== undefined) known.seq = 0
  }

  /** A report that crossed a grant tells only what is wanted: the next one obeys. */
  report(holder: string, { seq, slots, active, wanted }: SlotReport): void {
    this.reserve(holder, slots)
    const known = this.#holders.get(holder)
    if (known === undefined) return
    known.reports = true
    known.wanted = wanted
    if (seq !== known.seq) return
    known.slots = slots
    known.reserved = Math.max(slots, active)
  }

  /** It is gone, and with it all that it used. */
  leave(holder: string): void {
    this.#holders.delete(holder)
  }

  /** What is to be told to whom, where `ownActive` slots are in use here. `lent` must be obeyed here already. */
  grants(ownActive: number): readonly SlotGrant[] {
    const grants: SlotGrant[] = []
    let free = this.#max - ownActive - this.reserved
    let left = this.#max
    for (const [name, holder] of this.#holders) {
      const { slots, wanted, reserved } = holder
      let allowed = Math.min(slots, left)
      if (allowed === slots && wanted > slots && free > 0) {
        allowed = Math.min(wanted, reserved + free)
        free -= Math.max(0, allowed - reserved)
      }
      left -= Math.min(left, allowed)
      if (!holder.reports || allowed === slots) continue
      holder.seq += 1
      holder.slots = allowed
      holder.reserved = Math.max(reserved, allowed)
      grants.push({ holder: name, seq: holder.seq, slots: allowed })
    }
    return grants
  }
}

/** The other side of {@link SlotShares}: what a gateway that finishes its calls may still use. */
export class GrantedSlots {
  #slots: number
  #seq = 0

  constructor(slots: number) {
    this.#slots = slots
  }

  get slots(): number {
    return this.#slots
  }

  /** It will report to another gateway from now on, whose grants are counted anew. */
  startAnew(): void {
    this.#seq = 0
  }

  granted(seq: number, slots: number): void {
    this.#seq = seq
    this.#slots = slots
  }

  /** Gives up what its calls cannot use, and says so. */
  report(active: number, queued: number): SlotReport {
    const wanted = active + queued
    this.#slots = Math.min(this.#slots, wanted)
    return { seq: this.#seq, slots: this.#slots, active, wanted }
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0)
}
