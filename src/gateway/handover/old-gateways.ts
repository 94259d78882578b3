import { type Clock, withTimeout } from '../../call/clock.ts'
import { gather } from '../../call/gather.ts'
import type {
  CallsAnswer,
  DrainAnswer,
  DrainReport,
  PredecessorSlots,
  PredecessorClaim,
  PredecessorGateway,
  RawLogSwitch,
} from '../../control/control-messages.ts'
import { type ProcessIdentity, isAlive } from '../../lib/process/process-identity.ts'
import type { TokenWindow } from '../admission/token-window.ts'
import type { LimitsAcrossRestarts } from '../limits/limits-across-restarts.ts'
import type { TokenWindows } from '../admission/token-windows.ts'
import type { Handover } from './handover.ts'
import type { Limiter } from './shrinking-slots.ts'

/** After this time (ms) without a report, a gateway may have been killed. */
const silentMs = 250
/** Interval (ms) of checks whether the process of an ended gateway is gone; it exists for some milliseconds more. */
const endCheckMs = 20
/** A gateway that does not report its calls within this time (ms) is left out. */
const answerLimitMs = 500
/** Time (ms) for all gateways to find a call to cancel; the requester waits for two seconds. */
const cancelLimitMs = 1500

/** The parts that a gateway shares with those before and after it. */
export interface SharedParts {
  /** The name of this gateway's run. */
  readonly instance: string
  /** Slots of each upstream, with removed upstreams that still have calls. */
  readonly limiters: () => Iterable<Limiter>
  readonly budget: TokenWindow
  readonly clients: Pick<TokenWindows, 'used' | 'handover'>
  readonly minutes: LimitsAcrossRestarts
  /** True if the budget refuses calls, so that old gateways must know the use elsewhere. */
  readonly budgetRejects: boolean
  readonly clock: Clock
}

interface DrainingGateway extends PredecessorClaim {
  /** The last report; null before the first one: until then, this gateway admits no call. */
  readonly report: DrainReport | null
  /** The slots that the old gateway may use, by the upstream's name. */
  readonly held: ReadonlyMap<string, number>
  readonly heardMs: number
}

interface Question {
  readonly seq: number
  readonly cancel: string | null
  /** The gateways that have yet to get the question. */
  readonly open: Set<string>
  readonly onAnswer: (answer: CallsAnswer) => void
}

/** The gateways that this one has replaced, while they finish their calls. They use the slots that they report; this one uses the rest. */
export class OldGateways {
  readonly #parts: SharedParts
  /** The oldest first. */
  readonly #draining = new Map<string, DrainingGateway>()
  /** The instance of the gateway that hands over to this one. */
  readonly #direct: string | null
  #isClosed = false
  #rawLog: RawLogSwitch | null = null
  #stopWithinMs: number | null = null
  #allLeft: PromiseWithResolvers<void> | null = null
  readonly #questions = new Set<Question>()
  #lastAsked = 0
  /** Removes gateways that were killed, which would keep their slots for ever. */
  readonly #checkLater: () => void
  /** Processes of gateways that reported their end. */
  #leftProcesses: readonly ProcessIdentity[] = []

