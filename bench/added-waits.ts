import type { BenchOptions } from './bench-options.ts'
import { type Counted, Load } from './load.ts'
import { type BenchResult, type Goal, median, voidFailures, voidLoad, voidRate } from './summary.ts'
import { type TargetName, startTargets } from './targets/target.ts'
import { latencyCells, latencyColumns, latencyGoals, latencyOf } from './waits.ts'

const defaultClients = 32
/** Calls per second, in all. */
const defaultRates = [1500, 3000]
/** From this rate on, load, upstream and proxy fill two cores, so that the goals are others. */
const fastRate = 3000
const fastGoals = { p50: 1.5, p99: 1.5 } as const
const directMs = 1000
const warmMs = 500
const firstWarmMs = 10_000

/** The measured values at one rate. */
interface CallsAtRate {
  /** Calls per second. */
  readonly rate: number
  /** Calls per second without a proxy and without a pause, in each round. */
  readonly directRates: readonly number[]
  readonly samples: ReadonlyMap<TargetName, readonly Counted[]>
}

/** P3: a client's wait for a call, when calls come at a fixed rate whether answers come or not (open loop). */
export async function benchAddedWaits(options: BenchOptions): Promise<BenchResult> {
  const clients = options.clients ?? defaultClients
  await using stack = new AsyncDisposableStack()
  const load = stack.use(new Load())
  const upstreamPort = await load.start()
  const targets = await startTargets(options.targets, upstreamPort, stack)
  const all: CallsAtRate[] = []
  for (const rate of options.rate === undefined ? defaultRates : [options.rate]) {
    const directRates: number[] = []
    const samples = new Map<TargetName, Counted[]>(options.targets.map((name) => [name, []]))
    for (let round = 0; round < options.rounds; round++) {
      directRates.push(await load.directRate(clients, directMs))
      const times = { warmMs: round === 0 ? firstWarmMs : warmMs, ms: options.seconds * 1000 }
      for (const { name, pid, port, headers } of targets) {
        const command = { port, headers, clients, maxPerS: rate, isFixedRate: true, ...times }
        samples.get(name)!.push(await load.calls(pid, command))
      }
    }
    all.push({ rate, directRates, samples })
  }
  return addedWaitsResult(all, clients, options)
}

function addedWaitsResult(
  all: readonly CallsAtRate[],
  clients: number,
  { rounds, seconds }: Pick<BenchOptions, 'rounds' | 'seconds'>,
): BenchResult {
  const table = [['target', 'calls/s', ...latencyColumns, 'most ms', 'came/s', 'direct/s']]
  const goals: Goal[] = []
  const notes: string[] = []
  for (const { rate, directRates, samples } of all) {
    const latencies = new Map([...samples].map(([name, found]) => [name, latencyOf(found)]))
    const atMost = rate < fastRate ? undefined : fastGoals
    goals.push(...latencyGoals(`call at ${rate} a second`, latencies, atMost))
    const directRate = median(directRates)
    for (const [name, found] of samples) {
      const perS = median(found.map((sample) => sample.perS))
      const mostMs = Math.max(...found.map(({ waits }) => waits.at(1)))
      const rates = [perS, directRate].map((each) => each.toFixed(0))
      table.push([name, String(rate), ...latencyCells(name, latencies), mostMs.toFixed(1), ...rates])
      const who = `${name}, ${rate} a second`
      notes.push(
        ...voidRate(who, perS, directRate),
        ...voidLoad(who, perS, rate),
        ...voidFailures(who, found),
      )
    }
  }
  return {
    name: 'p3-added-waits',
    title: `P3: a client's wait for a call, open loop, ${clients} connections, ${rounds} × ${seconds} s`,
    table,
    goals,
    notes,
    data: all.map((each) => ({ ...each, samples: Object.fromEntries(each.samples) })),
  }
}
