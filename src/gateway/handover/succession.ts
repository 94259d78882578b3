import type { MinuteUsage } from '../../call/call-sink.ts'
import { type Clock, within } from '../../call/clock.ts'
import type { HandOverAnswer, HandOverFailure, HandOverOrder } from '../../control/control-messages.ts'
import {
  type SpawnAnswer,
  type SpawnedGateway,
  endInWords,
  exitPortInUse,
  spawnGateway,
} from '../../control/spawn-gateway.ts'
import { messageOf } from '../../lib/errors.ts'
import { ownIdentity } from '../../lib/process-identity.ts'
import type { Listener } from '../http/listen.ts'
import { KeptSlots } from '../admission/kept-slots.ts'
import { oneAtATime } from '../admission/one-at-a-time.ts'
import type { SharedSlots, SlotLink } from '../admission/shared-slots.ts'
import type { SlotSync } from '../admission/slot-pool.ts'
import { Draining, type DrainingOptions, type DrainingSlots, slotsOfClients } from './draining.ts'
import {
  type Handover,
  type InheritedRawLog,
  type SuccessorAnswer,
  handoverVariable,
  isQuestion,
} from './handover.ts'
import { Predecessors, type SharedParts } from './predecessors.ts'

const killLimitMs = 5000

export interface SuccessionOptions extends DrainingOptions {
  /** As long as the budget is not known, it counts calls that began since then: ms since the Unix epoch. */
  readonly usedSinceMs: number
  /** Of the gateway that this one takes over from. */
  readonly handover: Handover | null
  readonly rawLog: () => InheritedRawLog
  /** Where it accepts calls. */
  readonly listener: Listener
  readonly host: string
  /** Those of the default upstream. */
  readonly slots: SharedSlots
  /** They are shared with gateways on other machines, too, through a pool that is elsewhere. */
  readonly isShared: boolean
  /** Stops listening, so that a successor can bind the port. */
  readonly makeWay: () => void
}

/** A gateway's place among those before and after it. */
export class Succession {
  readonly predecessors: Predecessors
  readonly #slots: SharedSlots
  readonly #options: SuccessionOptions
  #draining: Draining | null = null
  /** Whether a successor is being started, or has taken over. Set here alone. */
  isHandingOver = false
  /** A successor that is not ready yet. */
  #successor: SpawnedGateway | null = null
  /** What calls have used since the handover was told. */
  #untold: MinuteUsage[] = []

  constructor(options: SuccessionOptions) {
    const { admission, budget, handover, slots, isShared } = options
    this.#options = options
    this.#slots = slots
    const own = isShared ? [] : [{ name: '', admission, slots }]
    this.predecessors = new Predecessors(options, () => [...own, ...options.upstreams()])
    if (handover !== null) this.predecessors.expect(handover)
    admission.watch(() => this.#changed(this.#slots))
    budget.watch({
      added: (usage) => this.#used(usage),
      reserved: () => (this.#draining ?? this.predecessors).changed(),
    })
  }

  /** Further upstreams have come, or changed: their slots are shared as those of the default one. */
  refreshUpstreams(): void {
    for (const { admission, slots } of this.#options.upstreams()) admission.watch(() => this.#changed(slots))
    this.predecessors.refreshSlots()
  }

  /**
   * Starts a successor and gives it the listening socket, so that no connection is ever refused. Resolves when it
   * accepts calls, or has ended instead, and nothing has changed.
   */
  async handOver(order: HandOverOrder): Promise<HandOverAnswer> {
    this.isHandingOver = true
    const answer = await this.#startSuccessor(order)
    this.#successor = null
    this.isHandingOver = 'successor' in answer
    return answer
  }

  /** From here on the successor shares the slots, and is told what is finished here. */
  drain(): void {
    const isElsewhere = this.#options.isShared
    const pool = isElsewhere ? new PoolBeside(this.#options) : this.#slots
    if (isElsewhere) this.#slots.drain()
    this.#draining = new Draining(this.#options, pool, this.predecessors.sendOn(), this.#untold)
  }

  /** A successor that is not ready yet ends, and gateways before this one stop. Resolves when those have. */
  stop(withinMs: number): Promise<void> {
    this.#successor?.kill()
    return this.predecessors.stop(withinMs)
  }

  /** Everything here is finished. */
  async close(): Promise<void> {
    await this.#draining?.close()
  }

  async #startSuccessor(order: HandOverOrder): Promise<HandOverAnswer> {
    const { clock } = this.#options
    let successor: SpawnedGateway
    try {
      const { command, args, env, cwd, log_file: logFile } = order
      successor = spawnGateway({
        command,
        args,
        env: { ...env, [handoverVariable]: '1' },
        cwd,
        logFile,
        answer: (question) => this.#answer(question),
      })
    } catch (error) {
      return failed('not_up', `could not be started: ${messageOf(error)}`)
    }
    this.#successor = successor
    const begun = await within(clock, order.limit_ms, successor.begun)
    const isUp = begun !== 'late' && 'ready' in begun && begun.controlled
    if (!isUp) {
      successor.kill()
      await within(clock, killLimitMs, successor.ended)
    }
    successor.release()
    if (isUp && successor.pid !== null) return { successor: { pid: successor.pid } }
    if (begun === 'late') return failed('not_up', `was not ready within ${order.limit_ms / 1000} s`)
    if ('ready' in begun) return failed('not_up', 'could not open its control socket')
    return failed(begun.code === exitPortInUse ? 'port_in_use' : 'not_up', endInWords(begun))
  }

  #answer(question: unknown): SpawnAnswer | null {
    if (!isQuestion(question)) return null
    const { listener, makeWay } = this.#options
    if (question.asks === 'handover')
      return { message: { handover: this.#handover() } satisfies SuccessorAnswer }
    const message: SuccessorAnswer = { yours: true }
    if (question.asks === 'listener') return { message, handle: listener.server }
    makeWay()
    return { message }
  }

  #handover(): Handover {
    const { instance, host, listener, admission, budget, clients, clock, rawLog, upstreams } = this.#options
    this.#untold = []
    return {
      instance,
      identity: ownIdentity(),
      host,
      port: listener.port,
      atMs: clock.wallTime(),
      used: budget.minutes(clock.wallTime()),
      usedSinceMs: budget.isKnown ? null : this.#options.usedSinceMs,
      usedByOwners: clients.handover(),
      reserved: budget.reservedInAll,
      clients: slotsOfClients(admission),
      upstreams: Array.from(upstreams(), ({ name }) => name),
      rawLog: rawLog(),
    }
  }

  #changed(slots: Pick<SharedSlots, 'changed'>): void {
    slots.changed()
    this.#draining?.changed()
  }

  #used(usage: MinuteUsage): void {
    if (this.#draining !== null) this.#draining.used(usage)
    else if (this.isHandingOver) this.#untold.push(usage)
  }
}

/** `why` completes "The new gateway …". */
function failed(code: HandOverFailure, why: string): HandOverAnswer {
  return { failed: `The new gateway ${why}.`, code }
}

/**
 * Of a gateway whose slots are of a pool elsewhere: what it uses of them it tells its successor, which may not share that pool,
 * and it asks for none.
 */
class PoolBeside implements DrainingSlots {
  readonly #clock: Clock
  readonly #kept: KeptSlots
  #link: SlotLink | null = null
  readonly tell: () => void = oneAtATime(() => this.#ask())

  constructor({ admission, clock, instance }: SharedParts) {
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
