import { Readable } from 'node:stream'
import type { LiveCalls } from '../../src/api/live-calls.ts'
import type { ProcessStatus, StartAnswer } from '../../src/api/process-status.ts'
import type { ProxyConfig } from '../../src/api/proxy-config.ts'
import type { RawLogStatus } from '../../src/api/raw-log.ts'
import type { LogSource, RawLogSource } from '../../src/dashboard/routes/dashboard-deps.ts'
import type { FeedListener } from '../../src/supervisor/raw-log-relay.ts'
import type { GatewayProcess } from '../../src/supervisor/supervised-gateway.ts'
import type { Settings } from '../../src/options/gateway-settings.ts'
import { Condition } from '../support/condition.ts'
import { sampleHealth, sampleStatus } from '../support/sample-health.ts'
import { noNumber, sampleOption } from '../support/sample-option.ts'

/** A status with a value in every field but `crash`, which is an alert. */
export const runningStatus: ProcessStatus = {
  ...sampleStatus,
  health: { ...sampleHealth, warnings: [{ code: 'disk_full', message: 'The disk is full.' }] },
  message: 'All is well.',
}

/** A configuration with every kind of value. */
export const someConfig: ProxyConfig = {
  options: [
    { ...sampleOption, value: 8, source: 'saved' },
    {
      ...sampleOption,
      ...noNumber,
      name: 'allow_host',
      description: 'names',
      kind: 'list',
      range: 'a host name',
      value: ['a.example', 'b.example'],
      default: [],
      source: 'flag',
      fixed_by: '--allow-host',
      changes: null,
      running: ['a.example'],
    },
    {
      ...sampleOption,
      ...noNumber,
      name: 'via',
      description: 'whether',
      kind: 'switch',
      range: 'on or off',
      value: true,
      default: true,
      changes: null,
      running: null,
    },
  ],
  needs_restart: ['max_concurrent'],
  file: 'data/gateway.json',
  upstream_key: 'withheld',
}

/** A gateway that does what the test says, and notes what it was asked. */
export class ScriptedGateway implements GatewayProcess {
  /** `start {"port":1}` */
  readonly asked: string[] = []
  readonly condition: Condition = new Condition()
  current: ProcessStatus = runningStatus
  calls: LiveCalls | null = { calls: [], more: 0 }
  /** Thrown by whatever is asked next, once. */
  trouble: Error | null = null
  /** What `status` waits for, where it is to take long. */
  statusGate: Promise<void> = Promise.resolve()
  statusRunning = 0
  statusAtOnce = 0

  async status(): Promise<ProcessStatus> {
    this.statusRunning += 1
    this.statusAtOnce = Math.max(this.statusAtOnce, this.statusRunning)
    this.#note('status')
    try {
      await this.statusGate
      return this.#answer(this.current)
    } finally {
      this.statusRunning -= 1
    }
  }

  async live(): Promise<LiveCalls | null> {
    this.#note('live')
    return this.#answer(this.calls)
  }

  /** Only the calls that it tells are under way. */
  async cancel(id: string): Promise<boolean> {
    this.#note(`cancel ${id}`)
    return this.#answer(this.calls?.calls.some((call) => call.id === id) ?? false)
  }

  async start(settings: Settings = {}): Promise<StartAnswer> {
    this.#note('start', settings)
    return this.#answer({ ...this.current, already_running: false })
  }

  async stop(): Promise<ProcessStatus> {
    this.#note('stop')
    return this.#answer(this.current)
  }

  async restart(settings: Settings = {}): Promise<ProcessStatus> {
    this.#note('restart', settings)
    return this.#answer(this.current)
  }

  async config(): Promise<ProxyConfig> {
    this.#note('config')
    return this.#answer(someConfig)
  }

  async configure(settings: Settings): Promise<ProxyConfig> {
    this.#note('configure', settings)
    return this.#answer(someConfig)
  }

