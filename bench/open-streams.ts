import type { BenchOptions } from './bench-options.ts'
import { Load } from './load.ts'
import { openFilesLimit, residentBytes } from './process-figures.ts'
import { type BenchResult, median, pairedRatio, range, ratioGoal } from './summary.ts'
import { type TargetName, startTarget } from './targets/target.ts'

const defaultStreams = 5000
/** At most, in units of the bare proxy. */
const goal = 1.4

/** Every stream stays alive with one event a second. */
const defaultRate = 1
const warmMs = 500
/** A proxy needs two sockets a stream. */
const spareFiles = 500

/** P5: resident memory for each open stream, above that of a freshly started process that has served a few calls. */
export async function benchOpenStreams(options: BenchOptions): Promise<BenchResult> {
  const wanted = options.clients ?? defaultStreams
  const streams = Math.min(wanted, Math.floor((openFilesLimit() - spareFiles) / 2))
  const samples = new Map<TargetName, number[]>(options.targets.map((name) => [name, []]))
  const notes: string[] = []
  if (streams < wanted) notes.push(`only ${streams} streams: raise the limit of open files (ulimit -n)`)

  using load = new Load()
  const upstreamPort = await load.start()
  for (let round = 0; round < options.rounds; round++) {
    for (const name of options.targets) {
      await using target = await startTarget(name, upstreamPort)
      const { pid, port, headers } = target
      await load.calls(pid, { port, headers, clients: 4, warmMs: 0, ms: warmMs, maxPerS: 1000 })
      const before = residentBytes(pid)
      await load.openStreams({ port, headers, streams })
      await load.pace(options.rate ?? defaultRate)
      const { units } = await load.events(pid, options.seconds * 1000)
      if (units === 0) throw new Error(`${name}: no event arrived`)
      samples.get(name)!.push((residentBytes(pid) - before) / streams / 1024)
      await load.closeStreams()
    }
  }

  const table = [['target', 'kB/stream', 'range', '÷ bare']]
  for (const [name, found] of samples) {
    const ratio = pairedRatio(found, samples.get('bare'))
    table.push([name, median(found).toFixed(1), range(found, 1), ratio])
  }
  const title = `P5: memory of an open stream at ${streams} streams, ${options.rounds} rounds, a fresh process each`
  const goals = ratioGoal('memory per stream', goal, samples.get('tokenweir'), samples.get('bare'))
  const data = { streams, kB: Object.fromEntries(samples) }
  return { name: 'p5-open-streams', title, table, goals, notes, data }
}
