import { mkdirSync } from 'node:fs'
import type { Server } from 'node:http'
import { dirname, join } from 'node:path'
import { CallIds } from '../call/call-id.ts'
import { type Clock, systemClock } from '../call/clock.ts'
import { Admission } from '../gateway/admission/admission.ts'
import { Budget } from '../gateway/admission/budget.ts'
import { MinuteReport } from '../gateway/admission/minute-report.ts'
import { ClientLabels } from '../gateway/client-labels.ts'
import { GatewayServer } from '../gateway/gateway-server.ts'
import { CallHandler } from '../gateway/handle-call.ts'
import { Health } from '../gateway/health.ts'
import { listen, maxHeaderBytes, portOf } from '../gateway/listen.ts'
import { BodyMemory } from '../gateway/request-body.ts'
import { parseUpstreamBase } from '../gateway/target.ts'
import { UndiciUpstream } from '../gateway/upstream/undici-upstream.ts'
import { UpstreamKey } from '../gateway/upstream-key.ts'
import { WriterThread } from '../store/writer-thread.ts'
import { installationSalt } from './installation-salt.ts'
import { newInstance } from './instance.ts'
import { type GatewayOptions, parseGatewayOptions } from './option-table.ts'
import { version } from './package-version.ts'
import { PidFile } from './pid-file.ts'
import { startLines } from './start-lines.ts'

/** All request bodies that are held at a time. */
const bodyMemoryBytes = 1024 ** 3
const minutesPerDay = 24 * 60
/** What a call that is given up when the gateway stops has for its last words to reach the client. */
const lastWordsMs = 1000
const exitPortInUse = 3
const exitFault = 1

/** `tokenweir gateway`: runs until it is told to stop, and then sets the process's exit code. */
export async function runGateway(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const options = parseGatewayOptions(argv, env)
  let listener: Server
  try {
    listener = await listen(options.port, options.host)
  } catch (error) {
    process.exitCode = reportListenError(error, options)
    return
  }
  const gateway = new GatewayProcess(listener, options, env, systemClock)
  gateway.stopOnSignals()
  for (const line of startLines(options, portOf(listener), gateway.lendsKey)) console.log(line)
}

/** The parts of a gateway, put together; and the order in which they stop. */
class GatewayProcess {
  readonly #options: GatewayOptions
  readonly #clock: Clock
  readonly #sink: WriterThread
  readonly #admission: Admission
  readonly #minutes: MinuteReport
  readonly #upstream: UndiciUpstream
  readonly #key: UpstreamKey
  readonly #server: GatewayServer
  readonly #pidFile: PidFile
  #stopping = false

  constructor(listener: Server, options: GatewayOptions, env: NodeJS.ProcessEnv, clock: Clock) {
    const instance = newInstance()
    const base = parseUpstreamBase(options.upstream)
    const dataFolder = dirname(options.db)
    makeFolder(dataFolder)
    this.#options = options
    this.#clock = clock
    this.#sink = new WriterThread({ dbPath: options.db, instance, version })
    this.#admission = new Admission({ ...options, clock })
    this.#minutes = new MinuteReport({
      clock,
      closeMinute: () => this.#admission.closeMinute(),
      droppedTotal: () => this.#sink.figures().dropped,
      report: (minute) => this.#sink.minute(minute),
    })
    this.#upstream = new UndiciUpstream(base.origin, { ...options, maxHeaderBytes })
    this.#key = new UpstreamKey(env['UPSTREAM_API_KEY'] ?? null)
    const budget = this.#budget()
    this.#server = new GatewayServer(listener, {
      calls: new CallHandler({
        clock,
        instance,
        ids: new CallIds(() => clock.wallTime()),
        labels: new ClientLabels(installationSalt(join(dataFolder, '.salt'))),
        base,
        upstream: this.#upstream,
        upstreamKey: this.#key,
        admission: this.#admission,
        budget,
        sink: this.#sink,
        limits: { maxBodyBytes: options.maxBodyMb * 1_000_000, memory: new BodyMemory(bodyMemoryBytes) },
        clientStallTimeoutMs: options.clientStallTimeoutMs,
        via: options.via,
        onFault: (error) => console.error('tokenweir: a fault of the gateway, which goes on:', error),
      }),
      health: new Health({
        clock,
        upstreamUrl: options.upstream,
        dbPath: options.db,
        instance,
        version,
        admission: this.#admission,
        budget,
        sink: this.#sink,
      }),
      allowedHosts: options.allowHost,
    })
    this.#pidFile = new PidFile(options.pidFile)
    this.#announce()
  }

  get lendsKey(): boolean {
    return this.#key.isSet
  }

  /** The first signal stops in order, the second at once; a fault of our own stops in order and says so. */
  stopOnSignals(): void {
    const onSignal = (): void => {
      if (this.#stopping) process.exit(exitFault)
      void this.#stop()
    }
    process.on('SIGTERM', onSignal)
    process.on('SIGINT', onSignal)
    process.on('uncaughtException', (error) => {
      console.error('tokenweir: a fault of the gateway, which now stops:', error)
      process.exitCode = exitFault
      if (!this.#stopping) void this.#stop()
    })
  }

  async #stop(): Promise<void> {
    this.#stopping = true
    console.log('stopping: calls in flight may finish; once more stops at once')
    const patience = new AbortController()
    const outOfPatience = this.#clock
      .delay(this.#options.drainTimeoutMs, patience.signal)
      .then(() => this.#giveUp())
      .catch(() => undefined)
    await Promise.race([this.#server.drain(), outOfPatience])
    patience.abort()
    this.#note('stop')
    this.#server.close()
    this.#minutes.close()
    await this.#upstream.close()
    await this.#sink.close()
    this.#pidFile.remove()
    process.exit(process.exitCode ?? 0)
  }

  /** Calls that are still in flight are told so; a client that takes no byte is not waited for. */
  async #giveUp(): Promise<void> {
    await Promise.race([this.#server.abandon(), this.#clock.delay(lastWordsMs)])
  }

  #announce(): void {
    makeFolder(dirname(this.#options.pidFile))
    const problem = this.#pidFile.write()
    if (problem !== null) console.error(`tokenweir: no PID file: ${problem}`)
    this.#note('start')
  }

  #note(kind: 'start' | 'stop'): void {
    this.#sink.event({ atMs: this.#clock.wallTime(), kind, detail: null })
  }

  /** The budget counts from the first call on; what the last 24 hours used is added when the store has told. */
  #budget(): Budget {
    const budget = new Budget(this.#options.tokenLimit)
    const minuteNow = Math.floor(this.#clock.wallTime() / 60_000)
    this.#sink.usageByMinute(minuteNow - minutesPerDay).then(
      (minutes) => budget.restore(minutes),
      () => undefined, // The sink's warnings say why it cannot be read.
    )
    return budget
  }
}

function reportListenError(error: unknown, options: GatewayOptions): number {
  const code = error instanceof Error && 'code' in error ? error.code : null
  if (code === 'EADDRINUSE') {
    console.error(`tokenweir: port ${options.port} is in use; --port chooses another, and 0 any free one`)
    return exitPortInUse
  }
  console.error(`tokenweir: cannot listen on ${options.host}:${options.port}:`, error)
  return exitFault
}

/** Folders are for the owner alone. Where one cannot be made, the store's warnings say so; traffic goes on. */
function makeFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 })
  } catch {
    // As above.
  }
}
