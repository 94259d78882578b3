import type { Clock } from '../../call/clock.ts'
import type {
  DrainListener,
  DrainOrder,
  DrainReport,
  PredecessorClaim,
  PredecessorGateway,
  RawLogSwitch,
} from '../../control/control-messages.ts'
import type { Admission } from '../admission/admission.ts'
import type { Budget } from '../admission/budget.ts'
import { SlotShares } from '../admission/slot-shares.ts'
import { type ProcessIdentity, isAlive } from '../../lib/process-identity.ts'

/** How often those are looked at that should report and do not. */
const lookEveryMs = 500

export interface FormersOptions {
  readonly admission: Admission
  readonly budget: Budget
  /** Whether calls are refused for want of tokens, so that those who finish must know what is taken elsewhere. */
  readonly budgetRejects: boolean
  readonly clock: Clock
}

interface Predecessor {
  readonly identity: ProcessIdentity
  /** `null` while it does not report. */
  readonly tell: ((order: DrainOrder) => void) | null
  readonly calls: number
  /** Tokens that its calls in flight may still use. */
  readonly reserved: number
  /** Tokens that its own budget counts, as it last said. */
  readonly counted: number | null
}

/** The gateways that this one has taken over from, as long as they finish calls: who they are, and what they may use. */
export class Predecessors {
  readonly #options: FormersOptions
  readonly #shares: SlotShares
  readonly #predecessors = new Map<string, Predecessor>()
  #isPlanned = false
  #hasMoved = false
  #stopWithinMs: number | null = null
  #rawLog: RawLogSwitch | null = null
  #over: PromiseWithResolvers<void> | null = null

  constructor(options: FormersOptions) {
    this.#options = options
    this.#shares = new SlotShares(options.admission.snapshot().maxConcurrent)
  }

  /** Those that have calls. */
  list(): readonly PredecessorGateway[] {
    const all = [...this.#predecessors].map(([instance, { identity, calls }]) => ({
      instance,
      pid: identity.pid,
      calls,
    }))
    return all.filter(({ calls }) => calls > 0)
  }

  /** All slots that this gateway and those before it may be using. */
  get slots(): number {
    const { maxConcurrent, active } = this.#options.admission.snapshot()
    return Math.max(maxConcurrent, active + this.#shares.reserved)
  }

  /** Keeps slots for a gateway that will report. */
  expect({ instance, identity, slots, reserved = 0 }: PredecessorClaim): void {
    if (this.#predecessors.has(instance)) return
    if (this.#hasMoved) return
    this.#predecessors.set(instance, { identity, tell: null, calls: 0, reserved, counted: null })
    this.#shares.reserve(instance, slots)
    this.#options.admission.lend(this.#shares.lent)
    this.#shareBudget()
    this.#lookAfter(instance)
  }

  /** The number of slots has changed. */
  setMax(maxConcurrent: number): void {
    this.#shares.setMax(maxConcurrent)
    this.changed()
  }

  /** What was switched here counts for the calls that they finish, too. */
  switchRawLog(to: RawLogSwitch): void {
    this.#rawLog = to
    for (const { tell } of this.#predecessors.values()) tell?.({ rawLog: to })
  }

  /** What is in use here has changed: somebody may get a slot. */
  changed(): void {
    if (this.#isPlanned || this.#predecessors.size === 0) return
    this.#isPlanned = true
    setImmediate(() => {
      this.#isPlanned = false
      this.#share()
    })
  }

  listen(tell: (order: DrainOrder) => void): DrainListener {
    let instance: string | null = null
    return {
      report: (report) => {
        if (instance === null && this.#stopWithinMs !== null) tell({ stopWithinMs: this.#stopWithinMs })
        if (instance === null && this.#rawLog !== null) tell({ rawLog: this.#rawLog })
        if (instance === null) this.#shares.join(report.instance)
        instance = report.instance
        this.#take(report, tell)
      },
      ended: () => {
        if (instance !== null && this.#predecessors.get(instance)?.tell === tell) this.#leave(instance)
      },
    }
  }

  /** Sends those that report here to this gateway's own successor, which shares the slots from now on. */
  moveOn(): readonly PredecessorClaim[] {
    const claims = [...this.#predecessors].map(([instance, { identity, reserved }]) => {
      return { instance, identity, slots: this.#shares.reservedBy(instance), reserved }
    })
    this.#hasMoved = true
    for (const { tell } of this.#predecessors.values()) tell?.({ moved: true })
    return claims
  }

  /** This gateway does not come to take over. */
  forget(): void {
    for (const instance of this.#predecessors.keys()) this.#leave(instance)
  }

  /** Has them stop as well, also those that have yet to report; resolves when none is left. */
  stop(withinMs: number): Promise<void> {
    if (this.#hasMoved) return Promise.resolve()
    this.#stopWithinMs = withinMs
    this.#over ??= Promise.withResolvers()
    for (const { tell } of this.#predecessors.values()) tell?.({ stopWithinMs: withinMs })
    this.#resolveIfOver()
    return this.#over.promise
  }

  #take(report: DrainReport, tell: Predecessor['tell']): void {
    const { instance, identity, slots, used, predecessors, reserved = 0, counted = null } = report
    this.#predecessors.set(instance, { identity, tell, calls: slots.wanted, reserved, counted })
    this.#shares.report(instance, slots)
    for (const claim of predecessors) this.expect(claim)
    for (const usage of used) this.#options.budget.addTo(usage)
    this.#share()
  }

  #leave(instance: string): void {
    this.#predecessors.delete(instance)
    this.#shares.leave(instance)
    this.#share()
    this.#resolveIfOver()
  }

  #share(): void {
    if (this.#hasMoved) return
    const { admission } = this.#options
    admission.lend(this.#shares.lent)
    for (const { holder, seq, slots } of this.#shares.grants(admission.snapshot().active)) {
      this.#predecessors.get(holder)?.tell?.({ grant: { seq, slots } })
    }
    this.#shareBudget()
  }

  /** Keeps what their calls may use free here, and has them keep free what is taken elsewhere. */
  #shareBudget(): void {
    const { budget, budgetRejects, clock } = this.#options
    const predecessors = [...this.#predecessors.values()]
    const reserved = predecessors.reduce((sum, predecessor) => sum + predecessor.reserved, 0)
    budget.reserveElsewhere(reserved)
    if (!budgetRejects) return
    const { totalUsed } = budget.snapshot(clock.wallTime())
    for (const predecessor of predecessors) {
      if (predecessor.counted === null) continue
      const unknownToIt = Math.max(0, totalUsed - predecessor.counted)
      predecessor.tell?.({ taken: unknownToIt + budget.reserved + reserved - predecessor.reserved })
    }
  }

  /** One that has been killed before it could report would keep its slots for ever. */
  #lookAfter(instance: string): void {
    const { clock } = this.#options
    clock.after(
      lookEveryMs,
      () => {
        const predecessor = this.#predecessors.get(instance)
        if (predecessor === undefined || predecessor.tell !== null) return
        if (isAlive(predecessor.identity)) this.#lookAfter(instance)
        else this.#leave(instance)
      },
      { background: true },
    )
  }

  #resolveIfOver(): void {
    if (this.#predecessors.size === 0) this.#over?.resolve()
  }
}
