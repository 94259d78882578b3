import { resolve } from 'node:path'
import type { LiveCalls } from '../api/live-calls.ts'
import type { GatewayCrash, ProcessStatus, StartAnswer } from '../api/process-status.ts'
import type { ProxyConfig } from '../api/proxy-config.ts'
import { withTimeout } from '../call/clock.ts'
import type { LiveOptions } from '../control/control-messages.ts'
import { isCrash } from '../control/process-record.ts'
import { type GatewayEnd, type SpawnedGateway, endInWords } from '../control/spawn-gateway.ts'
import { messageOf } from '../lib/errors.ts'
import type { GatewayValues } from '../options/gateway-options.ts'
import { type Settings, SettingError, defaultValues, liveIn } from '../options/gateway-settings.ts'
import { type Plan, describeProcess, traceGateway } from './describe-process.ts'
import { GatewayFinder, type SupervisorLimits, defaultLimits } from './gateway-finder.ts'
import { GatewayKeeper } from './gateway-keeper.ts'
import { acceptsConnections } from './gateway-port.ts'
import { ProcessError } from './process-error.ts'
import { GatewayStarter, type GatewayStarterOptions } from './gateway-starter.ts'
import { OperationQueue, type QueuedOperation } from './operation-queue.ts'
import { type Poll, startPoll } from './poll.ts'
import { valuesOf } from './running-values.ts'
import { stopGateway } from './stop-gateway.ts'
import { reportFault } from '../lib/fault.ts'

const rotationCheckMs = 60_000
/** For the system to tell of the end of a child that is gone. */
const childEndMs = 1000

export interface SupervisedGatewayOptions extends Omit<GatewayStarterOptions, 'finder'> {
  /** The data folder, in which the gateway's control socket lies. */
  readonly folder: string
  /** True if the upstream is the demo's own. */
  readonly simulated: boolean
  readonly limits?: SupervisorLimits
}

/** The gateway as the dashboard's routes use it. */
export type GatewayProcess = Pick<
  SupervisedGateway,
  'status' | 'live' | 'cancel' | 'start' | 'stop' | 'restart' | 'config' | 'configure'
>

/**
 * The one gateway of a data folder, whoever started it: found by its control socket, and started as a process that
 * outlives this one. Operations come one after the other, in the order in which they were asked for; asking twice for
 * the same changes nothing the second time.
 *
 * Whatever takes settings may throw {@link SettingError}, and nothing is then changed; but a gateway that came up with
 * settings that could not be kept runs on.
 */
export class SupervisedGateway {
  readonly #options: SupervisedGatewayOptions
  readonly #finder: GatewayFinder
  readonly #starter: GatewayStarter
  readonly #operations = new OperationQueue()
  /** For the next gateway, as far as the settings could last be read. */
  #planned: GatewayValues = defaultValues
  /** The running gateway, if this process started it. */
  #child: SpawnedGateway | null = null
  /** The last gateway that this process started, whether it still runs or not. */
  #lastChild: SpawnedGateway | null = null
  /** How the last gateway ended, or did not come up. */
  #problem: string | null = null
  readonly #rotation: Poll
  #keeper: GatewayKeeper | null = null
  /** This process started the gateway, or the one that it took over from. */
  #isOwn = false

