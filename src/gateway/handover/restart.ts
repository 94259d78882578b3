import type { Socket } from 'node:net'
import type { MinuteUsage } from '../../call/call-sink.ts'
import { withTimeout } from '../../call/clock.ts'
import type { HandOverAnswer, HandOverFailure, HandOverOrder } from '../../control/control-messages.ts'
import {
  type SpawnAnswer,
  type SpawnedGateway,
  endInWords,
  exitPortInUse,
  spawnGateway,
} from '../../control/spawn-gateway.ts'
import { messageOf } from '../../lib/errors.ts'
import { reportFault } from '../../lib/fault.ts'
import { ownIdentity } from '../../lib/process/process-identity.ts'
import type { ConnectionTaker } from '../http/client-connections.ts'
import type { Listener } from '../http/listen.ts'
import { DrainReporter, type DrainReporterOptions } from './drain-reporter.ts'
import {
  type Handover,
  type InheritedRawLog,
  type SuccessorAnswer,
  handoverVariable,
  isQuestion,
} from './handover.ts'
import { OldGateways } from './old-gateways.ts'

const killLimitMs = 5000

export interface RestartOptions extends DrainReporterOptions {
  /** State of the gateway that this one replaces; null without one. */
  readonly handover: Handover | null
  readonly rawLog: () => InheritedRawLog
  /** The addresses on which the gateway accepts calls. */
  readonly listener: Listener
  readonly host: string
  /** Stops listening, so that a successor can bind the port. */
  readonly freePort: () => void
}

/** A gateway's replacement by a successor, and the gateways that it has replaced. */
export class Restart implements ConnectionTaker {
  readonly oldGateways: OldGateways
  readonly #options: RestartOptions
  #draining: DrainReporter | null = null
  /** True if a successor is being started, or has taken over. Set here alone. */
  isHandingOver = false
  /** The successor; null before one, and when it takes no more connections. */
  #successor: SpawnedGateway | null = null
  /** True if the successor listens on the same address: on another address, other clients may connect. */
  #hasListener = false
  /** Settles when the last connection has been passed on. */
  #lastPassedOn: Promise<boolean> = Promise.resolve(true)
  /** Token use of calls that ended since the handover message. */
  #unreported: MinuteUsage[] = []

  constructor(options: RestartOptions) {
    this.#options = options
    this.oldGateways = new OldGateways(options, options.handover)
    options.tokens.all.watch({
      added: (usage) => this.#used(usage),
      reserved: () => this.#draining?.changed(),
    })
  }

  /** Call it when upstreams were added, removed or changed. */
  refreshUpstreams(): void {
    if (this.#draining === null) this.oldGateways.reserve()
    else this.#draining.refreshUpstreams()
  }

  /**
   * Starts a successor and gives it the listening socket, so that no connection is refused. Resolves when the successor accepts
   * calls, and gets reports of those here, or when it has ended and this gateway continues unchanged.
   */
  async handOver(order: HandOverOrder): Promise<HandOverAnswer> {
    this.isHandingOver = true
    this.#hasListener = false
    const answer = await this.#startSuccessor(order)
    if ('successor' in answer) {
      this.oldGateways.stopReceiving()
      this.#draining = new DrainReporter(this.#options, this.#unreported)
    } else {
      this.isHandingOver = false
      this.#successor = null
    }
    return answer
  }

  /** Kills a successor that is not ready yet, and stops the old gateways. Resolves when these have ended. */
  stop(withinMs: number): Promise<void> {
    if (this.#draining === null) this.#successor?.kill()
    return this.oldGateways.stop(withinMs)
  }

  /** Call it when all calls here are finished. */
  async close(): Promise<void> {
    await this.#draining?.close()
  }

  get takes(): boolean {
    return this.#successor !== null && this.#hasListener
  }

  async passOn(connection: Socket): Promise<boolean> {
    if (this.#successor === null) return false
    this.#lastPassedOn = this.#successor.give(connection)
    const isGiven = await this.#lastPassedOn
    if (!isGiven) this.#successor = null
    return isGiven
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
    const begun = await withTimeout(clock, order.limit_ms, successor.begun)
    const isUp = begun !== 'late' && 'ready' in begun && begun.controlled
    if (isUp && successor.pid !== null) return { successor: { pid: successor.pid } }
    successor.kill()
    await withTimeout(clock, killLimitMs, successor.ended)
    successor.release()
    if (begun === 'late') return failed('not_up', `was not ready within ${order.limit_ms / 1000} s`)
    if ('ready' in begun) return failed('not_up', 'could not open its control socket')
    return failed(begun.code === exitPortInUse ? 'port_in_use' : 'not_up', endInWords(begun))
  }

  #answer(question: unknown): SpawnAnswer | null {
    if (!isQuestion(question)) return null
    const { listener, freePort: makeWay } = this.#options
    if (question.asks === 'handover')
      return { message: { handover: this.#handover() } satisfies SuccessorAnswer }
    if (question.asks === 'apart') {
      this.#part().catch(reportFault)
      return null
    }
    const message: SuccessorAnswer = { yours: true }
    if (question.asks === 'listener') {
      this.#hasListener = true
      return { message, handle: listener.server }
    }
    makeWay()
    return { message }
  }

  async #part(): Promise<void> {
    const successor = this.#successor
    this.#successor = null
    await this.#lastPassedOn
    successor?.release()
  }

  #handover(): Handover {
    const { instance, host, listener, tokens, minutes, rawLog } = this.#options
    this.#unreported = []
    return {
      instance,
      identity: ownIdentity(),
      host,
      port: listener.port,
      ...tokens.handover(),
      minutes: minutes.handover(),
      reserved: tokens.all.reserved,
      predecessors: this.oldGateways.claims(),
      rawLog: rawLog(),
    }
  }

  #used(usage: MinuteUsage): void {
    if (this.#draining !== null) this.#draining.used(usage)
    else if (this.isHandingOver) this.#unreported.push(usage)
  }
}

/** `why` completes the sentence "The new gateway …". */
function failed(code: HandOverFailure, why: string): HandOverAnswer {
  return { failed: `The new gateway ${why}.`, code }
}
