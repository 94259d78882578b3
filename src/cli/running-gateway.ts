import { exitCode } from './exit-code.ts'
import { mkdirSync } from 'node:fs'
import type { Server } from 'node:http'
import { dirname, join, resolve } from 'node:path'
import { CallIds } from '../call/call-id.ts'
import type { Clock } from '../call/clock.ts'
import type { ControlledGateway, ControlStatus, LiveOptions } from '../control/control-messages.ts'
import { ControlServer } from '../control/control-server.ts'
import { Admission } from '../gateway/admission/admission.ts'
import { Budget } from '../gateway/admission/budget.ts'
import { MinuteReport } from '../gateway/admission/minute-report.ts'
import { ClientLabels } from '../gateway/client-labels.ts'
import { GatewayServer } from '../gateway/gateway-server.ts'
import { CallHandler } from '../gateway/handle-call.ts'
import { Health } from '../gateway/health.ts'
import { maxHeaderBytes, portOf } from '../gateway/listen.ts'
import { BodyMemory } from '../gateway/request-body.ts'
import { parseUpstreamBase } from '../gateway/target.ts'
import { UndiciUpstream } from '../gateway/upstream/undici-upstream.ts'
import { UpstreamKey } from '../gateway/upstream-key.ts'
import { UsageInjection } from '../gateway/usage-injection/usage-injection.ts'
import { ownIdentity } from '../lib/process-identity.ts'
import { SecretToken } from '../lib/secret-token.ts'
import type { GatewayOptions, GatewayValues } from '../options/gateway-options.ts'
import { WriterThread } from '../store/writer-thread.ts'
import { settingsOf } from '../supervisor/gateway-config.ts'
import { installationSalt } from './installation-salt.ts'
import { newInstance } from './instance.ts'
import { version } from './package-version.ts'
import { PidFile } from './pid-file.ts'

/** All request bodies that are held at a time. */
const bodyMemoryBytes = 1024 ** 3
const minutesPerDay = 24 * 60
/** What a call that is given up when the gateway stops has for its last words to reach the client. */
const lastWordsMs = 1000

/** What comes from the environment and never from an argument. */
export interface GatewaySecrets {
  readonly adminToken: string | null
  readonly upstreamKey: string | null
}

/** The parts of a gateway, put together; and the order in which they stop. */
export class RunningGateway implements ControlledGateway {
  readonly #port: number
  #values: GatewayValues
  readonly #instance = newInstance()
  readonly #startedAt: string
  readonly #dataFolder: string
  readonly #clock: Clock
  readonly #sink: WriterThread
  readonly #admission: Admission
  readonly #minutes: MinuteReport
  readonly #upstream: UndiciUpstream
  readonly #key: UpstreamKey
  readonly #budget: Budget
  readonly #health: Health
  readonly #server: GatewayServer
  readonly #pidFile: PidFile
  #control: ControlServer | null = null
  #stopping = false