  constructor(options: SupervisedGatewayOptions) {
    const { folder, clock, limits = defaultLimits } = options
    this.#options = options
    this.#finder = new GatewayFinder(folder, limits)
    this.#starter = new GatewayStarter({ ...options, finder: this.#finder })
    this.#rotation = startPoll({
      clock,
      everyMs: rotationCheckMs,
      read: () => options.logFile.rotateIfLarge(),
      // A log that cannot be made smaller is no reason to stop anything.
      onFault: () => {},
    })
  }

  async status(): Promise<ProcessStatus> {
    const plan = this.#plan()
    const { answerMs } = this.#finder.limits
    const sighting = await traceGateway(this.#finder, plan, () => this.#starter.startingPid, answerMs)
    return describeProcess(sighting, plan)
  }

  /** From here on a gateway that ends without being told to is started again; `tell` and the gateway's log say so. */
  restartAfterCrash(report: (line: string) => void): void {
    const { clock, logFile } = this.#options
    this.#keeper ??= new GatewayKeeper({
      clock,
      finder: this.#finder,
      startAgain: (values, crash) => this.#startAgain(values, crash),
      endOf: async (pid) => {
        const child = this.#lastChild
        const end = child?.pid === pid ? await withTimeout(clock, childEndMs, child.ended) : 'late'
        return end === 'late' ? null : end
      },
      report: (line) => {
        logFile.append(`${new Date(clock.wallTime()).toISOString()} tokenweir dashboard: ${line}`)
        report(line)
      },
    })
  }

  /** The process that is started again, should it end without being told to. */
  get knownPid(): number | null {
    return this.#keeper?.knownPid ?? null
  }

  /** The calls that are not over yet: none if no gateway runs, null if it does not answer. */
  async live(): Promise<LiveCalls | null> {
    const told = await this.#finder.client.live(this.#finder.limits.answerMs).catch(() => null)
    if (told === 'notRunning') return { calls: [], more: 0 }
    return told === 'noReply' ? null : told
  }

  /** Ends a call under way. False if there is none of this id. Rejects with {@link ProcessError}. */
  async cancel(id: string): Promise<boolean> {
    const { client, limits } = this.#finder
    const answer = await client.cancel(id, limits.answerMs)
    if (answer === 'noReply') throw new ProcessError('gateway_silent', 'The gateway does not answer.')
    return answer !== 'notRunning' && answer.cancelled
  }

  /** Resolves when it is healthy. Settings are kept once it is. Rejects with {@link ProcessError}. */
  async start(settings: Settings = {}): Promise<StartAnswer> {
    const { outcome, isShared } = this.#inTurn('start', settings, (checked) => this.#start(checked))
    const answer = await outcome
    return isShared ? { ...answer, already_running: true } : answer
  }

  /** Lets the calls in flight finish, for as long as the gateway's drain time-out. Rejects with {@link ProcessError}. */
  async stop(): Promise<ProcessStatus> {
    const { outcome } = this.#operations.run('stop', async () => {
      await this.#end()
      return this.status()
    })
    return outcome
  }

  /** Ends a gateway that is not up yet, and starts none any more: one that would stay behind when this process ends. */
  abortStart(): void {
    this.#starter.abort()
  }

  /** The same as `stop` for a gateway that this process started. Resolves with false where it found the gateway running. */
  async stopOwn(): Promise<boolean> {
    const { outcome } = this.#operations.run('stop own', async () => {
      if (this.#isOwn) await this.#end()
      return this.#isOwn
    })
    return outcome
  }

  /**
   * Resolves when the gateway, if this process started one, has begun to stop, whatever else is under way here. Rejects
   * in words.
   */
  async beginStopOwn(): Promise<void> {
    this.#starter.abort()
    if (this.#isOwn) await this.#finder.client.stop(this.#finder.limits.acceptStopMs)
  }

  /**
   * Resolves when the new one is healthy; the old one finishes its calls beside it. One that was not running is
   * started. If the new one does not come up, the one that worked goes on, or is brought back, and this rejects with
   * {@link ProcessError}.
   */
  async restart(settings: Settings = {}): Promise<ProcessStatus> {
    return this.#inTurn('restart', settings, (checked) => this.#restart(checked)).outcome
  }

  async config(): Promise<ProxyConfig> {
    const { control } = await this.#finder.find()
    return this.#options.config.describe(typeof control === 'object' ? control.options : null)
  }

  /** Keeps settings for the next start; what a running gateway can change is changed at once. */
  async configure(settings: Settings): Promise<ProxyConfig> {
    return this.#inTurn('configure', settings, (checked) => this.#configure(checked)).outcome
  }

  /** The gateway goes on. */
  close(): void {
    this.#rotation.stop()
    this.#keeper?.close()
  }

  #inTurn<T>(name: string, settings: Settings, work: (checked: Settings) => Promise<T>): QueuedOperation<T> {
    const checked = this.#options.config.check(settings)
    return this.#operations.run(`${name} ${JSON.stringify(checked)}`, () => work(checked))
  }

  async #start(settings: Settings): Promise<StartAnswer> {
    if (await this.#isThere()) return { ...(await this.status()), already_running: true }
    const isOurs = await this.#bringUp(this.#options.config.resolve(settings))
    if (isOurs) await this.#saveSettings(settings)
    return { ...(await this.status()), already_running: !isOurs }
  }

  /** Resolves with whether a gateway is there; false if somebody has told it to end. Rejects with {@link ProcessError}. */
  async #startAgain(values: GatewayValues, crash: GatewayCrash): Promise<boolean> {
    const { outcome } = this.#operations.run(`start again ${crash.at}`, async () => {
      const { control, record } = await this.#finder.find()
      if (control !== 'notRunning') return true
      const isDue = this.#keeper?.crash?.at === crash.at && (record === null || isCrash(record))
      if (isDue) await this.#bringUp(values, crash)
      return isDue
    })
    return outcome
  }

  async #restart(settings: Settings): Promise<ProcessStatus> {
    const { config } = this.#options
    const { control, recordedRuns } = await this.#finder.find()
    const next = config.resolve(settings)
    if (typeof control !== 'object') {
      if (control === 'noReply' || recordedRuns) await this.#end()
      if (await this.#bringUp(next)) await this.#saveSettings(settings)
      return this.status()
    }
    const { host, port } = next
    if (port !== control.port && (await acceptsConnections(host, port, this.#finder.limits.answerMs))) {
      throw new ProcessError('port_in_use', `Port ${port} is in use; the running gateway was left as it is.`)
    }
    // The running gateway as it is.
    const previous = valuesOf(control)
    if (control.draining) {
      await this.#end()
      if (await this.#orBringBack(previous, () => this.#bringUp(next))) await this.#saveSettings(settings)
      return this.status()
    }
    await this.#orBringBack(previous, () => this.#starter.takeOver(next))
    this.#child = null
    this.#problem = null
    await this.#saveSettings(settings)
    // The new gateway goes on as the old one was switched; what was asked for now comes after that.
    if (typeof settings['raw_log'] === 'boolean') await this.#apply({ raw_log: settings['raw_log'] })
    return this.status()
  }

  async #configure(settings: Settings): Promise<ProxyConfig> {
    await this.#options.config.save(settings)
    const live = liveIn(settings)
    const { control } = await this.#finder.find()
    if (Object.keys(live).length > 0 && typeof control === 'object') await this.#apply(live)
    return this.config()
  }

  async #saveSettings(settings: Settings): Promise<void> {
    try {
      await this.#options.config.save(settings)
    } catch (error) {
      if (!(error instanceof SettingError)) throw error
      const message = `The gateway runs with these settings, but the next start will not have them: ${error.message}`
      throw new SettingError(error.code, message, error)
    }
  }

  async #apply(live: LiveOptions): Promise<void> {
    try {
      await this.#finder.client.setOptions(live)
    } catch (error) {
      const message = `It is kept for the next start, but was not applied now: ${messageOf(error)}.`
      throw new ProcessError('not_applied', message)
    }
  }

  /** Puts a new gateway in the place of the previous one. If none is there in the end, the previous one is brought back. */
  async #orBringBack<T>(previous: GatewayValues, replace: () => Promise<T>): Promise<T> {
    try {
      return await replace()
    } catch (error) {
      if (!(error instanceof ProcessError)) throw error
      const { control } = await this.#finder.find()
      if (control !== 'notRunning') throw error
      const sequel = await this.#bringUp(previous).then(
        () => 'The previous gateway was brought back.',
        (again: unknown) => `The previous one did not come back either: ${messageOf(again)}`,
      )
      throw new ProcessError(error.code, `${error.message} ${sequel}`, error)
    }
  }

  /** Answers whether the gateway that is up now is the one that was started here. */
  async #bringUp(plan: GatewayValues, crash: GatewayCrash | null = null): Promise<boolean> {
    try {
      const child = await this.#starter.start(plan, crash)
      this.#problem = null
      if (child !== null) this.#adopt(child)
      // A restart by the dashboard does not change the owner.
      if (crash === null) this.#isOwn = child !== null
      return child !== null
    } catch (error) {
      if (error instanceof ProcessError) this.#problem = `The last start failed. ${error.message}`
      throw error
    }
  }

  #adopt(child: SpawnedGateway): void {
    this.#child = child
    this.#lastChild = child
    const onEnd = (end: GatewayEnd): void => {
      // A stop removes the child first.
      if (this.#child !== child) return
      this.#child = null
      this.#keeper?.ended()
      if (end.code !== 0) {
        this.#problem = `The gateway (process ${child.pid}) ended unexpectedly: it ${endInWords(end)}.`
      }
    }
    child.ended.then(onEnd).catch(reportFault)
  }

  async #end(): Promise<void> {
    const { drainTimeoutMs } = this.#plan()
    const { clock } = this.#options
    if (this.#keeper?.expectEnd() === true) {
      this.#finder.forgetEnded()
      return
    }
    await stopGateway({ finder: this.#finder, clock, child: this.#child, drainTimeoutMs })
    this.#finder.forgetEnded()
    this.#child = null
    this.#problem = null
  }

  /** True if a gateway runs. One that is about to end is waited for. Rejects with {@link ProcessError}. */
  async #isThere(): Promise<boolean> {
    const found = await this.#finder.find()
    const { control } = found
    if (typeof control === 'object') {
      if (!control.draining) {
        await this.#starter.waitForHealth()
        return true
      }
      const stopping = await this.#finder.client.stop(this.#finder.limits.acceptStopMs)
      if (stopping === 'notRunning') return false
      const limitMs = control.drain_timeout_ms + this.#finder.limits.afterDrainMs
      if (
        stopping !== 'noReply' &&
        (await withTimeout(this.#options.clock, limitMs, stopping.ended)) !== 'late'
      ) {
        return false
      }
    } else if (control === 'notRunning' && !found.recordedRuns) {
      return false
    }
    const { message } = describeProcess(
      { found, port: null, isPortTaken: false, startingPid: null },
      this.#plan(),
    )
    throw new ProcessError('start_failed', message ?? 'The previous gateway has not ended yet.')
  }

  #plan(): Plan & GatewayValues {
    const { config, logFile, simulated } = this.#options
    let trouble = this.#problem
    try {
      this.#planned = config.resolve()
    } catch (error) {
      if (!(error instanceof SettingError)) throw error
      trouble = error.message
    }
    const pidFile = resolve(this.#planned.pidFile)
    return {
      ...this.#planned,
      pidFile,
      logFile: resolve(logFile.path),
      simulated,
      problem: trouble,
      crash: this.#keeper?.crash ?? null,
    }
  }
}