  constructor(parts: SharedParts, handover: Handover | null) {
    this.#parts = parts
    this.#direct = handover?.instance ?? null
    this.#checkLater = gather(parts.clock, silentMs, () => this.#forgetDead(), { background: true })
    const heardMs = parts.clock.now()
    for (const { instance, identity, reserved } of handover === null
      ? []
      : [...handover.predecessors, handover]) {
      this.#draining.set(instance, {
        instance,
        identity,
        reserved,
        report: null,
        held: new Map(),
        heardMs,
      })
    }
    if (handover === null) return
    parts.minutes.adopt(handover.instance, handover.minutes)
    this.reserve()
    this.#checkLater()
  }

  /** The old gateways that have calls. */
  list(): readonly PredecessorGateway[] {
    return Array.from(this.#draining.values(), ({ instance, identity, report }) => {
      return { instance, pid: identity.pid, calls: report?.calls ?? 0 }
    }).filter(({ calls }) => calls > 0)
  }

  /** The old gateways, for this gateway's successor, to which they report next. */
  claims(): readonly PredecessorClaim[] {
    return Array.from(this.#draining.values(), ({ instance, identity, reserved }) => ({
      instance,
      identity,
      reserved,
    }))
  }

  /** Applies a switch of the raw log to the calls that old gateways finish. */
  switchRawLog(to: RawLogSwitch): void {
    this.#rawLog = to
  }

  /** Asks the old gateways for their calls, or to cancel the call with this id. Resolves with the answers that come in time. */
  async ask(cancel: string | null): Promise<readonly CallsAnswer[]> {
    const open = new Set(this.#draining.keys())
    const answers: CallsAnswer[] = []
    const most = open.size
    if (most === 0 || this.#isClosed) return answers
    const { promise: all, resolve } = Promise.withResolvers<void>()
    const onAnswer = (answer: CallsAnswer): void => {
      if (answers.push(answer) === most) resolve()
    }
    const question = { seq: ++this.#lastAsked, cancel, open, onAnswer }
    this.#questions.add(question)
    await withTimeout(this.#parts.clock, cancel === null ? answerLimitMs : cancelLimitMs, all)
    this.#questions.delete(question)
    return answers
  }

  /** Applies a report. Null if it is for another gateway: this one's successor, or its predecessor before the takeover. */
  addReport(report: DrainReport): DrainAnswer | null {
    const { instance, identity, reserved, used, answers } = report
    const direct = this.#draining.get(this.#direct ?? '')
    if (this.#isClosed || (direct?.report === null && direct.instance !== instance)) return null
    // The past use of an unknown gateway was read from the database.
    for (const usage of this.#draining.has(instance) ? used : []) {
      this.#parts.budget.addTo(usage)
      this.#parts.clients.used(usage)
    }
    const minutes = this.#parts.minutes.addReport(instance, report.minutes)
    for (const answer of answers) {
      for (const { seq, onAnswer } of this.#questions) if (seq === answer.seq) onAnswer(answer)
    }
    const held = new Map(report.slots.map((slots) => [slots.name, slots.holding]))
    const heardMs = this.#parts.clock.now()
    this.#draining.set(instance, { instance, identity, reserved, report, held, heardMs })
    const isLearning = [...this.#draining.values()].some((each) => each.report === null)
    for (const slots of report.slots) held.set(slots.name, slots.holding + this.#freeFor(slots))
    // A report may be read after the death of its sender was noticed.
    if (report.isLast || !isAlive(identity)) this.#remove(instance)
    else this.#checkLater()
    this.reserve()
    return {
      slots: Array.from(held, ([name, slots]) => {
        const clients = Array.from(this.#ofClients(name, instance), ([of, used]) => ({ of, slots: used }))
        return { name, holding: slots, clients: isLearning ? null : clients }
      }),
      taken: this.#unknownTokens(report),
      minutes,
      asks: [...this.#questions]
        .filter(({ open }) => open.delete(instance))
        .map(({ seq, cancel }) => ({ seq, cancel })),
      rawLog: this.#rawLog,
      stopWithinMs: this.#stopWithinMs,
    }
  }

  /** Refuses reports from now on: they go to this gateway's successor, or to its predecessor if the takeover failed. */
  stopReceiving(): void {
    this.#isClosed = true
  }

  /** Stops the old gateways. Resolves when all their processes have ended. */
  async stop(stopWithinMs: number): Promise<void> {
    if (this.#isClosed) return
    this.#stopWithinMs = stopWithinMs
    this.#allLeft ??= Promise.withResolvers()
    if (this.#draining.size === 0) this.#allLeft.resolve()
    await this.#allLeft.promise
    while (this.#leftProcesses.some(isAlive)) await this.#parts.clock.delay(endCheckMs)
  }

  /** Reserves the slots and tokens that calls of old gateways need. Call it when upstreams were added, too. */
  reserve(): void {
    if (this.#isClosed) return
    const all = [...this.#draining.values()]
    for (const { name, admission, isShared } of this.#parts.limiters()) {
      let slots = 0
      for (const { report, held } of all) {
        const slotsThere = report?.slots.find((each) => each.name === name)
        slots += report === null ? Infinity : Math.max(held.get(name) ?? 0, slotsThere?.wants ?? 0)
      }
      // Old gateways have their own slots in the database.
      admission.reserveForPredecessor(isShared ? 0 : slots, this.#ofClients(name))
    }
    this.#parts.budget.reserveElsewhere(this.#reservedByAll())
  }

  /** Slots of clients with a limit, in the gateways older than `before`, or in all. */
  #ofClients(name: string, before?: string): ReadonlyMap<string, number> {
    const used = new Map<string, number>()
    for (const { instance, report } of this.#draining.values()) {
      if (instance === before) break
      const clients = report?.slots.find((each) => each.name === name)?.clients ?? []
      for (const { of, slots } of clients) used.set(of, (used.get(of) ?? 0) + slots)
    }
    return used
  }

  /** Further slots for an old gateway that needs more than it holds: its calls came before those here. */
  #freeFor({ name, max, holding, wants }: PredecessorSlots): number {
    if (wants <= holding) return 0
    // An upstream that is gone here has the slots that the old gateway reported.
    const limiter = Array.from(this.#parts.limiters()).find((each) => each.name === name && !each.isShared)
    let free =
      limiter === undefined ? max : limiter.admission.snapshot().maxConcurrent - limiter.admission.inUse
    for (const other of this.#draining.values()) {
      free -= other.report === null ? Infinity : (other.held.get(name) ?? 0)
    }
    return Math.max(0, Math.min(wants - holding, free))
  }

  #reservedByAll(): number {
    let sum = 0
    for (const { reserved } of this.#draining.values()) sum += reserved
    return sum
  }

  /** Tokens that others may use, or have used without the knowledge of the reporting gateway. */
  #unknownTokens({ reserved, counted }: DrainReport): number {
    const { budget, budgetRejects, clock } = this.#parts
    if (!budgetRejects) return 0
    const unknown = Math.max(0, budget.snapshot(clock.wallTime()).totalUsed - counted)
    return unknown + Math.max(0, budget.reservedInAll - reserved)
  }

  #remove(instance: string): void {
    const gateway = this.#draining.get(instance)
    if (gateway === undefined) return
    this.#leftProcesses = [...this.#leftProcesses.filter(isAlive), gateway.identity]
    this.#draining.delete(instance)
    this.#parts.minutes.removeGateway(instance)
    this.reserve()
    if (this.#draining.size === 0) this.#allLeft?.resolve()
  }

  #forgetDead(): void {
    const nowMs = this.#parts.clock.now()
    for (const { instance, identity, heardMs } of this.#draining.values()) {
      if (nowMs - heardMs >= silentMs && !isAlive(identity)) this.#remove(instance)
    }
    if (this.#draining.size > 0 && !this.#isClosed) this.#checkLater()
  }
}
