import { exitCode } from '../../cli/exit-code.ts'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { dirname, join, resolve } from 'node:path'
import { CallIds } from '../../call/call-id.ts'
import type { LiveCalls } from '../../api/live-calls.ts'
import type { Clock } from '../../call/clock.ts'
import { makeControlFolder } from '../../control/control-folder.ts'
import type {
  ControlStatus,
  ControlledGateway,
  DrainListener,
  DrainOrder,
  HandOverAnswer,
  HandOverOrder,
  LiveOptions,
} from '../../control/control-messages.ts'
import { ControlServer } from '../../control/control-server.ts'
import { Admission } from '../admission/admission.ts'
import { Budget } from '../admission/budget.ts'
import { BudgetGate } from '../admission/budget-gate.ts'
import { MinuteReport } from '../admission/minute-report.ts'
import { ClientLabels } from '../call/client-labels.ts'
import { GatewayServer } from '../http/gateway-server.ts'
import { TrustedClients } from '../http/trusted-clients.ts'
import { CallHandler } from '../call/handle-call.ts'
import { Health } from '../http/health.ts'
import { type Listener, maxHeaderBytes } from '../http/listen.ts'
import { BodyMemory } from '../http/request-body.ts'
import { Retries429 } from '../call/retries-429.ts'
import { parseUpstreamBase } from '../http/target.ts'
import { UndiciUpstream } from '../upstream/undici-upstream.ts'
import type { UpstreamProxy } from '../upstream/upstream-proxy.ts'
import { UpstreamKey } from '../call/upstream-key.ts'
import { UsageInjection } from '../usage-injection/usage-injection.ts'
import { ownIdentity } from '../../lib/process-identity.ts'
import { SecretToken } from '../../lib/secret-token.ts'
import { ThisMachine } from '../../lib/this-machine.ts'
import type { GatewayOptions, GatewayValues } from '../../options/gateway-options.ts'
import { type InstanceNumber, takeInstanceNumber } from '../../store/sqlite/instance-number.ts'
import { WriterThread } from '../../store/write/writer-thread.ts'
import { settingsOf } from '../../options/gateway-settings.ts'
import { GatewayRawLog } from './gateway-raw-log.ts'
import { type Bequest, HandOverError, type Handover } from '../handover/start-successor.ts'
import { installationSalt } from './installation-salt.ts'
import { newInstance } from './instance.ts'
import { makeFolder } from './make-folder.ts'
import { version } from '../../cli/package-version.ts'
import { PidFile } from './pid-file.ts'
import { restoreBudget } from '../handover/restore-budget.ts'
import { Succession } from '../handover/succession.ts'
import { tellOfRecording } from './tell-of-recording.ts'

/** All request bodies that are held at a time. */
const bodyMemoryBytes = 1024 ** 3
/** What a call that is given up when the gateway stops has for its last words to reach the client. */
const lastWordsMs = 1000
/** Calls under way that a dashboard is told of at a time. */
const mostLive = 1000
/** For gateways that this one has taken over from to end, beyond its own end. */
const formersEndMs = 2000

/** What comes from the environment and never from an argument. */
export interface GatewaySecrets {
  readonly adminToken: string | null
  readonly upstreamKey: string | null
  /** Its address may hold a password. */
  readonly proxy: UpstreamProxy | null
}

/** The parts of a gateway, put together; and the order in which they stop. */
export class RunningGateway implements ControlledGateway {
  readonly #listener: Listener
  #values: GatewayValues
  readonly #instance = newInstance()
  readonly #startedAt: string
  readonly #number: InstanceNumber
  readonly #controlFolder: string
  readonly #clock: Clock
  readonly #sink: WriterThread
  readonly #rawLog: GatewayRawLog
  readonly #admission: Admission
  readonly #minutes: MinuteReport
  readonly #upstream: UndiciUpstream
  readonly #key: UpstreamKey
  readonly #budget: Budget
  readonly #health: Health
  readonly #calls: CallHandler
  readonly #server: GatewayServer
  readonly #pidFile: PidFile
  readonly #succession: Succession
  #predecessor: string | null
  #control: ControlServer | null = null
  #stopping = false

