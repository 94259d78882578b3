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
import type { SlotLimiter } from '../admission/slot-limiter.ts'
import type { LimitsAcrossRestarts } from '../limits/limits-across-restarts.ts'
import type { TokenWindows } from '../admission/token-windows.ts'
import type { Handover } from './handover.ts'

/** Interval (ms) of checks whether a gateway was killed. */
const lookEveryMs = 250
/** Interval (ms) of checks whether the process of an ended gateway is gone; it exists for some milliseconds more. */
const endCheckMs = 20
/** A gateway that does not report its calls within this time (ms) is left out. */
const answerLimitMs = 500
/** Time (ms) for all gateways to find a call to cancel; the requester waits for two seconds. */
const cancelLimitMs = 1500

/** The slots of one upstream in a gateway. */
export interface Limiter {
  /** The name of the upstream. */
  readonly name: string
  readonly admission: SlotLimiter
  /** The slots are shared through a database, which counts both gateways of a restart. */
  readonly isShared: boolean
}

/** The parts that a gateway shares with those before and after it. */
export interface SharedParts {
  /** The name of this gateway's run. */
  readonly instance: string
  /** Slots of each upstream, with removed upstreams that still have calls. */
  readonly limiters: () => Iterable<Limiter>
  readonly tokens: TokenWindows
  readonly minutes: LimitsAcrossRestarts
  readonly clock: Clock
}

interface OldGateway extends PredecessorClaim {
  readonly calls: number
  /**
   * The old gateway's slots of each upstream, with those granted. Null before its first report: until then, the new
   * gateway admits no call.
   */
  slots: readonly PredecessorSlots[] | null
}

interface Question {
  readonly seq: number
  readonly cancel: string | null
  /** The instances of gateways that have yet to get the question. */
  readonly open: Set<string>
  readonly onAnswer: (answer: CallsAnswer) => void
}

/**
 * The gateways that this one has replaced, while they finish their calls. Old gateways use the slots that they
 * report, and the new one uses the rest.
 */
export class OldGateways {
  readonly #parts: SharedParts
  /** The old gateways by instance, the oldest first. */
  readonly #draining = new Map<string, OldGateway>()
  /** The instance of the gateway that hands over to this one. */
  readonly #direct: string | null
  #isClosed = false
  #rawLog: RawLogSwitch | null = null
  #stopWithinMs: number | null = null
  readonly #questions = new Set<Question>()
  #lastAsked = 0
  /** Removes gateways that were killed, which would keep their slots for ever. */
  readonly #checkLater: () => void
  /** Processes of gateways that reported their end. */
  #leftProcesses: readonly ProcessIdentity[] = []

  constructor(parts: SharedParts, handover: Handover | null) {
    this.#parts = parts
    this.#direct = handover?.instance ?? null
    this.#checkLater = gather(parts.clock, lookEveryMs, () => this.#forgetDead(), { background: true })
    if (handover === null) return
    for (const { instance, identity, reserved } of [...handover.predecessors, handover])
      this.#draining.set(instance, { instance, identity, reserved, calls: 0, slots: null })
    parts.minutes.adopt(handover.instance, handover.minutes)
    this.reserve()
    this.#checkLater()
  }

