import type { MinuteUsage } from '../../call/call-sink.ts'
import type { Clock } from '../../call/clock.ts'
import type { ControlClient, DrainConnection } from '../../control/control-client.ts'
import type {
  DrainOrder,
  DrainReport,
  PredecessorClaim,
  RawLogSwitch,
} from '../../control/control-messages.ts'
import type { Admission } from '../admission/admission.ts'
import type { Budget } from '../admission/budget.ts'
import { GrantedSlots } from '../admission/granted-slots.ts'
import type { ProcessIdentity } from '../../lib/process-identity.ts'

const retryMs = 50
/** For a successor to take the last report. */
const lastReportMs = 1000

export interface DrainingOptions {
  readonly client: ControlClient
  readonly admission: Admission
  readonly budget: Budget
  readonly clock: Clock
  readonly instance: string
  readonly identity: ProcessIdentity
  /** Those that reported to this gateway, and are now on their way to its successor. */
  readonly predecessors: readonly PredecessorClaim[]
  /** The whole gateway is told to stop. */
  readonly onStop: (withinMs: number) => void
  readonly onRawLog: (to: RawLogSwitch) => void
}

/**
 * Reports to whichever gateway is the successor, for as long as this one finishes its calls, and uses no more slots
 * than it is granted.
 */
export class Draining {
  readonly #options: DrainingOptions
  readonly #granted: GrantedSlots
  #predecessors: readonly PredecessorClaim[]
  #connection: DrainConnection | null = null
  #used: MinuteUsage[] = []
  /** Tokens that nobody could be told of are in the database before another gateway reads it. */
  #keepsUsed = true
  #isPlanned = false
  #last = ''
  #isOver = false

  /** `used` is what calls used that ended since the handover was told. */
  constructor(options: DrainingOptions, used: readonly MinuteUsage[]) {
    this.#options = options
    const others = options.predecessors.reduce((sum, { slots }) => sum + slots, 0)
    this.#granted = new GrantedSlots(Math.max(0, options.admission.snapshot().maxConcurrent - others))
    this.#predecessors = options.predecessors
    this.#used = [...used]
    void this.#keepReporting()
  }

  changed(): void {
    if (this.#isPlanned || this.#isOver) return
    this.#isPlanned = true
    setImmediate(() => {
      this.#isPlanned = false
      this.#report()
    })
  }

  used(usage: MinuteUsage): void {
    if (!this.#keepsUsed) return
    this.#used.push(usage)
    this.changed()
  }

  /** All is finished. Resolves when the successor knows, or is gone. */
  async close(): Promise<void> {
    this.#report()
    this.#isOver = true
    this.#connection?.end()
    await Promise.race([this.#connection?.closed, this.#options.clock.delay(lastReportMs)])
  }

  async #keepReporting(): Promise<void> {
    const { client, clock } = this.#options
    while (!this.#isOver) {
      this.#granted.startAnew()
      this.#last = ''
      const connection = await client.reportDraining((order) => this.#follow(order))
      if (connection === null) {
        // Nobody is there to grant more, and whoever waits is served all the same.
        this.#mayUse(Math.max(1, this.#granted.slots))
        await clock.delay(retryMs)
        continue
      }
      this.#connection = connection
      this.#keepsUsed = true
      this.#report()
      await connection.closed
      // Where it has not sent us on, it has been killed.
      if (this.#connection !== null) this.#forgetUsed()
      this.#connection = null
    }
  }

  #follow(order: DrainOrder): void {
    if ('grant' in order) {
      this.#granted.granted(order.grant.seq, order.grant.slots)
      this.#mayUse(order.grant.slots)
      this.#report()
    } else if ('moved' in order) {
      this.#connection?.end()
      this.#connection = null
    } else if ('rawLog' in order) {
      this.#options.onRawLog(order.rawLog)
    } else if ('taken' in order) {
      this.#options.budget.reserveElsewhere(order.taken)
    } else if ('stopWithinMs' in order) {
      this.#options.onStop(order.stopWithinMs)
    }
  }

  #mayUse(slots: number): void {
    const { admission } = this.#options
    admission.lend(admission.snapshot().maxConcurrent - slots)
  }

  #report(): void {
    const connection = this.#connection
    if (connection === null || this.#isOver) return
    const { instance, identity, admission, budget, clock } = this.#options
    const { active, queued } = admission.snapshot()
    const slots = this.#granted.report(active, queued)
    this.#mayUse(slots.slots)
    const used = this.#used
    const { reserved } = budget
    const counted = budget.snapshot(clock.wallTime()).totalUsed
    const predecessors = this.#predecessors
    const report: DrainReport = { instance, identity, slots, used, reserved, counted, predecessors }
    const said = JSON.stringify([slots, reserved])
    if (said === this.#last && used.length === 0) return
    this.#last = said
    this.#used = []
    this.#predecessors = []
    connection.send(report)
  }

  #forgetUsed(): void {
    this.#keepsUsed = false
    this.#used = []
  }
}
