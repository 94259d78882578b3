import { dirname, resolve } from 'node:path'
import type { GatewayCrash } from '../api/process-status.ts'
import { type Clock, withTimeout } from '../call/clock.ts'
import {
  type GatewayEnd,
  type SpawnOptions,
  type SpawnedGateway,
  endInWords,
  exitPortInUse,
  spawnGateway,
} from '../control/spawn-gateway.ts'
import { messageOf } from '../lib/errors.ts'
import { type GatewayValues, gatewayOptionTable } from '../options/gateway-options.ts'
import { argumentsOf } from '../options/option-spec.ts'
import { upstreamsPath, variablesNamedIn } from '../options/upstreams-path.ts'
import { childEnvironment } from './child-environment.ts'
import type { GatewayConfig } from './gateway-config.ts'
import type { FolderTraces, GatewayFinder } from './gateway-finder.ts'
import { acceptsConnections, askHealth } from './gateway-port.ts'
import { ProcessError } from './process-error.ts'
import type { LogFile } from './log-file.ts'
import { reportFault } from '../lib/fault.ts'

/** Most log lines in the error of a gateway that did not come up. */
const quotedLines = 20
/** Time (ms) from opening its port until a gateway must have opened its control socket. */
const winnerLimitMs = 3000
const killLimitMs = 5000
const checkEveryMs = 25

export interface GatewayStarterOptions {
  readonly finder: GatewayFinder
  readonly config: GatewayConfig
  readonly logFile: LogFile
  readonly clock: Clock
  /** The environment of the current process; the gateway gets a part of it. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** The program and its arguments before the options. */
  readonly command: readonly string[]
  readonly adminToken: string | null
}

/** Throws if the expected gateway will never be healthy. */
type StatusCheck = (control: FolderTraces['control']) => void

/** Starts gateways, and waits until they are healthy. */
export class GatewayStarter {
  readonly #options: GatewayStarterOptions
  #starting: SpawnedGateway | null = null
  #isAborted = false

  constructor(options: GatewayStarterOptions) {
    this.#options = options
  }

  /** The gateway process that is starting. */
  get startingPid(): number | null {
    return this.#starting?.pid ?? null
  }

  /** Ends the starting gateway, and starts no more. */
  abort(): void {
    if (this.#isAborted) return
    this.#isAborted = true
    this.#starting?.stop()
  }

  /**
   * Resolves when a gateway is healthy: with the started one, or with null if another gateway of this folder was quicker. `crash`
   * is the crash after which it is started. Rejects with {@link ProcessError}.
   */
  start(plan: GatewayValues, crash: GatewayCrash | null): Promise<SpawnedGateway | null> {
    return this.#withLog(async () => {
      const child = this.#spawn(plan, crash)
      this.#starting = child
      try {
        return (await this.#isComingUp(child, plan)) ? child : null
      } catch (error) {
        await this.#end(child)
        throw error
      } finally {
        this.#starting = null
        child.release()
      }
    })
  }

  /** True if a gateway of this folder is healthy, now or within 3 s. */
  waitForHealth(): Promise<boolean> {
    return this.#becomesHealthy(winnerLimitMs, null)
  }