  /** `handover` is that of the gateway which this one takes over from. */
  constructor(
    listener: Listener,
    options: GatewayOptions,
    secrets: GatewaySecrets,
    clock: Clock,
    handover: Handover | null = null,
  ) {
    const base = parseUpstreamBase(options.upstream)
    const instance = this.#instance
    this.#listener = listener
    this.#values = options
    this.#clock = clock
    this.#startedAt = new Date(clock.wallTime()).toISOString()
    const dataFolder = dirname(options.db)
    this.#controlFolder = makeControlFolder(dataFolder)
    this.#number = takeInstanceNumber(dataFolder)
    this.#sink = new WriterThread({ dbPath: options.db, instance, number: this.#number, version })
    this.#admission = new Admission({ ...options, clock })
    this.#minutes = new MinuteReport({
      clock,
      runningMinute: () => this.#admission.runningMinute(),
      closeMinute: () => this.#admission.closeMinute(),
      droppedTotal: () => this.#sink.figures().dropped,
      report: (minute) => this.#sink.minute(minute),
    })
    this.#upstream = new UndiciUpstream(base.origin, { ...options, maxHeaderBytes, proxy: secrets.proxy })
    const adminToken = secrets.adminToken === null ? null : new SecretToken(secrets.adminToken)
    const trusted = new TrustedClients(new ThisMachine(options.trustLoopback), adminToken)
    this.#key = new UpstreamKey(secrets.upstreamKey, base.host, trusted)
    this.#budget = new Budget(options.tokenLimit)
    const budgetRejects = options.budgetAction === 'reject'
    const held = budgetRejects ? this.#admission : null
    void restoreBudget(this.#budget, held, this.#sink, clock, handover?.used ?? null)
    this.#predecessor = handover?.instance ?? null
    this.#succession = new Succession({
      admission: this.#admission,
      budget: this.#budget,
      budgetRejects,
      clock,
      instance,
      folder: this.#controlFolder,
      handover,
      onStop: (withinMs) => this.stop(withinMs),
      onRawLog: (to) => this.#rawLog.follow(to),
    })
    const salt = installationSalt(join(dataFolder, '.salt'))
    this.#rawLog = new GatewayRawLog({
      values: options,
      salt,
      idBits: this.#number.value,
      clock,
      handover: handover?.rawLog ?? null,
      onSwitched: (to) => this.#succession.predecessors.switchRawLog(to),
    })
    const retries = new Retries429({
      clock,
      admission: this.#admission,
      max: options.retry429Max,
      random: Math.random,
    })
    this.#health = new Health({
      clock,
      upstreamUrl: options.upstream,
      dbPath: resolve(options.db),
      instance,
      version,
      admission: this.#admission,
      budget: this.#budget,
      budgetRejects,
      retries,
      sink: this.#sink,
      rawLog: this.#rawLog.log,
    })
    this.#calls = new CallHandler({
      clock,
      instance,
      ids: new CallIds(() => clock.wallTime(), this.#number.value),
      labels: new ClientLabels(salt),
      base,
      upstream: this.#upstream,
      upstreamKey: this.#key,
      usageInjection: new UsageInjection(options.usageInjection === 'auto', dataFolder, base, clock),
      admission: this.#admission,
      budget: this.#budget,
      budgetGate: budgetRejects ? new BudgetGate(this.#budget, clock) : null,
      retries,
      sink: this.#sink,
      taps: this.#rawLog.log,
      limits: { maxBodyBytes: options.maxBodyMb * 1_000_000, memory: new BodyMemory(bodyMemoryBytes) },
      clientStallTimeoutMs: options.clientStallTimeoutMs,
      via: options.via,
      onFault: (error) => console.error('tokenweir: a fault of the gateway, which goes on:', error),
    })
    this.#server = new GatewayServer(listener.server, {
      calls: this.#calls,
      health: this.#health,
      rawLog: this.#rawLog.routes,
      trusted,
      allowedHosts: options.allowHost,
    })
    this.#pidFile = new PidFile(options.pidFile)
    this.#note('start', JSON.stringify({ max_concurrent: this.#values.maxConcurrent }))
    const isStopping = (): boolean => this.#stopping
    tellOfRecording({ clock, db: options.db, sink: this.#sink, health: this.#health, isStopping })
  }

  get lendsKey(): boolean {
    return this.#key.isSet
  }

  /** Lets a dashboard find and steer this gateway. Answers why it cannot, or `null`; calls are served either way. */
  async openControl(): Promise<string | null> {
    try {
      this.#control = await ControlServer.open({
        folder: this.#controlFolder,
        gateway: this,
        predecessor: this.#predecessor,
      })
      this.#writePidFile()
      return null
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    }
  }

  status(): ControlStatus {
    return {
      identity: ownIdentity(),
      instance: this.#instance,
      version,
      host: this.#values.host,
      port: this.#listener.port,
      started_at: this.#startedAt,
      draining: this.#stopping,
      drain_timeout_ms: this.#values.drainTimeoutMs,
      // As a dashboard that runs in another folder would have to name them.
      options: settingsOf({
        ...this.#values,
        db: resolve(this.#values.db),
        pidFile: resolve(this.#values.pidFile),
        rawLogFile: resolve(this.#values.rawLogFile),
      }),
      health: this.#health.report(this.#stopping),
      predecessors: this.#succession.predecessors.list(),
    }
  }

  live(): LiveCalls {
    return this.#calls.live(mostLive)
  }

  stop(withinMs: number = this.#values.drainTimeoutMs): void {
    if (!this.#stopping) void this.#stop(Math.min(withinMs, this.#values.drainTimeoutMs))
  }

  /** Ends without having taken over: the gateway that was to hand over goes on. */
  giveUp(): void {
    this.#succession.predecessors.forget()
    this.stop()
  }

  async handOver(order: HandOverOrder): Promise<HandOverAnswer> {
    if (this.#stopping || this.#succession.isHandingOver) {
      const failed = this.#stopping
        ? 'The gateway is stopping.'
        : 'The gateway hands over to another already.'
      return { failed, code: 'busy' }
    }
    const { server, port } = this.#listener
    const place = { server, port, host: this.#values.host, makeWay: () => this.#server.pause() }
    const bequest = (): Bequest => ({
      used: this.#budget.isKnown ? this.#budget.minutes(this.#clock.wallTime()) : null,
      reserved: this.#budget.reservedInAll,
      rawLog: this.#rawLog.handover(),
    })
    try {
      const pid = await this.#succession.raise(order, place, bequest)
      this.#leaveTo(pid)
      return { successor: { pid: pid ?? 0 } }
    } catch (error) {
      if (!(error instanceof HandOverError)) throw error
      await this.#goOn()
      return { failed: error.message, code: error.code }
    }
  }

  draining(tell: (order: DrainOrder) => void): DrainListener {
    return this.#succession.predecessors.listen(tell)
  }

  rawLog(name: string, query: string, req: IncomingMessage, res: ServerResponse): void {
    this.#rawLog.routes.answer(name, query, req, res)
  }

  setOptions(options: LiveOptions): void {
    const {
      max_concurrent: maxConcurrent,
      slot_cooldown_ms: slotCooldownMs,
      token_limit: tokenLimit,
      raw_log: rawLog,
    } = options
    if (maxConcurrent !== undefined) {
      this.#admission.setCapacity(maxConcurrent)
      this.#succession.predecessors.setMax(maxConcurrent)
    }
    if (slotCooldownMs !== undefined) this.#admission.setCooldown(slotCooldownMs)
    if (tokenLimit !== undefined) this.#budget.setLimit(tokenLimit)
    if (rawLog !== undefined) this.#rawLog.set(rawLog)
    const values = this.#values
    this.#values = {
      ...values,
      maxConcurrent: maxConcurrent ?? values.maxConcurrent,
      slotCooldownMs: slotCooldownMs ?? values.slotCooldownMs,
      tokenLimit: tokenLimit ?? values.tokenLimit,
      rawLog: rawLog ?? values.rawLog,
    }
    this.#note('config', JSON.stringify(options))
  }

  /** The first signal stops in order, the second at once; a fault of our own stops in order and says so. */
  stopOnSignals(): void {
    const onSignal = (): void => {
      if (this.#stopping) process.exit(exitCode.fault)
      this.stop()
    }
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, onSignal)
    process.on('uncaughtException', (error) => {
      console.error('tokenweir: a fault of the gateway, which now stops:', error)
      process.exitCode = exitCode.fault
      this.stop()
    })
  }

  async #stop(drainTimeoutMs: number): Promise<void> {
    this.#stopping = true
    console.log('stopping: calls in flight may finish; once more stops at once')
    this.#rawLog.leave()
    const formersEnd = this.#succession.stop(drainTimeoutMs)
    const patience = new AbortController()
    const outOfPatience = this.#clock
      .delay(drainTimeoutMs, patience.signal)
      .then(() => this.#abandon())
      .catch(() => undefined)
    await Promise.race([Promise.all([this.#server.drain(), formersEnd]), outOfPatience])
    await Promise.race([formersEnd, this.#clock.delay(formersEndMs)])
    patience.abort()
    this.#note('stop')
    this.#server.close()
    this.#minutes.close()
    await this.#upstream.close()
    await Promise.all([this.#sink.close(), this.#rawLog.close()])
    await this.#succession.close()
    await this.#control?.close()
    this.#pidFile.remove()
    process.exit(process.exitCode ?? 0)
  }

  /** Calls that are still in flight are told so; a client that takes no byte is not waited for. */
  async #abandon(): Promise<void> {
    await Promise.race([this.#server.abandon(), this.#clock.delay(lastWordsMs)])
  }

  /** From here on everything new goes to the successor; what is here is finished, however long it takes. */
  #leaveTo(pid: number | null): void {
    console.log(`process ${pid} has taken over: calls in flight, and those that wait, are finished here`)
    this.#note('restart')
    this.#rawLog.leave()
    const left = this.#server.leave()
    this.#succession.follow()
    void left.then(() => this.stop())
  }

  /** A successor has ended that may have had this gateway's port, and the names under which it is found. */
  async #goOn(): Promise<void> {
    if (this.#stopping) return
    try {
      await this.#server.resume(this.#listener.port, this.#values.host)
    } catch (error) {
      console.error('tokenweir: the port could not be had back:', error)
    }
    if (this.#control === null) return
    if (this.#control.holdsName) {
      this.#writePidFile()
      return
    }
    await this.#control.close()
    this.#predecessor = null
    const trouble = await this.openControl()
    if (trouble !== null) console.error(`tokenweir: no dashboard controls this gateway: ${trouble}`)
  }

  /** A hint for people: it names the gateway that is controlled from this folder, and no other on it. */
  #writePidFile(): void {
    makeFolder(dirname(this.#values.pidFile))
    const problem = this.#pidFile.write()
    if (problem !== null) console.error(`tokenweir: no PID file: ${problem}`)
  }

  #note(kind: 'start' | 'stop' | 'restart' | 'config', detail: string | null = null): void {
    this.#sink.event({ atMs: this.#clock.wallTime(), kind, detail })
  }
}
