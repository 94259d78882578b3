import { setTimeout as sleep } from 'node:timers/promises'
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { ProcessStatus } from '../../../src/api/process-status.ts'
import { startCommandProcess } from '../../support/command-process.ts'
import { eventually } from '../../support/eventually.ts'
import type { DayClients } from './day-clients.ts'
import type { DayWatch } from './day-watch.ts'
import { models } from './day.ts'

/** Nano-dollars a token. */
export interface TokenPrice {
  readonly input: number
  readonly output: number
}

export const finalPrices: Readonly<Record<string, TokenPrice>> = {
  [models.chat]: { input: 500, output: 1500 },
  [models.embedding]: { input: 20, output: 0 },
}

const limitMs = 60_000
/** For so long nobody starts a gateway that was killed. */
const downMs = 500

/** What people do with gateway and dashboard in the course of a day. */
export class DayChores {
  /** When the gateway was killed, by `performance.now()`. */
  readonly killedAtMs: number[] = []
  restarts = 0
  readonly #directory: string
  readonly #dashboard: string
  readonly #clients: DayClients
  readonly #watch: DayWatch
  #made = 0

  constructor(directory: string, dashboard: string, clients: DayClients, watch: DayWatch) {
    this.#directory = directory
    this.#dashboard = dashboard
    this.#clients = clients
    this.#watch = watch
  }

  /** By the hour at which each is due. */
  readonly table: readonly (readonly [hour: number, name: string, work: () => Promise<void>])[] = [
    [0.5, 'prices set', () => this.setPrices(2)],
    [1, 'payloads kept', () => this.#keepPayloads(true)],
    [2.5, 'restart', () => this.restart()],
    [3, 'payloads off', () => this.#keepPayloads(false)],
    [5.5, 'restart', () => this.restart()],
    [6, 'prices changed', () => this.setPrices(3)],
    [7, 'kill -9', () => this.kill()],
    [7.7, 'restart at a peak', () => this.restart()],
    [9, 'repriced', () => this.reprice()],
    [10, 'payloads kept', () => this.#keepPayloads(true)],
    [12, 'backup', () => this.#copy('db', 'backup')],
    [13, 'export at a peak', () => this.#copy('db', 'export', '--format', 'ndjson', '--out')],
    [14, 'payloads off', () => this.#keepPayloads(false)],
    [17, 'prices changed', () => this.setPrices(1)],
    [18, 'repriced', () => this.reprice()],
    [19, 'payloads kept', () => this.#keepPayloads(true)],
    [20, 'backup', () => this.#copy('db', 'backup')],
    [22, 'export', () => this.#copy('db', 'export', '--format', 'parquet', '--out')],
  ]

  /** The last prices, so many times. */
  async setPrices(times: number): Promise<void> {
    for (const [name, { input, output }] of Object.entries(finalPrices)) {
      // Dollars for a million tokens.
      const price = { input: (input * times) / 1000, output: (output * times) / 1000 }
      await this.#ask('PUT', `/api/costs/overrides/${name}`, price)
    }
  }

  /** All calls of the day by the prices in force; waits for a job that is at the database already. */
  async reprice(): Promise<void> {
    const from = new Date(Date.now() - 12 * 3_600_000).toISOString()
    const to = new Date(Date.now() + 3_600_000).toISOString()
    const endMs = performance.now() + limitMs
    for (;;) {
      const told = await this.run('db', 'reprice', '--json', '--from', from, '--to', to)
      if (told.code === 0) return
      if (!told.text.includes('job_running') || performance.now() > endMs)
        throw new Error(`db reprice: ${told.text}`)
      await sleep(200)
    }
  }

  /** A command of a person beside the running gateway. */
  async run(...args: readonly string[]): Promise<{ readonly code: number | null; readonly text: string }> {
    await using command = startCommandProcess({ args, directory: this.#directory })
    const { code } = await command.exited
    return { code, text: command.stdout + command.stderr }
  }

  async status(): Promise<ProcessStatus> {
    return (await this.#ask('GET', '/api/proxy/status')) as ProcessStatus
  }

  async #keepPayloads(enabled: boolean): Promise<void> {
    await this.#ask('POST', '/api/raw-log/toggle', { enabled })
  }

  async restart(): Promise<void> {
    const { pid } = await this.status()
    const next = (await this.#ask('POST', '/api/proxy/restart')) as ProcessStatus
    if (next.pid === pid) throw new Error('the gateway is the same after a restart')
    this.restarts += 1
  }

  async kill(): Promise<void> {
    const { pid, predecessors } = await this.status()
    if (pid === null || predecessors.length > 0) {
      await sleep(100)
      return this.kill()
    }
    this.#watch.isGatewayDown = true
    this.#clients.isPaused = true
    this.killedAtMs.push(performance.now())
    process.kill(pid, 'SIGKILL')
    // What was open there breaks; nobody begins anything until it is up again.
    await eventually('the calls of a killed gateway to end', () => this.#clients.open === 0)
    await sleep(downMs)
    await this.#ask('POST', '/api/proxy/start')
    this.#watch.isGatewayDown = false
    this.#clients.isPaused = false
  }

  /** Writes a file, whose name is the last argument. */
  async #copy(...args: readonly string[]): Promise<void> {
    const file = join(this.#directory, `copy-${++this.#made}`)
    const { code, text } = await this.run(...args, file)
    if (code !== 0 || !existsSync(file) || statSync(file).size === 0)
      throw new Error(`${args.join(' ')}: ended with ${code}: ${text}`)
  }

  async #ask(method: string, path: string, body?: unknown): Promise<unknown> {
    const response = await fetch(`${this.#dashboard}${path}`, {
      method,
      signal: AbortSignal.timeout(limitMs),
      ...(body !== undefined && {
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    })
    const answer: unknown = await response.json()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`)
    return answer
  }
}
