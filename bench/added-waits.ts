import type { BenchOptions } from './bench-options.ts'
import { type Counted, Load } from './load.ts'
import { type BenchResult, median, voidFailures, voidLoad, voidRate } from './summary.ts'
import { type TargetName, startTargets } from './targets/target.ts'
import { addedTo, latencyCells, latencyColumns, latencyGoals, latencyOf } from './waits.ts'

const defaultClients = 32
/** Share of the slowest target's highest rate. */
const shareOfMaximum = 0.5
const maximumMs = 2000
const directMs = 1000
const warmMs = 500
const firstWarmMs = 10_000

/** The measured values. */
export interface PacedCalls {
  readonly clients: number
  /** The requested calls per second. */
  readonly rate: number
  /** Highest calls per second of each target. */
  readonly maxima: ReadonlyMap<TargetName, number>
  /** Calls per second without a proxy, in each round. */
  readonly directRates: readonly number[]
  /** Paced calls without a proxy. */
  readonly direct: readonly Counted[]
  readonly samples: ReadonlyMap<TargetName, readonly Counted[]>
}

/** P3: latency that a proxy adds to a call, at half of the slowest target's highest rate. */
export async function benchAddedWaits(options: BenchOptions): Promise<BenchResult> {
  const clients = options.clients ?? defaultClients
  await using stack = new AsyncDisposableStack()
  const load = stack.use(new Load())
  const upstreamPort = await load.start()
  const targets = await startTargets(options.targets, upstreamPort, stack)
  const maxima = new Map<TargetName, number>()
  for (const { name, pid, port, headers } of targets) {
    const full = { clients, maxPerS: 1e9, warmMs: firstWarmMs, ms: maximumMs }
    maxima.set(name, (await load.calls(pid, { port, headers, ...full })).perS)
  }
  const rate = options.rate ?? Math.floor(Math.min(...maxima.values()) * shareOfMaximum)
  const paced = { clients, maxPerS: rate, warmMs, ms: options.seconds * 1000 }
  const directRates: number[] = []
  const direct: Counted[] = []
  const samples = new Map<TargetName, Counted[]>(options.targets.map((name) => [name, []]))
  for (let round = 0; round < options.rounds; round++) {
    directRates.push(await load.directRate(clients, directMs))
    direct.push(await load.calls(process.pid, { port: upstreamPort, ...paced }))
    for (const { name, pid, port, headers } of targets)
      samples.get(name)!.push(await load.calls(pid, { port, headers, ...paced }))
  }
  return addedWaitsResult({ clients, rate, maxima, directRates, direct, samples }, options)
}

export function addedWaitsResult(
  { clients, rate, maxima, directRates, direct, samples }: PacedCalls,
  { rounds, seconds }: Pick<BenchOptions, 'rounds' | 'seconds'>,
): BenchResult {
  const without = latencyOf(direct)
  const added = new Map([...samples].map(([name, found]) => [name, addedTo(without, latencyOf(found))]))
  const { goals, notes } = latencyGoals('added to a call', added)
  const directRate = median(directRates)
  const table = [['target', ...latencyColumns, 'calls/s', 'at most', 'direct/s']]
  const voids: string[] = []
  for (const [name, found] of samples) {
    const perS = median(found.map((sample) => sample.perS))
    const rates = [perS, maxima.get(name)!, directRate].map((each) => each.toFixed(0))
    table.push([name, ...latencyCells(name, added), ...rates])
    voids.push(
      ...voidRate(name, perS, directRate),
      ...voidLoad(name, perS, rate),
      ...voidFailures(name, found),
    )
  }
  const [p50, p99] = [without.p50, without.p99].map((ms) => median(ms).toFixed(2))
  return {
    name: 'p3-added-waits',
    title:
      `P3: added to the wait for a call, ${clients} clients, ${rate} calls a second, ${rounds} × ${seconds} s; ` +
      `without a proxy p50 ${p50} ms, p99 ${p99} ms`,
    table,
    goals,
    notes: [...notes, ...voids],
    data: {
      rate,
      maxima: Object.fromEntries(maxima),
      directRates,
      direct,
      samples: Object.fromEntries(samples),
    },
  }
}
