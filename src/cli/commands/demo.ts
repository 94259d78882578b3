import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startDemoTraffic } from '../../demo/demo-traffic.ts'
import { startDemoUpstream } from '../../demo/demo-upstream.ts'
import { messageOf } from '../../lib/errors.ts'
import { type DashboardValues, upOptionTable } from '../../options/dashboard-options.ts'
import { type Options, sourceOf } from '../../options/option-spec.ts'
import { priceFileOf, writePriceFile } from '../../pricing/price-file.ts'
import { demoCosts } from '../demo-prices.ts'
import { demoItself } from './dashboard-port.ts'
import { type CommandRun, OptionError, parseOptions } from '../parse-options.ts'
import { reachableOrigin } from '../terminal/reachable-origin.ts'
import { runUp } from './up.ts'

export const example = 'tokenweir demo'
export const use = 'none'
export const table = upOptionTable

/** Options that the demo sets: its upstream, and files that it deletes when it ends. */
const ownOptions = ['upstream', 'db', 'pidFile', 'rawLogFile'] as const

/** Options for real calls. The demo reads them only from flags, not from variables. */
const realOptions = ['upstreamFile', 'otlpEndpoint', 'otlpTracesEndpoint', 'alertWebhook'] as const

/** `tokenweir demo`: `up` with a simulated upstream, past calls and a little traffic, in a temporary folder. */
export const run: CommandRun<typeof table> = async (options, { env }) => {
  const clash = ownOptions.find((key) => sourceOf(options.setBy[key]) === 'flag')
  if (clash !== undefined) {
    throw new OptionError(`--${upOptionTable[clash].name} cannot be used with the demo, which sets its own`)
  }
  const upstream = await startDemoUpstream()
  const folder = new DemoFolder()
  let traffic: ReturnType<typeof startDemoTraffic> | null = null
  // A simulated upstream gets no real key.
  const withoutKey = { ...env, UPSTREAM_API_KEY: '' }
  await runUp(demoOptions(options, upstream.baseUrl, folder), withoutKey, {
    preface:
      'This is a demo: the upstream, its responses, the past fifteen days and the prices are simulated.',
    hints: demoLines,
    started: ({ host, port }) => {
      traffic = startDemoTraffic({ gatewayBaseUrl: `${reachableOrigin(host, port)}/v1` })
      // The past is written only now, because its writes would delay the gateway's start.
      folder.fill(new URL(upstream.baseUrl).host, (line) => console.error(`tokenweir: ${line}`))
    },
    ended: async () => {
      await traffic?.close()
      await upstream.close()
      await folder.remove()
    },
  })
}

function demoOptions(
  options: Options<DashboardValues>,
  upstream: string,
  folder: DemoFolder,
): Options<DashboardValues> {
  const notGiven = realOptions.filter((key) => sourceOf(options.setBy[key]) !== 'flag')
  const setByDemo = Object.fromEntries([...ownOptions, ...notGiven].map((key) => [key, demoItself]))
  const defaults = parseOptions(upOptionTable, [], {})
  return {
    ...options,
    ...Object.fromEntries(notGiven.map((key) => [key, defaults[key]])),
    // Other machines get no simulated answers, unless `--host` asks for it.
    host: options.setBy.host === null ? '127.0.0.1' : options.host,
    upstream,
    db: folder.db,
    pidFile: join(folder.path, '.proxy.pid'),
    rawLogFile: join(folder.path, 'payloads.jsonl'),
    setBy: { ...options.setBy, ...setByDemo },
  }
}

/** The folder of a demo's files. */
class DemoFolder {
  readonly path: string = mkdtempSync(join(tmpdir(), 'tokenweir-demo-'))
  readonly db: string = join(this.path, 'llm_telemetry.db')
  readonly #removing = new AbortController()
  #written: Promise<void> = Promise.resolve()

  constructor() {
    writePriceFile(priceFileOf(this.db), demoCosts)
  }

  /** Adds past calls of an upstream at `host`. Calls `warn` with a line if that fails. */
  fill(host: string, warn: (line: string) => void): void {
    const { signal } = this.#removing
    this.#written = import('../demo-past.ts')
      .then(async ({ writePast }) => {
        const result = await writePast(this.db, { host, endMs: Date.now(), signal })
        if (typeof result === 'string') throw new Error(result)
      })
      .catch((error: unknown) => {
        if (!signal.aborted) warn(`could not create the demo's past calls: ${messageOf(error)}`)
      })
  }

  /** Deletes the folder and all its files. */
  async remove(): Promise<void> {
    this.#removing.abort()
    await this.#written
    rmSync(this.path, { recursive: true, force: true })
  }
}

/** The suggestions of `tokenweir demo`; `dashboard` is the dashboard's address. */
function demoLines(dashboard: string): readonly string[] {
  return [
    'Three things to try:',
    '  Find the incident: some days ago, one model was slow and refused calls for three hours. When, and which one?',
    `    ${dashboard}/?range=7d`,
    '  See what an agent costs: the most expensive client is an agent. Open one of its sessions to see where the money went.',
    `    ${dashboard}/costs?range=7d&by=client  and  ${dashboard}/sessions?range=7d&client=demo-agent`,
    '  Cancel a call in progress. Its client gets an error.',
    `    ${dashboard}/live`,
  ]
}
