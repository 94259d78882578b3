import type { BenchOptions } from './bench-options.ts'
import { type Counted, Load } from './load.ts'
import { type BenchResult, type Goal, median, voidFailures, voidLoad, voidRate } from './summary.ts'
import { type Target, type TargetName, startTargets } from './targets/target.ts'
import { latencyCells, latencyColumns, latencyGoals, latencyOf } from './waits.ts'

const defaultStreams = [50, 400]
/** Events per second on each stream, as in P2. */
const defaultRate = 25
const warmMs = 500
const firstWarmMs = 5000
/** The pace without a proxy, in units of the proxied one: that the helpers manage twice as much is to be seen. */
const directPace = 2.2
const directMs = 1000

/** The measured values for one number of open streams. */
export interface PacedEvents {
  readonly streams: number
  /** Events per second on each stream. */
  readonly rate: number
  /** Events per second that came without a proxy at {@link directPace}, in each round. */
  readonly directRates: readonly number[]
  readonly samples: ReadonlyMap<TargetName, readonly Counted[]>
}

/** P4: from the upstream's write of an event to the client's read of it. */
export async function benchEventDelays(options: BenchOptions): Promise<BenchResult> {
  const rate = options.rate ?? defaultRate
  const ms = options.seconds * 1000
  await using stack = new AsyncDisposableStack()
  const load = stack.use(new Load())
  const upstreamPort = await load.start()
  const targets = await startTargets(options.targets, upstreamPort, stack)
  const direct = { pid: process.pid, port: upstreamPort, headers: {} }

  const count = async (
    { pid, port, headers }: Pick<Target, 'pid' | 'port' | 'headers'>,
    { streams, perS, warm, counted }: Readonly<Record<'streams' | 'perS' | 'warm' | 'counted', number>>,
  ): Promise<Counted> => {
    await load.openStreams({ port, headers, streams, fromWrite: true })
    await load.pace(perS)
    await load.events(pid, warm)
    const found = await load.events(pid, counted)
    await load.closeStreams()
    return found
  }

  const all: PacedEvents[] = []
  for (const streams of options.clients === undefined ? defaultStreams : [options.clients]) {
    const directRates: number[] = []
    const samples = new Map<TargetName, Counted[]>(options.targets.map((name) => [name, []]))
    for (let round = 0; round < options.rounds; round++) {
      const warm = round === 0 ? firstWarmMs : warmMs
      const helpers = { streams, perS: rate * directPace, warm: warmMs, counted: directMs }
      directRates.push((await count(direct, helpers)).perS)
      for (const target of targets)
        samples.get(target.name)!.push(await count(target, { streams, perS: rate, warm, counted: ms }))
    }
    all.push({ streams, rate, directRates, samples })
  }
  return eventDelaysResult(all, options)
}

export function eventDelaysResult(
  all: readonly PacedEvents[],
  { rounds, seconds }: Pick<BenchOptions, 'rounds' | 'seconds'>,
): BenchResult {
  const table = [['target', 'streams', ...latencyColumns, 'events/s', 'sent/s', 'direct/s']]
  const goals: Goal[] = []
  const notes: string[] = []
  for (const { streams, rate, directRates, samples } of all) {
    const latencies = new Map([...samples].map(([name, found]) => [name, latencyOf(found)]))
    goals.push(...latencyGoals(`event of ${streams} streams`, latencies))
    const directRate = median(directRates)
    for (const [name, found] of samples) {
      const perS = median(found.map((sample) => sample.perS))
      const rates = [perS, streams * rate, directRate].map((each) => each.toFixed(0))
      table.push([name, String(streams), ...latencyCells(name, latencies), ...rates])
      const who = `${name}, ${streams} streams`
      notes.push(...voidRate(who, perS, directRate), ...voidLoad(who, perS, streams * rate))
      notes.push(...voidFailures(who, found))
    }
  }
  return {
    name: 'p4-event-delays',
    title: `P4: from the upstream's write of an event to the client's read, ${rounds} × ${seconds} s`,
    table,
    goals,
    notes,
    data: all.map((each) => ({ ...each, samples: Object.fromEntries(each.samples) })),
  }
}
