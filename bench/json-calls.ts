import type { BenchOptions } from './bench-options.ts'
import { type Counted, Load } from './load.ts'
import { type BenchResult, median, pairedRatio, range, ratioGoal } from './summary.ts'
import { type Target, type TargetName, startTarget } from './target.ts'

const defaultClients = 32
const directMs = 1000
/** At most, in units of the bare proxy. */
const goal = 1.35

/** No target is driven faster than this part of the direct rate: helpers that are full would be measured, too. */
const shareOfDirect = 0.45
const warmMs = 500
/** Until the compiler has settled: the gateway has several times the code of a bare proxy, and as much to compile. */
const firstWarmMs = 15_000

/** P1: CPU time of the proxy's process for one unstreamed call. */
export async function benchJsonCalls(options: BenchOptions): Promise<BenchResult> {
  const clients = options.clients ?? defaultClients
  await using stack = new AsyncDisposableStack()
  const load = stack.use(new Load())
  const upstreamPort = await load.start()
  const targets: Target[] = []
  for (const name of options.targets) targets.push(stack.use(await startTarget(name, upstreamPort)))

  const direct: number[] = []
  const samples = new Map<TargetName, Counted[]>(options.targets.map((name) => [name, []]))
  for (let round = 0; round < options.rounds; round++) {
    const directPerS = await load.directRate(clients, directMs)
    direct.push(directPerS)
    const maxPerS = Math.floor(directPerS * shareOfDirect)
    for (const target of targets) {
      const times = { warmMs: round === 0 ? firstWarmMs : warmMs, ms: options.seconds * 1000 }
      samples
        .get(target.name)!
        .push(await load.calls(target.pid, { port: target.port, clients, maxPerS, ...times }))
    }
  }

  const directRate = median(direct)
  const cpusOf = (name: TargetName): number[] | undefined =>
    samples.get(name)?.map((sample) => sample.cpuUsPerUnit)
  const table = [['target', 'CPU µs/call', 'range', '÷ bare', 'calls/s (capped)', 'direct/s', 'failed']]
  const notes: string[] = []
  for (const [name, found] of samples) {
    const rate = median(found.map((sample) => sample.perS))
    const failed = found.reduce((sum, sample) => sum + sample.failed, 0)
    const cpus = found.map((sample) => sample.cpuUsPerUnit)
    const ratio = pairedRatio(cpus, cpusOf('bare'))
    table.push([
      name,
      median(cpus).toFixed(1),
      range(cpus, 1),
      ratio,
      rate.toFixed(0),
      directRate.toFixed(0),
      String(failed),
    ])
    if (directRate < 2 * rate) notes.push(`${name}: void, the direct rate is below twice the proxied one`)
    if (failed > 0) notes.push(`${name}: void, calls failed`)
  }
  const title = `P1: JSON call, 1.5 kB prompt, 1 kB answer, ${clients} clients, ${options.rounds} × ${options.seconds} s`
  return {
    name: 'p1-json-calls',
    title,
    table,
    goals: ratioGoal('CPU per call', goal, cpusOf('tokenweir'), cpusOf('bare')),
    notes,
    data: { direct, samples: Object.fromEntries(samples) },
  }
}