  /** The old gateways that have calls. */
  list(): readonly PredecessorGateway[] {
    return Array.from(this.#draining.values(), ({ instance, identity, calls }) => {
      return { instance, pid: identity.pid, calls }
    }).filter(({ calls }) => calls > 0)
  }

  /** The old gateways, for this gateway's successor, to which they report next. */
  claims(): readonly PredecessorClaim[] {
    return Array.from(this.#draining.values(), ({ instance, identity, reserved }) => {
      return { instance, identity, reserved }
    })
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
    const { instance, identity, reserved, calls, slots, used, answers } = report
    const direct = this.#draining.get(this.#direct ?? '')
    if (this.#isClosed || (direct?.slots === null && direct.instance !== instance)) return null
    // The past use of an unknown gateway was read from the database.
    if (this.#draining.has(instance)) for (const usage of used) this.#parts.tokens.addElsewhere(usage)
    const minutes = this.#parts.minutes.addReport(instance, report.minutes)
    for (const answer of answers) {
      for (const { seq, onAnswer } of this.#questions) if (seq === answer.seq) onAnswer(answer)
    }
    const old: OldGateway = { instance, identity, reserved, calls, slots }
    this.#draining.set(instance, old)
    const granted = Array.from(slots, (entry) => ({
      ...entry,
      holding: entry.holding + this.#freeFor(entry),
    }))
    old.slots = granted
    const isLearning = [...this.#draining.values()].some((old) => old.slots === null)
    // A report may be read after the death of its sender was noticed.
    if (report.isLast || !isAlive(identity)) this.#remove(instance)
    else this.#checkLater()
    this.reserve()
    return {
      slots: granted.map(({ name, holding }) => {
        const clients = Array.from(this.#ofClients(name, instance), ([of, count]) => ({ of, slots: count }))
        const max = this.#ownSlots(name)?.snapshot().maxConcurrent
        return { name, holding, clients: isLearning ? null : clients, max }
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
    this.#stopWithinMs = stopWithinMs
    while (!this.#isClosed && (this.#draining.size > 0 || this.#leftProcesses.some(isAlive)))
      await this.#parts.clock.delay(endCheckMs)
  }

  /** Reserves the slots and tokens that calls of old gateways need. Call it when upstreams were added, too. */
  reserve(): void {
    if (this.#isClosed) return
    for (const { name, admission, isShared } of this.#parts.limiters()) {
      const needed = this.#sumOf(name, ({ holding, wants }) => Math.max(holding, wants))
      // Old gateways have their own slots in the database.
      admission.reserveForPredecessor(isShared ? 0 : needed, this.#ofClients(name))
    }
    this.#parts.tokens.all.reserveElsewhere(this.#reservedByAll())
  }

  /** Adds up slots of an upstream in all old gateways: infinitely many before the first report of each. */
  #sumOf(name: string, count: (slots: PredecessorSlots) => number): number {
    let sum = 0
    for (const { slots } of this.#draining.values()) {
      const there = slots?.find((candidate) => candidate.name === name)
      if (there !== undefined) sum += count(there)
      else if (slots === null) sum = Infinity
    }
    return sum
  }

  /** Slots of clients with a limit, in the gateways older than `before`, or in all. */
  #ofClients(name: string, before?: string): ReadonlyMap<string, number> {
    const used = new Map<string, number>()
    for (const [instance, { slots: all }] of this.#draining) {
      if (instance === before) break
      const clients = all?.find((candidate) => candidate.name === name)?.clients ?? []
      for (const { of, slots } of clients) used.set(of, (used.get(of) ?? 0) + slots)
    }
    return used
  }

  /**
   * Returns further slots for an old gateway that needs more than it holds, because its calls came before those
   * here.
   */
  #freeFor({ name, max, holding, wants }: PredecessorSlots): number {
    if (wants <= holding) return 0
    // If the upstream was removed here, its number of slots is the one that the old gateway reported.
    const admission = this.#ownSlots(name)
    const free = admission === null ? max : admission.snapshot().maxConcurrent - admission.inUse
    return Math.max(0, Math.min(wants - holding, free - this.#sumOf(name, (entry) => entry.holding)))
  }

  /** The slots of an upstream here; null if it was removed, or shares its slots. */
  #ownSlots(name: string): SlotLimiter | null {
    const limiters = Array.from(this.#parts.limiters())
    return limiters.find((limiter) => limiter.name === name && !limiter.isShared)?.admission ?? null
  }

  #reservedByAll(): number {
    let sum = 0
    for (const { reserved } of this.#draining.values()) sum += reserved
    return sum
  }

  /** Tokens that others may use, or have used without the knowledge of the reporting gateway. */
  #unknownTokens({ reserved, counted }: DrainReport): number {
    const { tokens, clock } = this.#parts
    if (!tokens.rejects) return 0
    const unknown = Math.max(0, tokens.all.snapshot(clock.wallTime()).totalUsed - counted)
    return unknown + Math.max(0, tokens.all.reservedInAll - reserved)
  }

  #remove(instance: string): void {
    const gateway = this.#draining.get(instance)
    if (gateway === undefined) return
    this.#leftProcesses = [...this.#leftProcesses.filter(isAlive), gateway.identity]
    this.#draining.delete(instance)
    this.#parts.minutes.removeGateway(instance)
    this.reserve()
  }

  #forgetDead(): void {
    for (const [instance, { identity }] of this.#draining) if (!isAlive(identity)) this.#remove(instance)
    if (this.#draining.size > 0 && !this.#isClosed) this.#checkLater()
  }
}
