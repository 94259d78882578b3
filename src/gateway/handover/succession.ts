import type { Server } from 'node:http'
import type { MinuteUsage } from '../../call/call-sink.ts'
import type { Clock } from '../../call/clock.ts'
import { ControlClient } from '../../control/control-client.ts'
import type { HandOverOrder, RawLogSwitch } from '../../control/control-messages.ts'
import type { Admission } from '../admission/admission.ts'
import type { Budget } from '../admission/budget.ts'
import { ownIdentity } from '../../lib/process-identity.ts'
import type { SpawnedGateway } from '../../supervisor/spawn-gateway.ts'
import { Finishing } from './finishing.ts'
import { Formers } from './formers.ts'
import { type Bequest, type Legacy, raiseSuccessor } from './handing-over.ts'

export interface SuccessionOptions {
  readonly admission: Admission
  readonly budget: Budget
  readonly budgetRejects: boolean
  readonly clock: Clock
  readonly instance: string
  /** Where the control socket is. */
  readonly folder: string
  /** Of the gateway that this one takes over from. */
  readonly legacy: Legacy | null
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
  readonly formers: Formers
  readonly #options: SuccessionOptions
  readonly #client: ControlClient
  #finishing: Finishing | null = null
  #isHandingOver = false
  /** A successor that is not ready yet. */
  #successor: SpawnedGateway | null = null
  /** What calls have used since the legacy was told. */
  #untold: MinuteUsage[] = []

  constructor(options: SuccessionOptions) {
    const { admission, budget, legacy } = options
    this.#options = options
    this.#client = new ControlClient(options.folder)
    this.formers = new Formers(options)
    if (legacy !== null) this.formers.expect(legacy)
    const changed = (): void => (this.#finishing ?? this.formers).changed()
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
    const legacy = (): Legacy => {
      this.#untold = []
      const { slots } = this.formers
      return { instance, identity: ownIdentity(), host, port, slots, ...bequest() }
    }
    const started = (successor: SpawnedGateway): void => {
      this.#successor = successor
    }
    this.#isHandingOver = true
    try {
      return (await raiseSuccessor({ order, listener: server, legacy, makeWay, started, clock })).pid
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
    const formers = this.formers.moveOn()
    const identity = ownIdentity()
    this.#finishing = new Finishing(
      { client: this.#client, admission, budget, clock, instance, identity, formers, onStop, onRawLog },
      this.#untold,
    )
  }

  /** A successor that is not ready yet ends, and gateways before this one stop. Resolves when those have. */
  stop(withinMs: number): Promise<void> {
    this.#successor?.kill()
    return this.formers.stop(withinMs)
  }

  /** Everything here is finished. */
  async close(): Promise<void> {
    await this.#finishing?.close()
  }

  #used(usage: MinuteUsage): void {
    if (this.#finishing !== null) this.#finishing.used(usage)
    else if (this.#isHandingOver) this.#untold.push(usage)
  }
}
