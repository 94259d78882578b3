import type { MinuteUsage } from '../../call/call-sink.ts'
import type { HandOverAnswer, HandOverOrder } from '../../control/control-messages.ts'
import type { SpawnedGateway } from '../../control/spawn-gateway.ts'
import { ownIdentity } from '../../lib/process-identity.ts'
import type { Listener } from '../http/listen.ts'
import { Draining, type DrainingOptions } from './draining.ts'
import type { Handover, InheritedRawLog } from './handover.ts'
import { Predecessors } from './predecessors.ts'
import { startSuccessor } from './start-successor.ts'

export interface SuccessionOptions extends DrainingOptions {
  /** Of the gateway that this one takes over from. */
  readonly handover: Handover | null
  readonly rawLog: () => InheritedRawLog
  /** Where it accepts calls. */
  readonly listener: Listener
  readonly host: string
  /** Stops listening, so that a successor can bind the port. */
  readonly makeWay: () => void
}

/** A gateway's place among those before and after it. */
export class Succession {
  readonly predecessors: Predecessors
  readonly #options: SuccessionOptions
  #draining: Draining | null = null
  #isHandingOver = false
  /** A successor that is not ready yet. */
  #successor: SpawnedGateway | null = null
  /** What calls have used since the handover was told. */
  #untold: MinuteUsage[] = []

  constructor(options: SuccessionOptions) {
    const { admission, budget, handover } = options
    this.#options = options
    this.predecessors = new Predecessors(options)
    if (handover !== null) this.predecessors.expect(handover)
    const changed = (): void => (this.#draining ?? this.predecessors).changed()
    admission.watch(changed)
    budget.watch({ added: (usage) => this.#used(usage), reserved: changed })
  }

  /** Whether a successor is being started, or has taken over. */
  get isHandingOver(): boolean {
    return this.#isHandingOver
  }

  /** Starts a successor; resolves when it is ready, or has ended instead, and nothing has changed. */
  async handOver(order: HandOverOrder): Promise<HandOverAnswer> {
    const { listener, makeWay, clock } = this.#options
    this.#isHandingOver = true
    const started = (successor: SpawnedGateway): void => {
      this.#successor = successor
    }
    const source = { server: listener.server, handover: () => this.#handover(), makeWay, started }
    const answer = await startSuccessor(order, source, clock)
    this.#successor = null
    this.#isHandingOver = 'successor' in answer
    return answer
  }

  /** From here on the successor shares the slots, and is told what is finished here. */
  drain(): void {
    this.#draining = new Draining(this.#options, this.predecessors.sendOn(), this.#untold)
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

  #handover(): Handover {
    const { instance, host, listener, budget, clock, rawLog } = this.#options
    this.#untold = []
    return {
      instance,
      identity: ownIdentity(),
      host,
      port: listener.port,
      slots: this.predecessors.slots,
      used: budget.isKnown ? budget.minutes(clock.wallTime()) : null,
      reserved: budget.reservedInAll,
      rawLog: rawLog(),
    }
  }

  #used(usage: MinuteUsage): void {
    if (this.#draining !== null) this.#draining.used(usage)
    else if (this.#isHandingOver) this.#untold.push(usage)
  }
}
