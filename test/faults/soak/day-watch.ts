import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { type IncomingMessage, get } from 'node:http'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { residentBytes } from '../../../bench/process-figures.ts'

/** Processes and files at one moment; sizes in megabytes. */
export interface Sample {
  readonly hour: number
  readonly gatewayPid: number
  readonly gateway: number
  readonly dashboard: number
  /** The largest process that answers the dashboard's questions: a second one starts with the first slow question. */
  readonly queries: number
  readonly gatewayFiles: number
  readonly dashboardFiles: number
  readonly database: number
  readonly wal: number
  readonly log: number
  readonly payloads: number
}

export interface Watched {
  readonly directory: string
  readonly gateway: string
  readonly dashboard: string
  readonly dashboardPid: number
  readonly hour: () => number
}

const mb = 1e6
const healthEveryMs = 250
const overviewEveryMs = 2000
const listEveryMs = 3000
const answerLimitMs = 30_000

/** An open page and somebody who asks the gateway how it is, all day, and looks at processes and files. */
export class DayWatch {
  readonly samples: Sample[] = []
  readonly healthMs: number[] = []
  readonly overviewMs: number[] = []
  readonly listMs: number[] = []
  /** What was not answered as it should be. */
  readonly troubles: string[] = []
  /** Told that the gateway is down: then nobody can say how it is. */
  isGatewayDown = false
  eventBytes = 0
  readonly #watched: Watched
  readonly #stop = new AbortController()
  readonly #loops: Promise<void>[]
  readonly #events: Promise<void>

  constructor(watched: Watched, sampleEveryMs: number) {
    this.#watched = watched
    const { gateway, dashboard } = watched
    const day = 24 * 3_600_000
    const overview = (): string =>
      `${dashboard}/api/overview?from=${new Date(Date.now() - day).toISOString()}`
    this.#loops = [
      this.#every(healthEveryMs, () => this.#ask(() => `${gateway}/health`, this.healthMs)),
      this.#every(overviewEveryMs, () => this.#ask(overview, this.overviewMs)),
      this.#every(listEveryMs, () => this.#ask(() => `${dashboard}/api/query?limit=50`, this.listMs)),
      this.#every(sampleEveryMs, () => this.#sample()),
    ]
    this.#events = this.#readEvents(`${dashboard}/api/events?topics=gateway,calls,live,beat`)
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await Promise.all([...this.#loops, this.#events])
  }

  async #every(ms: number, work: () => void | Promise<void>): Promise<void> {
    while (!this.#stop.signal.aborted) {
      await work()
      await sleep(ms, undefined, { signal: this.#stop.signal }).catch(() => undefined)
    }
  }

  async #ask(url: () => string, tookMs: number[]): Promise<void> {
    const startedMs = performance.now()
    const wasDown = this.isGatewayDown
    try {
      const response = await fetch(url(), { signal: AbortSignal.timeout(answerLimitMs) })
      const text = await response.text()
      if (response.status !== 200) throw new Error(`${response.status} ${text.slice(0, 200)}`)
      tookMs.push(performance.now() - startedMs)
    } catch (error) {
      const isHealth = tookMs === this.healthMs
      if (isHealth && (wasDown || this.isGatewayDown)) return
      this.troubles.push(
        `${new URL(url()).pathname} at ${this.#watched.hour().toFixed(1)} h: ${String(error)}`,
      )
    }
  }

  async #readEvents(url: string): Promise<void> {
    const req = get(url, { agent: false })
    this.#stop.signal.addEventListener('abort', () => req.destroy())
    try {
      const [response] = (await once(req, 'response')) as [IncomingMessage]
      for await (const part of response) this.eventBytes += (part as Buffer).length
      this.troubles.push('the stream of events ended')
    } catch (error) {
      if (!this.#stop.signal.aborted) this.troubles.push(`the stream of events broke: ${String(error)}`)
    }
  }

  /** Of a process that ends meanwhile there is no sample. */
  #sample(): void {
    const { directory, dashboardPid, hour } = this.#watched
    const data = join(directory, 'data')
    try {
      const gatewayPid = Number(readFileSync(join(data, '.proxy.pid'), 'utf8'))
      this.samples.push({
        hour: hour(),
        gatewayPid,
        gateway: residentBytes(gatewayPid) / mb,
        dashboard: residentBytes(dashboardPid) / mb,
        queries: queryBytes(dashboardPid) / mb,
        gatewayFiles: openFiles(gatewayPid),
        dashboardFiles: openFiles(dashboardPid),
        database: sizeOf(data, /^llm_telemetry\.db$/),
        wal: sizeOf(data, /-wal$/),
        log: sizeOf(data, /^proxy\.log/),
        payloads: sizeOf(join(directory, 'logger'), /^payloads/),
      })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === undefined) throw error
    }
  }
}

/** File descriptors that a process holds. */
export function openFiles(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length
}

function queryBytes(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').map(Number)
  return Math.max(0, ...children.filter((child) => child > 0 && isQuery(child)).map(residentBytes))
}

/** Jobs and a gateway that was replaced are children, too. */
function isQuery(pid: number): boolean {
  return existsSync(`/proc/${pid}`) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('query-worker')
}

function sizeOf(folder: string, name: RegExp): number {
  if (!existsSync(folder)) return 0
  const files = readdirSync(folder).filter((file) => name.test(file))
  const sizes = files.map((file) => statSync(join(folder, file), { throwIfNoEntry: false })?.size ?? 0)
  return sizes.reduce((sum, size) => sum + size, 0) / mb
}