  constructor(listener: Server, options: GatewayOptions, secrets: GatewaySecrets, clock: Clock) {
    const base = parseUpstreamBase(options.upstream)
    const instance = this.#instance
    this.#port = portOf(listener)
    this.#values = options
    this.#clock = clock
    this.#startedAt = new Date(clock.wallTime()).toISOString()
    this.#dataFolder = dirname(options.db)
    makeFolder(this.#dataFolder)
    this.#sink = new WriterThread({ dbPath: options.db, instance, version })
    this.#admission = new Admission({ ...options, clock })
    this.#minutes = new MinuteReport({
      clock,
      closeMinute: () => this.#admission.closeMinute(),
      droppedTotal: () => this.#sink.figures().dropped,
      report: (minute) => this.#sink.minute(minute),
    })
    this.#upstream = new UndiciUpstream(base.origin, { ...options, maxHeaderBytes })
    const { adminToken, upstreamKey } = secrets
    this.#key = new UpstreamKey(upstreamKey, adminToken === null ? null : new SecretToken(adminToken))
    this.#budget = this.#restoredBudget()
    this.#health = new Health({
      clock,
      upstreamUrl: options.upstream,
      dbPath: options.db,
      instance,
      version,
      admission: this.#admission,
      budget: this.#budget,
      sink: this.#sink,
    })
    this.#server = new GatewayServer(listener, {
      calls: new CallHandler({
        clock,
        instance,
        ids: new CallIds(() => clock.wallTime()),
        labels: new ClientLabels(installationSalt(join(this.#dataFolder, '.salt'))),
        base,
        upstream: this.#upstream,
        upstreamKey: this.#key,
        usageInjection: new UsageInjection(options.usageInjection === 'auto'),
        admission: this.#admission,
        budget: this.#budget,
        sink: this.#sink,
        limits: { maxBodyBytes: options.maxBodyMb * 1_000_000, memory: new BodyMemory(bodyMemoryBytes) },
        clientStallTimeoutMs: options.clientStallTimeoutMs,
        via: options.via,
        onFault: (error) => console.error('tokenweir: a fault of the gateway, which goes on:', error),
      }),
      health: this.#health,
      allowedHosts: options.allowHost,
    })
    this.#pidFile = new PidFile(options.pidFile)
    this.#announce()
  }

  get lendsKey(): boolean {
    return this.#key.isSet
  }

  /** Lets a dashboard find and steer this gateway. Answers why it cannot, or `null`; calls are served either way. */
  async openControl(): Promise<string | null> {
    try {
      this.#control = await ControlServer.open({ folder: this.#dataFolder, gateway: this })
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
      port: this.#port,
      started_at: this.#startedAt,
      draining: this.#stopping,
      drain_timeout_ms: this.#values.drainTimeoutMs,
      // As a dashboard that runs in another folder would have to name them.
      options: settingsOf({
        ...this.#values,
        db: resolve(this.#values.db),
        pidFile: resolve(this.#values.pidFile),
      }),
      health: this.#health.report(this.#stopping),
    }
  }

  stop(): void {
    if (!this.#stopping) void this.#stop()
  }

  setOptions(options: LiveOptions): void {
    const {
      max_concurrent: maxConcurrent,
      slot_cooldown_ms: slotCooldownMs,
      token_limit: tokenLimit,
    } = options
    if (maxConcurrent !== undefined) this.#admission.setCapacity(maxConcurrent)
    if (slotCooldownMs !== undefined) this.#admission.setCooldown(slotCooldownMs)
    if (tokenLimit !== undefined) this.#budget.setLimit(tokenLimit)
    const { maxConcurrent: slots, slotCooldownMs: cooldown, tokenLimit: limit } = this.#values
    this.#values = {
      ...this.#values,
      maxConcurrent: maxConcurrent ?? slots,
      slotCooldownMs: slotCooldownMs ?? cooldown,
      tokenLimit: tokenLimit ?? limit,
    }
    this.#note('config', JSON.stringify(options))
  }

  /** The first signal stops in order, the second at once; a fault of our own stops in order and says so. */
  stopOnSignals(): void {
    const onSignal = (): void => {
      if (this.#stopping) process.exit(exitCode.fault)
      this.stop()
    }
    process.on('SIGTERM', onSignal)
    process.on('SIGINT', onSignal)
    process.on('uncaughtException', (error) => {
      console.error('tokenweir: a fault of the gateway, which now stops:', error)
      process.exitCode = exitCode.fault
      this.stop()
    })
  }

  async #stop(): Promise<void> {
    this.#stopping = true
    console.log('stopping: calls in flight may finish; once more stops at once')
    const patience = new AbortController()
    const outOfPatience = this.#clock
      .delay(this.#values.drainTimeoutMs, patience.signal)
      .then(() => this.#giveUp())
      .catch(() => undefined)
    await Promise.race([this.#server.drain(), outOfPatience])
    patience.abort()
    this.#note('stop')
    this.#server.close()
    this.#minutes.close()
    await this.#upstream.close()
    await this.#sink.close()
    await this.#control?.close()
    this.#pidFile.remove()
    process.exit(process.exitCode ?? 0)
  }

  /** Calls that are still in flight are told so; a client that takes no byte is not waited for. */
  async #giveUp(): Promise<void> {
    await Promise.race([this.#server.abandon(), this.#clock.delay(lastWordsMs)])
  }

  #announce(): void {
    makeFolder(dirname(this.#values.pidFile))
    const problem = this.#pidFile.write()
    if (problem !== null) console.error(`tokenweir: no PID file: ${problem}`)
    this.#note('start', JSON.stringify({ max_concurrent: this.#values.maxConcurrent }))
  }

  #note(kind: 'start' | 'stop' | 'config', detail: string | null = null): void {
    this.#sink.event({ atMs: this.#clock.wallTime(), kind, detail })
  }

  /** The budget counts from the first call on; what the last 24 hours used is added when the store has told. */
  #restoredBudget(): Budget {
    const budget = new Budget(this.#values.tokenLimit)
    const minuteNow = Math.floor(this.#clock.wallTime() / 60_000)
    this.#sink.usageByMinute(minuteNow - minutesPerDay).then(
      (minutes) => budget.restore(minutes),
      () => undefined, // The sink's warnings say why it cannot be read.
    )
    return budget
  }
}

/** Folders are for the owner alone. Where one cannot be made, the store's warnings say so; traffic goes on. */
function makeFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 })
  } catch {
    // As above.
  }
}