  /** How often something was asked. */
  count(what: string): number {
    return this.asked.filter((text) => text.split(' ')[0] === what).length
  }

  #note(what: string, settings?: Settings): void {
    this.asked.push(settings === undefined ? what : `${what} ${JSON.stringify(settings)}`)
    this.condition.changed()
  }

  #answer<T>(value: T): T {
    if (this.trouble === null) return value
    const trouble = this.trouble
    this.trouble = null
    throw trouble
  }
}

/** A log in memory. */
export class ScriptedLog implements LogSource {
  lines: string[] = []
  readonly #watchers = new Set<(lines: readonly string[], reset: boolean) => void>()

  get watchers(): number {
    return this.#watchers.size
  }

  tail(count: number): ReturnType<LogSource['tail']> {
    return Promise.resolve({ lines: this.lines.slice(-count), totalLines: this.lines.length })
  }

  clear(): Promise<void> {
    this.lines = []
    for (const watcher of this.#watchers) watcher([], true)
    return Promise.resolve()
  }

  watch(onLines: (lines: readonly string[], reset: boolean) => void): () => void {
    this.#watchers.add(onLines)
    queueMicrotask(() => onLines(this.lines.slice(-200), true))
    return () => this.#watchers.delete(onLines)
  }

  append(...lines: readonly string[]): void {
    this.lines.push(...lines)
    for (const watcher of this.#watchers) watcher(lines, false)
  }
}

/** A status of the log of payloads with a value in every field. */
export const rawLogStatus: RawLogStatus = {
  enabled: true,
  enabled_until: '2026-11-21T07:00:00.000Z',
  capture: 'errors',
  file_path: '/logger/payloads.jsonl',
  file_size_bytes: 2048,
  file_size_formatted: '2.05 kB',
  subscribers_count: 1,
  dropped: 2,
  trouble: null,
}

/** A log of payloads that notes what it was asked, and whose feed says what the test says. */
export class ScriptedRawLog implements RawLogSource {
  /** `toggle {"enabled":true}` */
  readonly asked: string[] = []
  /** Thrown by whatever is asked next, once. */
  trouble: Error | null = null
  /** Null where no gateway runs. */
  recentBody: string | null = '{"entries":[],"total_count":0,"truncated":false}'
  readonly #listeners = new Set<FeedListener>()

  get listeners(): number {
    return this.#listeners.size
  }

  status(): Promise<RawLogStatus> {
    return this.#answer('status', rawLogStatus)
  }

  readState(): ReturnType<RawLogSource['readState']> {
    return Promise.resolve({ logging: true, filePath: rawLogStatus.file_path })
  }

  toggle(order: object): ReturnType<RawLogSource['toggle']> {
    const { enabled, enabled_until, file_path, file_size_bytes } = rawLogStatus
    const now = { enabled, enabled_until, file_path, file_size_bytes }
    return this.#answer(`toggle ${JSON.stringify(order)}`, { success: true, ...now })
  }

  clear(): ReturnType<RawLogSource['clear']> {
    return this.#answer('clear', { success: true })
  }

  recent(limit: number): Promise<Readable | null> {
    const body = this.recentBody
    return this.#answer(`recent ${limit}`, body === null ? null : Readable.from([Buffer.from(body)]))
  }

  stream(): Promise<Readable> {
    return this.#answer('stream', Readable.from([Buffer.from('id: 7\ndata: {}\n\n')]))
  }

  follow(listener: FeedListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** An event of the feed: a record where it has an id. */
  tell(event: object, id?: string): void {
    for (const listener of this.#listeners) listener.onEvent({ id, data: JSON.stringify(event) })
  }

  lose(): void {
    for (const listener of this.#listeners) listener.onLost()
  }

  async #answer<T>(what: string, value: T): Promise<T> {
    this.asked.push(what)
    if (this.trouble === null) return value
    const trouble = this.trouble
    this.trouble = null
    throw trouble
  }
}
