import type { MinuteUsage } from '../../call/call-sink.ts'
import { ControlClient, type DrainConnection } from '../../control/control-client.ts'
import type {
  CallsAnswer,
  DrainOrder,
  PredecessorClaim,
  RawLogSwitch,
} from '../../control/control-messages.ts'
import { ownIdentity } from '../../lib/process-identity.ts'
import type { LocalAdmission } from '../admission/local-admission.ts'
import { GrantedSlots } from '../admission/slot-shares.ts'
import { type SharedParts, onceATurn } from './predecessors.ts'

const retryMs = 50
/** For a successor to take the last report. */
const lastReportMs = 1000

export interface DrainingOptions extends SharedParts {
  readonly instance: string
  /** Where the control socket is. */
  readonly folder: string
  /** The whole gateway is told to stop. */
  readonly onStop: (withinMs: number) => void
  /** Tells the calls here, or cancels the one of this id. */
  readonly onAsk: (cancel: string | null) => Promise<Omit<CallsAnswer, 'seq'>>
  /** The payload log was switched. */
  readonly onRawLog: (to: RawLogSwitch) => void
}

/**
 * Reports to whichever gateway is the successor, for as long as this one finishes its calls, and uses no more slots
 * than it is granted.
 */
export class Draining {
  /** To be called when what is in use here has changed. */
  readonly changed: () => void = onceATurn(() => this.#report())
  readonly #options: DrainingOptions
  readonly #identity = ownIdentity()
  readonly #granted: GrantedSlots
  #connection: DrainConnection | null = null
  /** Those that reported to this gateway, and are now on their way to its successor; until it has been told. */
  #claims: readonly PredecessorClaim[]
  /** What calls used that ended since the last report. */
  #used: MinuteUsage[]
  /** Tokens that nobody could be told of are in the database before another gateway reads it. */
  #keepsUsed = true
  #last = ''
  #isOver = false

  /** `used` is what calls used that ended since the handover was told. */
  constructor(options: DrainingOptions, claims: readonly PredecessorClaim[], used: readonly MinuteUsage[]) {
    this.#options = options
    this.#claims = claims
    this.#used = [...used]
    const others = claims.reduce((sum, { slots }) => sum + slots, 0)
    this.#granted = new GrantedSlots(Math.max(0, options.admission.snapshot().maxConcurrent - others))
    void this.#keepReporting()
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
    const { folder, clock } = this.#options
    const client = new ControlClient(folder)
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
      // If it has not sent us on, it has been killed.
      if (this.#connection !== null) {
        this.#keepsUsed = false
        this.#used = []
      }
      this.#connection = null
    }
  }

  #follow(order: DrainOrder): void {
    const { budget, onRawLog, onStop } = this.#options
    if ('grant' in order) {
      this.#granted.granted(order.grant.seq, order.grant.slots)
      this.#mayUse(order.grant.slots)
      this.#report()
    } else if ('moved' in order) {
      this.#connection?.end()
      this.#connection = null
    } else if ('rawLog' in order) onRawLog(order.rawLog)
    else if ('ask' in order) void this.#answer(order.ask)
    else if ('taken' in order) budget.reserveElsewhere(order.taken)
    else onStop(order.stopWithinMs)
  }

  async #answer({
    seq,
    cancel,
  }: Pick<CallsAnswer, 'seq'> & { readonly cancel: string | null }): Promise<void> {
    const answer = { seq, ...(await this.#options.onAsk(cancel)) }
    this.#connection?.send({ answer })
  }

  #mayUse(slots: number): void {
    const { admission } = this.#options
    admission.lend(admission.snapshot().maxConcurrent - slots)
  }

  #report(): void {
    if (this.#connection === null || this.#isOver) return
    const { instance, admission, budget, clock } = this.#options
    const { active } = admission.snapshot()
    const slots = this.#granted.report(active, admission.wanted().calls - active)
    this.#mayUse(slots.slots)
    const { reserved } = budget
    const clients = slotsOfClients(admission)
    const said = JSON.stringify([slots, reserved, clients])
    if (said === this.#last && this.#used.length === 0) return
    this.#last = said
    const counted = budget.snapshot(clock.wallTime()).totalUsed
    const told = { used: this.#used, predecessors: this.#claims, clients }
    this.#used = []
    this.#claims = []
    this.#connection.send({ instance, identity: this.#identity, slots, reserved, counted, ...told })
  }
}

/** Slots that calls of clients with a limit of their own hold here, or could. */
export function slotsOfClients(admission: LocalAdmission): NonNullable<PredecessorClaim['clients']> {
  return [...admission.wanted().byLimited]
    .map(([of, slots]) => ({ of, slots }))
    .filter(({ slots }) => slots > 0)
}
