import type { Server } from 'node:http'
import type { MinuteUsage } from '../../call/call-sink.ts'
import type { Clock } from '../../call/clock.ts'
import { ControlClient } from '../../control/control-client.ts'
import type { HandOverOrder, RawLogSwitch } from '../../control/control-messages.ts'
import type { Admission } from '../admission/admission.ts'
import type { Budget } from '../admission/budget.ts'
import { ownIdentity } from '../../lib/process-identity.ts'
import type { SpawnedGateway } from '../../control/spawn-gateway.ts'
import { Draining } from './draining.ts'
import { Predecessors } from './predecessors.ts'
import { type Bequest, type Handover, startSuccessor } from './start-successor.ts'

export interface SuccessionOptions {
  readonly admission: Admission
  readonly budget: Budget
  readonly budgetRejects: boolean
  readonly clock: Clock
  readonly instance: string
  /** Where the control socket is. */
  readonly folder: string
  /** Of the gateway that this one takes over from. */
  readonly handover: Handover | null
  /** The whole gateway is told to stop, while this one finishes its calls. */
  readonly onStop: (withinMs: number) => void
  /** The payload log was switched, while this one finishes its calls. */
  readonly onRawLog: (to: RawLogSwitch) => void
}

/** Where a gateway accepts calls. */
export interface Place {
  readonly server: Server
  readonly host: string
  readonly port: number
  /** Stops to listen there. */
  readonly makeWay: () => void
}

/** A gateway's place among those before and after it. */
export class Succession {
  readonly predecessors: Predecessors
  readonly #options: SuccessionOptions
  readonly #client: ControlClient
  #draining: Draining | null = null
  #isHandingOver = false
  /** A successor that is not ready yet. */
  #successor: SpawnedGateway | null = null
  /** What calls have used since the handover was told. */
  #untold: MinuteUsage[] = []

  constructor(options: SuccessionOptions) {
    const { admission, budget, handover } = options
    this.#options = options
    this.#client = new ControlClient(options.folder)
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

  /**
   * Starts a successor; resolves with its process id when it is ready. Rejects with `HandOverError` when it has
   * ended instead, and nothing has changed. `bequest` is asked when the successor is about to begin.
   */
  async raise(
    order: HandOverOrder,
    { server, host, port, makeWay }: Place,
    bequest: () => Bequest,
  ): Promise<number | null> {
    const { clock, instance } = this.#options
    const handover = (): Handover => {
      this.#untold = []
      const { slots } = this.predecessors
      return { instance, identity: ownIdentity(), host, port, slots, ...bequest() }
    }
    const started = (successor: SpawnedGateway): void => {
      this.#successor = successor
    }
    this.#isHandingOver = true
    try {
      return (await startSuccessor({ order, listener: server, handover, makeWay, started, clock })).pid
    } catch (error) {
      this.#isHandingOver = false
      throw error
    } finally {
      this.#successor = null
    }
  }

  /** From here on the successor shares the slots, and is told what is finished here. */
  follow(): void {
    const { admission, budget, clock, instance, onStop, onRawLog } = this.#options
    const predecessors = this.predecessors.moveOn()
    const identity = ownIdentity()
    this.#draining = new Draining(
      { client: this.#client, admission, budget, clock, instance, identity, predecessors, onStop, onRawLog },
      this.#untold,
    )
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

  #used(usage: MinuteUsage): void {
    if (this.#draining !== null) this.#draining.used(usage)
    else if (this.#isHandingOver) this.#untold.push(usage)
  }
}
