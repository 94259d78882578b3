import type { MinuteUsage } from '../../call/call-sink.ts'
import { within } from '../../call/clock.ts'
import { ControlClient, type DrainConnection } from '../../control/control-client.ts'
import type {
  CallsAnswer,
  DrainOrder,
  PredecessorClaim,
  RawLogSwitch,
} from '../../control/control-messages.ts'
import { getOrAdd } from '../../lib/get-or-add.ts'
import { ownIdentity } from '../../lib/process-identity.ts'
import type { LocalAdmission } from '../admission/local-admission.ts'
import type { SharedSlots } from '../admission/shared-slots.ts'
import type { SlotAnswer, SlotSync } from '../admission/slot-pool.ts'
import type { SharedParts } from './predecessors.ts'
import type { UpstreamSlots } from './slot-pools.ts'
import { reportFault } from '../../lib/fault.ts'

/** Takes the answer of the pool; null if none comes. */
type Asked = (answer: SlotAnswer | null) => void

const retryMs = 50
/** What changes besides slots is told together. */
const gatherMs = 20
/** For a successor to be found, and to take the last report. */
const lastReportMs = 5000

export interface DrainingOptions extends SharedParts {
  /** Where the control socket is. */
  readonly folder: string
  /** The whole gateway is told to stop. */
  readonly onStop: (withinMs: number) => void
  /** Tells the calls here, or cancels the one of this id. */
  readonly onAsk: (cancel: string | null) => Promise<Omit<CallsAnswer, 'seq'>>
  /** Of each further upstream, also of those that are only in use here. */
  readonly upstreams: () => Iterable<UpstreamSlots>
  /** The payload log was switched. */
  readonly onRawLog: (to: RawLogSwitch) => void
}

/** What a gateway that drains needs of its slots. */
export type DrainingSlots = Pick<
  SharedSlots,
  'connect' | 'disconnect' | 'drain' | 'goOnAlone' | 'message' | 'tell'
>

/**
 * Reports to whichever gateway is the successor, for as long as this one finishes its calls, and uses the slots that it holds
 * of the pool there.
 */
export class Draining {
  readonly #options: DrainingOptions
  readonly #slots: DrainingSlots
  readonly #identity = ownIdentity()
  #connection: DrainConnection | null = null
  /** Messages to pools that are not answered yet, the first one first, by the upstream; that of the default one is empty. */
  readonly #asked = new Map<string, Asked[]>()
  /** Those that reported to this gateway, and are now on their way to its successor; until it has been told. */
  #claims: readonly PredecessorClaim[]
  /** What calls used that ended since the last report. */
  #used: MinuteUsage[]
  /** Tokens that nobody could be told of are in the database before another gateway reads it. */
  #keepsUsed = true
  #isOver = false
  #isPlanned = false