  /**
   * Makes the running gateway start its successor, which takes over without losing a call. Resolves when the successor is
   * healthy. Rejects with {@link ProcessError}, which says whether the running gateway continues.
   */
  takeOver(plan: GatewayValues): Promise<void> {
    const { clock, logFile, finder } = this.#options
    const { limits } = finder
    return this.#withLog(async () => {
      const deadline = clock.now() + limits.startMs + limits.answerMs
      const order = {
        ...this.#process(plan),
        cwd: process.cwd(),
        log_file: resolve(logFile.path),
        limit_ms: limits.startMs,
      }
      const answer = await finder.client
        .handOver(order, limits.startMs + 2 * limits.answerMs)
        .catch((error: unknown) => {
          throw startFailed(messageOf(error))
        })
      if (typeof answer === 'object' && 'failed' in answer) {
        const code = answer.code === 'port_in_use' ? 'port_in_use' : 'start_failed'
        throw new ProcessError(code, `${answer.failed} The running gateway is unchanged.`)
      }
      // If the old gateway was killed meanwhile, any healthy gateway will do.
      const successorPid = typeof answer === 'object' ? answer.successor.pid : null
      await this.#expectHealth(deadline, successorPid, (control) => {
        if (control === 'notRunning' && successorPid !== null)
          throw startFailed('The new gateway ended at once.')
      })
    })
  }

  /** Adds the lines that were logged meanwhile to a failure. */
  async #withLog<T>(work: () => Promise<T>): Promise<T> {
    const { logFile } = this.#options
    const logSize = await logFile.size().catch(() => 0)
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof ProcessError)) throw error
      const tail = await logFile.tail(quotedLines, logSize).catch(() => null)
      throw new ProcessError(error.code, error.message, { log: tail?.lines ?? [] })
    }
  }

  #process(plan: GatewayValues): Pick<SpawnOptions, 'command' | 'args' | 'env'> {
    const { adminToken, command, config, env } = this.#options
    const upstreams = upstreamsPath(plan.upstreamFile, dirname(plan.db))
    const secrets = {
      upstreamIsTrusted: config.trusts(plan.upstream),
      adminToken,
      variables: variablesNamedIn(upstreams),
    }
    return { command, args: argumentsOf(gatewayOptionTable, plan), env: childEnvironment(env, secrets) }
  }

  #spawn(plan: GatewayValues, crash: GatewayCrash | null): SpawnedGateway {
    if (this.#isAborted) throw startFailed('No gateway is started any more.')
    try {
      return spawnGateway({ ...this.#process(plan), logFile: this.#options.logFile.path, crash })
    } catch (error) {
      throw startFailed(`The gateway could not be started: ${messageOf(error)}.`)
    }
  }

  /** Resolves with true when the child is healthy, with false if another gateway of this folder is. */
  async #isComingUp(child: SpawnedGateway, plan: GatewayValues): Promise<boolean> {
    const { clock } = this.#options
    const { limits } = this.#options.finder
    const deadline = clock.now() + limits.startMs
    const startResult = await withTimeout(clock, limits.startMs, child.begun)
    if (startResult === 'late') throw this.#tooLate()
    if (!('ready' in startResult)) {
      await this.#expectWinner(startResult, plan)
      return false
    }
    if (startResult.controlled) {
      let end: GatewayEnd | null = null
      child.ended.then((ended) => (end = ended)).catch(reportFault)
      // The process listens. Now it must answer on its socket and its port.
      await this.#expectHealth(deadline, child.pid, () => {
        if (end !== null) throw startFailed(`The gateway ${endInWords(end)}.`)
      })
      return true
    }
    // Another gateway has this folder's control socket, and a folder has one gateway.
    await this.#end(child)
    if (await this.waitForHealth()) return false
    throw startFailed('The gateway could not open its control socket.')
  }

  /** Rejects if the gateway is not healthy by the deadline. */
  async #expectHealth(deadline: number, pid: number | null, onStatus: StatusCheck): Promise<void> {
    const limitMs = deadline - this.#options.clock.now()
    if (!(await this.#becomesHealthy(limitMs, pid, onStatus))) throw this.#tooLate()
  }

  /** Waits until the gateway is healthy; with a `pid`, until that process is the gateway. */
  async #becomesHealthy(
    limitMs: number,
    pid: number | null,
    onStatus: StatusCheck = () => {},
  ): Promise<boolean> {
    const { clock, finder } = this.#options
    const { limits } = finder
    const deadline = clock.now() + limitMs
    for (;;) {
      const leftMs = deadline - clock.now()
      const { control } = await finder.find(Math.max(1, Math.min(leftMs, limits.answerMs)))
      onStatus(control)
      if (typeof control === 'object' && (pid === null || control.identity.pid === pid)) {
        const { status, instance } = await askHealth(control.host, control.port, limits.answerMs)
        if (status === 200 && instance === control.instance) return true
      }
      if (leftMs <= checkEveryMs) return false
      await clock.delay(checkEveryMs)
    }
  }

  /**
   * Handles a gateway that ended before it was ready. If another gateway of this folder was quicker, waits until that is healthy;
   * else rejects with the reason.
   */
  async #expectWinner(end: GatewayEnd, { host, port }: GatewayValues): Promise<void> {
    if (end.code !== exitPortInUse) throw startFailed(`The gateway ${endInWords(end)}.`)
    const { finder } = this.#options
    const { answerMs } = finder.limits
    const holder = await askHealth(host, port, answerMs)
    // A new gateway of this folder opens its socket in a moment.
    const mayBeNew =
      holder.report === null ? holder.status === null : holder.report.uptime_s * 1000 <= winnerLimitMs
    const isControlled = typeof (await finder.find()).control === 'object'
    if ((isControlled || mayBeNew) && (await this.waitForHealth())) return
    let by = ''
    if (holder.report !== null) {
      const { pid, db } = holder.report
      by = ` by another tokenweir gateway (process ${pid}, database ${db})`
    } else if (await acceptsConnections(host, port, answerMs)) by = ' by another program'
    throw new ProcessError('port_in_use', `Port ${port} is in use${by}.`)
  }

  async #end(child: SpawnedGateway): Promise<void> {
    child.kill()
    await withTimeout(this.#options.clock, killLimitMs, child.ended)
  }

  #tooLate(): ProcessError {
    return startFailed(
      `The gateway did not become healthy within ${this.#options.finder.limits.startMs / 1000} s.`,
    )
  }
}

function startFailed(message: string): ProcessError {
  return new ProcessError('start_failed', message)
}
