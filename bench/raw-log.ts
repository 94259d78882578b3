import { startGatewayProcess } from '../test/support/gateway-process.ts'
import type { BenchOptions } from './bench-options.ts'
import { type Counted, Load } from './load.ts'
import { type BenchResult, median, pairedRatio, range } from './summary.ts'

const defaultClients = 16
/** Far below what a gateway takes, so that the log's thread has a core to itself when it needs one. */
const callsPerS = 800
const streamClients = 40
const eventsPerStream = 500
const eventsPerStreamS = 200
const warmMs = 500
const firstWarmMs = 10_000

const modes: Readonly<Record<string, readonly string[]>> = {
  off: [],
  'off again': [],
  on: ['--raw-log'],
  errors: ['--raw-log', '--raw-log-capture=errors'],
}

/** CPU time of the gateway's process, the thread of the log included, for a call that is logged and one that is not. */
export async function benchRawLog(options: BenchOptions): Promise<BenchResult> {
  const clients = options.clients ?? defaultClients
  await using stack = new AsyncDisposableStack()
  const load = stack.use(new Load())
  const upstream = `http://127.0.0.1:${await load.start()}/v1`
  const gateways = new Map<string, { readonly pid: number; readonly port: number }>()
  for (const [mode, args] of Object.entries(modes)) {
    const all = ['--max-concurrent', '1000', '--slot-cooldown-ms', '0', '--raw-log-max-mb', '128', ...args]
    gateways.set(mode, stack.use(await startGatewayProcess({ upstream, args: all })))
  }
  const calls = new Map<string, Counted[]>()
  const streams = new Map<string, Counted[]>()
  const streamMs = (eventsPerStream / eventsPerStreamS) * 1000
  const ms = options.seconds * 1000
  for (let round = 0; round < options.rounds; round++) {
    for (const [mode, { pid, port }] of gateways) {
      const warm = round === 0 ? firstWarmMs : warmMs
      add(
        calls,
        mode,
        await load.calls(pid, { port, clients, large: true, maxPerS: callsPerS, warmMs: warm, ms }),
      )
    }
    await load.pace(eventsPerStreamS)
    for (const [mode, { pid, port }] of gateways) {
      const apartMs = streamMs / streamClients
      const asked = { port, clients: streamClients, events: eventsPerStream, apartMs, warmMs: 0, ms: 2 * ms }
      add(streams, mode, await load.streams(pid, asked))
    }
  }
  const table = [
    ['payloads', 'unit', 'CPU µs/unit', 'range', '÷ off', 'units/s', 'wait p50 ms', 'p99 ms', 'failed'],
  ]
  const notes: string[] = []
  for (const [unit, all] of [
    ['call of 2 kB each way', calls],
    [`stream of ${eventsPerStream} events`, streams],
  ] as const) {
    const off = all.get('off')?.map((sample) => sample.cpuUsPerUnit)
    for (const [mode, found] of all) {
      const cpus = found.map((sample) => sample.cpuUsPerUnit)
      const failed = found.reduce((sum, sample) => sum + sample.failed, 0)
      const figures = [median(cpus).toFixed(1), range(cpus, 1), pairedRatio(cpus, off)]
      const waits = [0.5, 0.99].map((part) => median(found.map((sample) => sample.waits.at(part))).toFixed(2))
      const perS = median(found.map((sample) => sample.perS)).toFixed(1)
      table.push([mode, unit, ...figures, perS, ...waits, String(failed)])
      if (failed > 0) notes.push(`${mode}: void, calls failed`)
    }
  }
  const title = `Raw log: CPU of a call, ${clients} clients, ${options.rounds} × ${options.seconds} s`
  const data = { calls: Object.fromEntries(calls), streams: Object.fromEntries(streams) }
  return { name: 'raw-log', title, table, goals: [], notes, data }
}

function add(samples: Map<string, Counted[]>, mode: string, sample: Counted): void {
  samples.set(mode, [...(samples.get(mode) ?? []), sample])
}
