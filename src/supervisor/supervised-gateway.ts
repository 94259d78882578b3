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
import { type Poll, startPoll } from '../lib/poll.ts'
import { valuesOf } from './running-values.ts'
import { stopGateway } from './stop-gateway.ts'
import { reportFault } from '../lib/fault.ts'

const rotationCheckMs = 60_000
/** Time (ms) to wait for the `exit` event of a child that has ended. */
const childEndMs = 1000

export interface SupervisedGatewayOptions extends Omit<GatewayStarterOptions, 'finder'> {
  /** The data folder, in which the gateway's control socket lies. */
  readonly folder: string
  /** True if the upstream is the demo's simulated one. */
  readonly simulated: boolean
  readonly limits?: SupervisorLimits
}

/** The gateway as the dashboard's routes use it. */
export type GatewayProcess = Pick<
  SupervisedGateway,
  'status' | 'live' | 'cancel' | 'start' | 'stop' | 'restart' | 'config' | 'configure'
>

/**
 * The gateway of a data folder, started by any program. The control socket finds it, and a started gateway outlives this process.
 * Operations run one after the other; a second request for the same joins the first.
 *
 * Methods with settings may throw {@link SettingError}; then nothing has changed. But a gateway that came up runs on if its
 * settings cannot be saved.
 */
export class SupervisedGateway {
  readonly #options: SupervisedGatewayOptions
  readonly #finder: GatewayFinder
  readonly #starter: GatewayStarter
  readonly #operations = new OperationQueue()
  /** The options of the next gateway, as last read. */
  #planned: GatewayValues = defaultValues
  /** The running gateway, if this process started it. */
  #child: SpawnedGateway | null = null
  /** The last gateway that this process started, running or not. */
  #lastChild: SpawnedGateway | null = null
  /** How the last gateway ended, or why it did not come up. */
  #problem: string | null = null
  readonly #rotation: Poll
  #keeper: GatewayKeeper | null = null
  /** True if this process started the gateway or its predecessor. */
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
      // A log that cannot be rotated stops nothing.
      onFault: () => {},
    })
  }

  async status(): Promise<ProcessStatus> {
    const plan = this.#plan()
    const { answerMs } = this.#finder.limits
    const traces = await traceGateway(this.#finder, plan, () => this.#starter.startingPid, answerMs)
    return describeProcess(traces, plan)
  }

  /** Starts a crashed gateway again from now on; `report` and the gateway's log get a line. */
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

  /** The process that is started again after a crash; null without one. */
  get knownPid(): number | null {
    return this.#keeper?.knownPid ?? null
  }

  /** The running calls: none if no gateway runs, null if it does not answer. */
  async live(): Promise<LiveCalls | null> {
    const calls = await this.#finder.client.live(this.#finder.limits.answerMs).catch(() => null)
    if (calls === 'notRunning') return { calls: [], more: 0 }
    return calls === 'noReply' ? null : calls
  }

  /** Cancels a call; resolves with false if no call with this id is running. Rejects with {@link ProcessError}. */
  async cancel(id: string): Promise<boolean> {
    const { client, limits } = this.#finder
    const answer = await client.cancel(id, limits.answerMs)
    if (answer === 'noReply') throw new ProcessError('gateway_silent', 'The gateway does not answer.')
    return answer !== 'notRunning' && answer.cancelled
  }

  /** Starts the gateway; resolves when it is healthy and the settings are saved. Rejects with {@link ProcessError}. */
  async start(settings: Settings = {}): Promise<StartAnswer> {
    const { outcome, isShared } = this.#inTurn('start', settings, (checked) => this.#start(checked))
    const answer = await outcome
    return isShared ? { ...answer, already_running: true } : answer
  }

  /** Stops the gateway. Calls in flight may finish within its drain time-out. Rejects with {@link ProcessError}. */
  async stop(): Promise<ProcessStatus> {
    const { outcome } = this.#operations.run('stop', async () => {
      await this.#end()
      return this.status()
    })
    return outcome
  }

  /** Ends a starting gateway, and starts no more, so that none stays behind when this process ends. */
  abortStart(): void {
    this.#starter.abort()
  }

  /** Stops a gateway that this process started. Resolves with false for any other gateway. */
  async stopOwn(): Promise<boolean> {
    const { outcome } = this.#operations.run('stop own', async () => {
      if (this.#isOwn) await this.#end()
      return this.#isOwn
    })
    return outcome
  }

  /**
   * Begins to stop a gateway that this process started, without waiting for other operations. Rejects with a readable
   * error.
   */
  async beginStopOwn(): Promise<void> {
    this.#starter.abort()
    if (this.#isOwn) await this.#finder.client.stop(this.#finder.limits.acceptStopMs)
  }

  /**
   * Replaces the gateway, or starts one. Resolves when the new gateway is healthy; the old one finishes its calls beside it. If
   * the new one does not come up, the old one continues or is started again, and this rejects with {@link ProcessError}.
   */
  async restart(settings: Settings = {}): Promise<ProcessStatus> {
    return this.#inTurn('restart', settings, (checked) => this.#restart(checked)).outcome
  }

  async config(): Promise<ProxyConfig> {
    const { control } = await this.#finder.find()
    return this.#options.config.describe(typeof control === 'object' ? control.options : null)
  }

  /** Saves settings for the next start, and applies those that a running gateway can change. */
  async configure(settings: Settings): Promise<ProxyConfig> {
    return this.#inTurn('configure', settings, (checked) => this.#configure(checked)).outcome
  }

  /** Ends the supervision; the gateway runs on. */
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

  /** Resolves with true if a gateway runs, with false if it was stopped. Rejects with {@link ProcessError}. */
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
    // The options of the running gateway.
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
    // The new gateway inherits the state of the raw log, so a new setting is applied afterwards.
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
      const message = `The setting is saved for the next start, but could not be applied now: ${messageOf(error)}.`
      throw new ProcessError('not_applied', message)
    }
  }

  /** Replaces the gateway. If no gateway runs after a failure, starts the previous one again. */
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

  /** Starts a gateway; resolves with false if another gateway was quicker. */
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
      if (end.code !== 0 && !this.#finder.wasStopped(child.pid)) {
        this.#problem = `The gateway (process ${child.pid}) ended unexpectedly: it ${endInWords(end)}.`
      }
    }
    child.ended.then(onEnd).catch(reportFault)
  }

  async #end(): Promise<void> {
    const { drainTimeoutMs } = this.#plan()
    const { clock } = this.#options
    if (this.#keeper?.expectEnd() === true) {
      const { control, recordedRuns } = await this.#finder.find()
      this.#finder.forgetEnded()
      // The start that was due may have just succeeded, here or at another dashboard.
      if (control === 'notRunning' && !recordedRuns) return
    }
    await stopGateway({ finder: this.#finder, clock, child: this.#child, drainTimeoutMs })
    this.#finder.forgetEnded()
    this.#child = null
    this.#problem = null
  }

  /** True if a gateway runs. Waits for the end of a stopping gateway. Rejects with {@link ProcessError}. */
  async #isThere(): Promise<boolean> {
    const traces = await this.#finder.find()
    const { control } = traces
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
    } else if (control === 'notRunning' && !traces.recordedRuns) {
      return false
    }
    const { message } = describeProcess(
      { folder: traces, port: null, isPortTaken: false, startingPid: null },
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
