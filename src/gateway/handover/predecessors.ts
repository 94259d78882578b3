import { type Clock, within } from '../../call/clock.ts'
import type {
  CallsAnswer,
  DrainListener,
  DrainOrder,
  DrainReport,
  PredecessorClaim,
  PredecessorGateway,
  RawLogSwitch,
} from '../../control/control-messages.ts'
import { type ProcessIdentity, isAlive } from '../../lib/process-identity.ts'
import type { LocalAdmission } from '../admission/local-admission.ts'
import type { TokenWindow } from '../admission/token-window.ts'
import type { TokenWindows } from '../admission/token-windows.ts'
import { SlotPools, type UpstreamSlots } from './slot-pools.ts'

/** Gateways that should report and do not are looked at this often. */
const lookEveryMs = 500
/** One that has reported its end is a process for some milliseconds more. */
const lookForEndEveryMs = 20
/** One that does not tell its calls within this time (ms) is left out. */
const answerLimitMs = 500
/** That there is no such call is only said when all have had so long (ms); who asks waits for two seconds. */
const cancelLimitMs = 1500

/** The parts that a gateway shares with those before and after it. */
export interface SharedParts {
  /** The name of this gateway's run. */
  readonly instance: string
  readonly admission: LocalAdmission
  readonly budget: TokenWindow
  readonly clients: Pick<TokenWindows, 'used' | 'handover'>
  /** Whether calls are refused for want of tokens, so that those who drain must know what is taken elsewhere. */
  readonly budgetRejects: boolean
  readonly clock: Clock
}

interface DrainingGateway {
  readonly identity: ProcessIdentity
  /** `null` while it does not report. */
  readonly tell: ((order: DrainOrder) => void) | null
  /** In flight, or waiting. */
  readonly calls: number
  /** Tokens that its calls in flight may still use. */
  readonly reserved: number
  /** Tokens that its own budget counts, as it last said. */
  readonly counted: number
  readonly clients: NonNullable<PredecessorClaim['clients']>
  readonly upstreams: NonNullable<PredecessorClaim['upstreams']>
}

/** The gateways that this one has taken over from, as long as they drain: who they are, and what they may use. */
export class Predecessors {
  /** To be called when what is reserved here has changed: those who drain must keep it free. */
  readonly changed: () => void
  readonly #parts: SharedParts
  readonly #pools: SlotPools
  readonly #draining = new Map<string, DrainingGateway>()
  /** What those are told, too, who only report later. */
  readonly #orders: { rawLog?: DrainOrder; stop?: DrainOrder } = {}
  #hasMoved = false
  #over: PromiseWithResolvers<void> | null = null
  readonly #asked = new Map<number, (answer: CallsAnswer) => void>()
  #lastAsked = 0
  /** Those that have left, and may be processes still. */
  #left: readonly ProcessIdentity[] = []