  /** `used` is what calls used that ended since the handover was told. */
  constructor(
    options: DrainingOptions,
    slots: DrainingSlots,
    claims: readonly PredecessorClaim[],
    used: readonly MinuteUsage[],
  ) {
    this.#options = options
    this.#slots = slots
    this.#claims = claims
    this.#used = [...used]
    for (const each of this.#allSlots()) each.drain()
    this.#keepReporting().catch(reportFault)
  }

  used(usage: MinuteUsage): void {
    if (!this.#keepsUsed) return
    this.#used.push(usage)
    this.changed()
  }

  /** To be called when what is in use here has changed. */
  changed(): void {
    if (this.#isPlanned) return
    this.#isPlanned = true
    this.#options.clock.after(gatherMs, () => {
      this.#isPlanned = false
      if (this.#connection !== null) this.#slots.tell()
    })
  }

  /** All is finished. Resolves when the successor knows, or is gone. */
  async close(): Promise<void> {
    await within(this.#options.clock, lastReportMs, this.#tellTheLast())
    this.#isOver = true
    this.#connection?.end()
  }

  async #tellTheLast(): Promise<void> {
    while (!this.#isOver) {
      const connection = this.#connection
      // On its way from one successor to the next, or left without any.
      if (connection === null) {
        if (!this.#keepsUsed) return
        await this.#options.clock.delay(gatherMs)
      } else if ((await this.#report(connection, this.#slots.message())) !== null) {
        this.#isOver = true
        connection.end()
        return connection.closed
      }
    }
  }

  async #keepReporting(): Promise<void> {
    const { folder, clock } = this.#options
    const client = new ControlClient(folder)
    while (!this.#isOver) {
      const connection = await client.reportDraining((order) => this.#follow(order))
      if (connection === null) {
        // Nobody is there to grant more, and whoever waits is served all the same.
        for (const each of this.#allSlots()) each.goOnAlone()
        await clock.delay(retryMs)
        continue
      }
      this.#connection = connection
      this.#keepsUsed = true
      this.#slots.connect({ sync: (message) => this.#report(connection, message) })
      for (const each of this.#options.upstreams()) {
        each.slots.connect({ sync: (message) => this.#reportOf(each, connection, message) })
      }
      await connection.closed
      this.#leave()
      // If it has not sent us on, it has been killed.
      if (this.#connection !== null) {
        this.#keepsUsed = false
        this.#used = []
      }
      this.#connection = null
    }
  }

  /** From here on no pool answers, until another is found. */
  #leave(): void {
    for (const each of this.#allSlots()) each.disconnect()
    for (const asked of this.#asked.values()) for (const lost of asked) lost(null)
    this.#asked.clear()
  }

  *#allSlots(): Iterable<Omit<DrainingSlots, 'message'>> {
    yield this.#slots
    for (const { slots } of this.#options.upstreams()) yield slots
  }

  #follow(order: DrainOrder): void {
    const { budget, onRawLog, onStop } = this.#options
    if ('slots' in order) this.#asked.get('')?.shift()?.(order.slots)
    else if ('upstream' in order) this.#asked.get(order.upstream.name)?.shift()?.(order.upstream.slots)
    else if ('wake' in order) for (const each of this.#allSlots()) each.tell()
    else if ('moved' in order) {
      this.#leave()
      this.#connection?.end()
      this.#connection = null
    } else if ('rawLog' in order) onRawLog(order.rawLog)
    else if ('ask' in order) this.#answer(order.ask).catch(reportFault)
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

  async #report(connection: DrainConnection, sync: SlotSync): Promise<SlotAnswer | null> {
    if (connection !== this.#connection || this.#isOver) return null
    const { instance, admission, budget, clock } = this.#options
    const upstreams = [...this.#options.upstreams()]
    const calls = [admission, ...upstreams.map((each) => each.admission)].reduce((sum, each) => {
      const { active, queued } = each.snapshot()
      return sum + active + queued
    }, 0)
    const used = this.#used
    const claims = this.#claims
    connection.send({
      instance,
      identity: this.#identity,
      sync,
      calls,
      reserved: budget.reserved,
      counted: budget.snapshot(clock.wallTime()).totalUsed,
      used,
      predecessors: claims,
      clients: slotsOfClients(admission),
      upstreams: upstreams.map(({ name }) => name),
    })
    this.#used = []
    this.#claims = []
    const answer = await this.#answerTo('')
    // Who had been replaced itself has taken nothing: the next one is told.
    if (answer === null && this.#keepsUsed) {
      this.#used.unshift(...used)
      this.#claims = [...claims, ...this.#claims]
    }
    return answer
  }

  #reportOf(
    { name, admission }: UpstreamSlots,
    connection: DrainConnection,
    sync: SlotSync,
  ): Promise<SlotAnswer | null> {
    if (connection !== this.#connection || this.#isOver) return Promise.resolve(null)
    connection.send({ upstream: { name, max: admission.snapshot().maxConcurrent, sync } })
    return this.#answerTo(name)
  }

  #answerTo(upstream: string): Promise<SlotAnswer | null> {
    return new Promise((resolve) => void getOrAdd(this.#asked, upstream, () => []).push(resolve))
  }
}

/** Slots that calls of clients with a limit of their own hold here, or could. */
export function slotsOfClients(admission: LocalAdmission): NonNullable<PredecessorClaim['clients']> {
  return [...admission.wanted().byLimited]
    .map(([of, slots]) => ({ of, slots }))
    .filter(({ slots }) => slots > 0)
}
