import { startGatewayProcess } from '../test/support/gateway-process.ts'
import type { BenchOptions } from './bench-options.ts'
import { type Counted, Load } from './load.ts'
import { type BenchResult, median, pairedRatio, range, ratioGoal, voidFailures } from './summary.ts'

const defaultClients = 32
const directMs = 1000
/** Half of that in p1: below what any of them takes, so that all carry the same load. */
const shareOfDirect = 0.22
const warmMs = 500
const firstWarmMs = 15_000
const scrapeEveryMs = 1000
const goal = 1.05

const modes = { off: ['--metrics', 'off'], 'off again': ['--metrics', 'off'], on: [], scraped: [] } as const

/** CPU time of the gateway's process for p1's calls: without metrics, with them, and while they are scraped each second. */
export async function benchScrapedCalls(options: BenchOptions): Promise<BenchResult> {
  const clients = options.clients ?? defaultClients
  await using stack = new AsyncDisposableStack()
  const load = stack.use(new Load())
  const upstream = `http://127.0.0.1:${await load.start()}/v1`
  const gateways: [mode: string, pid: number, port: number][] = []
  const samples = new Map<string, Counted[]>()
  for (const [mode, own] of Object.entries(modes)) {
    const args = ['--max-concurrent', '20000', '--slot-cooldown-ms', '0', ...own]
    const { pid, port } = stack.use(await startGatewayProcess({ upstream, args }))
    gateways.push([mode, pid, port])
    samples.set(mode, [])
  }
  for (let round = 0; round < options.rounds; round++) {
    const maxPerS = Math.floor((await load.directRate(clients, directMs)) * shareOfDirect)
    // Each is first, and last, as often as the others.
    const inTurn = gateways.map((_, at) => gateways[(at + round) % gateways.length]!)
    for (const [mode, pid, port] of inTurn) {
      using _scraper = mode === 'scraped' ? scrape(port) : undefined
      const times = { warmMs: round === 0 ? firstWarmMs : warmMs, ms: options.seconds * 1000 }
      samples.get(mode)?.push(await load.calls(pid, { port, clients, maxPerS, ...times }))
    }
  }
  const cpusOf = (mode: string): number[] => samples.get(mode)?.map((sample) => sample.cpuUsPerUnit) ?? []
  const table = [['metrics', 'CPU µs/call', 'range', '÷ off', 'calls/s', 'failed']]
  for (const [mode, found] of samples) {
    const cpus = cpusOf(mode)
    const perS = median(found.map((sample) => sample.perS)).toFixed(0)
    const failed = found.reduce((sum, sample) => sum + sample.failed, 0)
    table.push([
      mode,
      median(cpus).toFixed(1),
      range(cpus, 1),
      pairedRatio(cpus, cpusOf('off')),
      perS,
      String(failed),
    ])
  }
  const goals = ratioGoal('CPU per call, scraped each second', goal, cpusOf('scraped'), cpusOf('off'), 'off')
  const notes = [...samples].flatMap(([mode, found]) => voidFailures(mode, found))
  const title = `Metrics: CPU of a call, ${clients} clients, ${options.rounds} × ${options.seconds} s`
  return { name: 'metrics', title, table, goals, notes, data: Object.fromEntries(samples) }
}

/** As Prometheus does it, and more often than it would. */
function scrape(port: number): Disposable {
  const ask = (): void => {
    const headers = { accept: 'application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5' }
    void fetch(`http://127.0.0.1:${port}/metrics`, { headers }).then((answer) => answer.arrayBuffer())
  }
  const timer = setInterval(ask, scrapeEveryMs)
  ask()
  return { [Symbol.dispose]: () => clearInterval(timer) }
}