  /** `slots`: this gateway's own, of each upstream; not those whose pool is elsewhere. */
  constructor(parts: SharedParts, slots: () => Iterable<UpstreamSlots>) {
    this.#parts = parts
    const { instance, clock } = parts
    this.#pools = new SlotPools({
      instance,
      clock,
      own: slots,
      wake: (holder) => this.#draining.get(holder)?.tell?.({ wake: true }),
    })
    const share = onceATurn(() => this.#share())
    this.changed = () => {
      if (this.#draining.size > 0) share()
    }
  }

  /** Those that have calls. */
  list(): readonly PredecessorGateway[] {
    return [...this.#draining]
      .map(([instance, gateway]) => ({ instance, pid: gateway.identity.pid, calls: gateway.calls }))
      .filter(({ calls }) => calls > 0)
  }

  /** Keeps slots for a gateway that will report. */
  expect({ instance, identity, reserved, clients = [], upstreams = [] }: PredecessorClaim): void {
    if (this.#draining.has(instance) || this.#hasMoved) return
    this.#draining.set(instance, { identity, tell: null, calls: 0, reserved, counted: 0, clients, upstreams })
    this.#pools.expect(instance, this.#parts.admission.snapshot().maxConcurrent, upstreams)
    this.#share()
    this.#lookAfter(instance)
  }

  /** The number of slots has changed, or there are further upstreams. */
  refreshSlots(): void {
    this.#pools.refresh()
  }

  /** What was switched here counts for the calls that they finish, too. */
  switchRawLog(rawLog: RawLogSwitch): void {
    this.#orders.rawLog = { rawLog }
    this.#tellAll({ rawLog })
  }

  /** Asks all that report for their calls, or to cancel one. Resolves with the answers of those that give one in time. */
  async ask(cancel: string | null): Promise<readonly CallsAnswer[]> {
    const tells = [...this.#draining.values()].flatMap(({ tell }) => tell ?? [])
    const answers: CallsAnswer[] = []
    if (tells.length === 0) return answers
    const seq = ++this.#lastAsked
    const { promise: all, resolve } = Promise.withResolvers<void>()
    this.#asked.set(seq, (answer) => {
      if (answers.push(answer) === tells.length) resolve()
    })
    for (const tell of tells) tell({ ask: { seq, cancel } })
    await within(this.#parts.clock, cancel === null ? answerLimitMs : cancelLimitMs, all)
    this.#asked.delete(seq)
    return answers
  }

  listen(tell: (order: DrainOrder) => void): DrainListener {
    let instance: string | null = null
    return {
      report: (report) => {
        if (instance === null) for (const order of Object.values(this.#orders)) tell(order)
        instance = report.instance
        this.#take(report, tell)
      },
      upstream: ({ name, max, sync }) => {
        if (!this.#hasMoved) tell({ upstream: { name, slots: this.#pools.sync(name, max, sync) } })
      },
      answer: (answer) => this.#asked.get(answer.seq)?.(answer),
      ended: () => {
        if (instance !== null && this.#draining.get(instance)?.tell === tell) this.#leave(instance)
      },
    }
  }

  /** Sends those that report here to this gateway's own successor, which shares the slots from now on. */
  sendOn(): readonly PredecessorClaim[] {
    const claims = [...this.#draining].map(([instance, { identity, reserved, clients, upstreams }]) => {
      return { instance, identity, reserved, clients, upstreams }
    })
    this.#hasMoved = true
    this.#pools.move()
    this.#tellAll({ moved: true })
    return claims
  }

  /** This gateway does not come to take over. */
  forget(): void {
    for (const instance of this.#draining.keys()) this.#leave(instance)
    this.#left = []
  }

  /** Has them stop as well, also those that have yet to report; resolves when none is left, nor its process. */
  async stop(stopWithinMs: number): Promise<void> {
    if (this.#hasMoved) return
    this.#orders.stop = { stopWithinMs }
    this.#over ??= Promise.withResolvers()
    this.#tellAll({ stopWithinMs })
    this.#resolveIfOver()
    await this.#over.promise
    while (this.#left.some(isAlive)) await this.#parts.clock.delay(lookForEndEveryMs)
  }

  #take(report: DrainReport, tell: DrainingGateway['tell']): void {
    // Who reports learns it by having no answer, and tells the next one.
    if (this.#hasMoved) return
    const { instance, identity, sync, calls, used, predecessors, reserved, counted } = report
    const { clients = [], upstreams = [] } = report
    for (const usage of used) {
      this.#parts.budget.addTo(usage)
      this.#parts.clients.used(usage)
    }
    const { maxConcurrent } = this.#parts.admission.snapshot()
    // Its first message is of another pool: it has yet to say what it holds.
    if (!this.#draining.has(instance)) this.#pools.expect(instance, maxConcurrent, upstreams)
    this.#draining.set(instance, { identity, tell, calls, reserved, counted, clients, upstreams })
    for (const claim of predecessors) this.expect(claim)
    tell?.({ slots: this.#pools.sync('', maxConcurrent, sync) })
    this.#share()
  }

  #leave(instance: string): void {
    const gateway = this.#draining.get(instance)
    if (gateway === undefined || this.#hasMoved) return
    this.#left = [...this.#left.filter(isAlive), gateway.identity]
    this.#draining.delete(instance)
    if (this.#draining.size === 0) this.#pools.end()
    else this.#pools.leave(instance)
    this.#share()
    this.#resolveIfOver()
  }

  #share(): void {
    if (this.#hasMoved) return
    this.#lendOfClients()
    this.#shareBudget()
  }

  /** A client's calls there came before those here: they have its slots first. */
  #lendOfClients(): void {
    const lent = new Map<string, number>()
    for (const { clients } of this.#draining.values()) {
      for (const { of, slots } of clients) lent.set(of, (lent.get(of) ?? 0) + slots)
    }
    this.#parts.admission.lendOf(lent)
  }

  /** Keeps what their calls may use free here, and has them keep free what is taken elsewhere. */
  #shareBudget(): void {
    const { budget, budgetRejects, clock } = this.#parts
    let reservedByAll = 0
    for (const { reserved } of this.#draining.values()) reservedByAll += reserved
    budget.reserveElsewhere(reservedByAll)
    if (!budgetRejects) return
    const { totalUsed } = budget.snapshot(clock.wallTime())
    for (const { tell, reserved, counted } of this.#draining.values()) {
      const unknownToIt = Math.max(0, totalUsed - counted)
      tell?.({ taken: unknownToIt + budget.reserved + reservedByAll - reserved })
    }
  }

  /** One that has been killed before it could report would keep its slots for ever. */
  #lookAfter(instance: string): void {
    const look = (): void => {
      const found = this.#draining.get(instance)
      if (found === undefined || found.tell !== null) return
      if (isAlive(found.identity)) this.#lookAfter(instance)
      else this.#leave(instance)
    }
    this.#parts.clock.after(lookEveryMs, look, { background: true })
  }

  #tellAll(order: DrainOrder): void {
    for (const { tell } of this.#draining.values()) tell?.(order)
  }

  #resolveIfOver(): void {
    if (this.#draining.size === 0) this.#over?.resolve()
  }
}

/** A function that has the callback run once at the end of this turn of the event loop, however often it is called. */
export function onceATurn(callback: () => void): () => void {
  let isPlanned = false
  const run = (): void => {
    isPlanned = false
    callback()
  }
  return () => {
    if (!isPlanned) setImmediate(run)
    isPlanned = true
  }
}
