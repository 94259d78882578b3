import { createServer } from 'node:http'
import { listenOnLoopback } from '../src/lib/http/http.ts'
import { startGatewayProcess } from '../test/support/gateway-process.ts'
import type { BenchOptions } from './bench-options.ts'
import { type Counted, Load } from './load.ts'
import { type BenchResult, median, pairedRatio, range, ratioGoal, voidFailures } from './summary.ts'

const defaultClients = 32
const defaultStreams = 200
const directMs = 1000
/** Half of that in p1: below what any of them takes, so that all carry the same load. */
const shareOfDirect = 0.22
const eventsPerStream = 25
const warmMs = 500
const firstWarmMs = 15_000
const scrapeEveryMs = 1000
const goal = 1.05

interface Mode {
  readonly metrics?: true
  readonly spans?: true
}

const modes: Readonly<Record<string, Mode>> = {
  off: {},
  'off again': {},
  scraped: { metrics: true },
  spans: { spans: true },
  both: { metrics: true, spans: true },
}

/** One round of load on a gateway. */
type Round = (load: Load, pid: number, port: number, warmMs: number) => Promise<Counted>

/** CPU time of the gateway's process for p1's calls: alone, scraped each second, sending a span of each call, and both. */
export async function benchObservedCalls(options: BenchOptions): Promise<BenchResult> {
  const clients = options.clients ?? defaultClients
  let maxPerS = 0
  const ready = async (load: Load): Promise<void> => {
    maxPerS = Math.floor((await load.directRate(clients, directMs)) * shareOfDirect)
  }
  const round: Round = (load, pid, port, warmMs) =>
    load.calls(pid, { port, clients, maxPerS, warmMs, ms: options.seconds * 1000 })
  return benchObserved(options, 'call', `${clients} clients`, round, ready)
}

/** The same for p2's events. */
export async function benchObservedEvents(options: BenchOptions): Promise<BenchResult> {
  const streams = options.clients ?? defaultStreams
  const round: Round = async (load, pid, port, warmMs) => {
    await load.openStreams({ port, headers: {}, streams })
    await load.pace(options.rate ?? eventsPerStream)
    await load.events(pid, warmMs)
    const counted = await load.events(pid, options.seconds * 1000)
    await load.closeStreams()
    return counted
  }
  return benchObserved(options, 'event', `${streams} streams`, round)
}

async function benchObserved(
  { rounds, seconds }: BenchOptions,
  unit: 'call' | 'event',
  crowd: string,
  measure: Round,
  ready: (load: Load) => Promise<void> = () => Promise.resolve(),
): Promise<BenchResult> {
  await using stack = new AsyncDisposableStack()
  const load = stack.use(new Load())
  const upstream = `http://127.0.0.1:${await load.start()}/v1`
  const receiver = await listenOnLoopback(createServer((req, res) => req.resume().on('end', () => res.end())))
  stack.defer(() => receiver.close())
  const gateways: [mode: string, pid: number, port: number][] = []
  const samples = new Map<string, Counted[]>()
  for (const [mode, { metrics, spans }] of Object.entries(modes)) {
    const args = ['--max-concurrent', '20000', '--slot-cooldown-ms', '0']
    if (metrics === undefined) args.push('--metrics', 'off')
    if (spans !== undefined) args.push('--otlp-endpoint', receiver.origin)
    const { pid, port } = stack.use(await startGatewayProcess({ upstream, args }))
    gateways.push([mode, pid, port])
    samples.set(mode, [])
  }
  for (let round = 0; round < rounds; round++) {
    await ready(load)
    // Each is first, and last, as often as the others.
    const inTurn = gateways.map((_, at) => gateways[(at + round) % gateways.length]!)
    for (const [mode, pid, port] of inTurn) {
      using _scraper = modes[mode]?.metrics === true ? scrape(port) : undefined
      samples.get(mode)?.push(await measure(load, pid, port, round === 0 ? firstWarmMs : warmMs))
    }
  }
  const cpusOf = (mode: string): number[] => samples.get(mode)?.map((sample) => sample.cpuUsPerUnit) ?? []
  const table = [['observed', `CPU µs/${unit}`, 'range', '÷ off', `${unit}s/s`, 'failed']]
  for (const [mode, found] of samples) {
    const cpus = cpusOf(mode)
    const perS = median(found.map((sample) => sample.perS)).toFixed(0)
    const failed = found.reduce((sum, sample) => sum + sample.failed, 0)
    const ratio = pairedRatio(cpus, cpusOf('off'))
    table.push([mode, median(cpus).toFixed(1), range(cpus, 1), ratio, perS, String(failed)])
  }
  const goals = ratioGoal(
    `CPU per ${unit}, scraped and with spans`,
    goal,
    cpusOf('both'),
    cpusOf('off'),
    'off',
  )
  const notes = [...samples].flatMap(([mode, found]) => voidFailures(mode, found))
  const title = `Metrics and spans: CPU of ${unit === 'call' ? 'a call' : 'an event'}, ${crowd}, ${rounds} × ${seconds} s`
  return { name: `observed-${unit}s`, title, table, goals, notes, data: Object.fromEntries(samples) }
}

/** Scrapes as Prometheus does, but more often. */
function scrape(port: number): Disposable {
  const ask = (): void => {
    const headers = { accept: 'application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5' }
    void fetch(`http://127.0.0.1:${port}/metrics`, { headers }).then((answer) => answer.arrayBuffer())
  }
  const timer = setInterval(ask, scrapeEveryMs)
  ask()
  return { [Symbol.dispose]: () => clearInterval(timer) }
}
