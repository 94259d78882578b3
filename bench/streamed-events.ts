import type { BenchOptions } from './bench-options.ts'
import { type Counted, Load } from './load.ts'
import { type BenchResult, median, pairedRatio, range, ratioGoal, voidLoad } from './summary.ts'
import { type TargetName, startTargets } from './targets/target.ts'

const defaultStreams = 400
/** At most, in units of the bare proxy. */
const goal = 1.2

/** Below what any target can take, so that events are not merged on the way: 10,000 a second in all. */
const defaultRate = 25
const warmMs = 500
const firstWarmMs = 2000

/** P2: CPU time of the proxy's process for one event of a stream, many streams open, one event in each write. */
export async function benchStreamedEvents(options: BenchOptions): Promise<BenchResult> {
  const streams = options.clients ?? defaultStreams
  const rate = options.rate ?? defaultRate
  await using stack = new AsyncDisposableStack()
  const load = stack.use(new Load())
  const upstreamPort = await load.start()
  const targets = await startTargets(options.targets, upstreamPort, stack)

  const samples = new Map<TargetName, Counted[]>(options.targets.map((name) => [name, []]))
  for (let round = 0; round < options.rounds; round++) {
    for (const target of targets) {
      await load.openStreams({ port: target.port, headers: target.headers, streams })
      await load.pace(rate)
      await load.events(target.pid, round === 0 ? firstWarmMs : warmMs)
      samples.get(target.name)!.push(await load.events(target.pid, options.seconds * 1000))
      await load.closeStreams()
    }
  }

  const cpusOf = (name: TargetName): number[] | undefined =>
    samples.get(name)?.map((sample) => sample.cpuUsPerUnit)
  const wanted = streams * rate
  const table = [['target', 'CPU µs/event', 'range', '÷ bare', 'events/s', 'sent/s', 'merged %']]
  const notes: string[] = []
  for (const [name, found] of samples) {
    const perS = median(found.map((sample) => sample.perS))
    const merged = median(found.map((sample) => 100 * Math.max(0, 1 - sample.reads / sample.units)))
    const cpus = found.map((sample) => sample.cpuUsPerUnit)
    const ratio = pairedRatio(cpus, cpusOf('bare'))
    table.push([
      name,
      median(cpus).toFixed(1),
      range(cpus, 1),
      ratio,
      perS.toFixed(0),
      String(wanted),
      merged.toFixed(1),
    ])
    notes.push(...voidLoad(name, perS, wanted))
    if (merged > 10) notes.push(`${name}: void, over 10% of the events came merged`)
  }
  const title = `P2: streamed event, one per write, ${streams} open streams, ${options.rounds} × ${options.seconds} s`
  const goals = ratioGoal('CPU per event', goal, cpusOf('tokenweir'), cpusOf('bare'))
  const data = { samples: Object.fromEntries(samples) }
  return { name: 'p2-streamed-events', title, table, goals, notes, data }
}
