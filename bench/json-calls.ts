import type { BenchOptions } from './bench-options.ts'
import { type Counted, Load } from './load.ts'
import { type BenchResult, median, pairedRatio, range, ratioGoal, voidFailures, voidRate } from './summary.ts'
import { type TargetName, startTargets } from './targets/target.ts'

/** One of the programs that measure calls. */
export interface CallsProgram {
  readonly name: string
  readonly clients: number
  /** At most, in units of the bare proxy. */
  readonly goal: number
}

const directMs = 1000
/** At most, in units of another gateway. */
const rivalGoal = 1 / 25
const rivals: readonly TargetName[] = ['portkey', 'simple-router']

/** No target is driven faster than this part of the direct rate: helpers that are full would be measured, too. */
const shareOfDirect = 0.45
const warmMs = 500
/** Until the compiler has settled: the gateway has several times the code of a bare proxy, and as much to compile. */
const firstWarmMs = 15_000

/** P1: CPU time of the proxy's process for one unstreamed call. */
export function benchJsonCalls(options: BenchOptions): Promise<BenchResult> {
  return measure(options, { name: 'p1-json-calls', clients: options.clients ?? 32, goal: 1.35 })
}

/** P1b: the same with few clients, so that nearly every call has a batch of its own. */
export function benchFewClients(options: BenchOptions): Promise<BenchResult> {
  return measure(options, { name: 'p1b-few-clients', clients: options.clients ?? 8, goal: 1.5 })
}

async function measure(options: BenchOptions, program: CallsProgram): Promise<BenchResult> {
  const { clients } = program
  await using stack = new AsyncDisposableStack()
  const load = stack.use(new Load())
  const upstreamPort = await load.start()
  const targets = await startTargets(options.targets, upstreamPort, stack)

  const direct: number[] = []
  const samples = new Map<TargetName, Counted[]>(options.targets.map((name) => [name, []]))
  for (let round = 0; round < options.rounds; round++) {
    const directPerS = await load.directRate(clients, directMs)
    direct.push(directPerS)
    const maxPerS = Math.floor(directPerS * shareOfDirect)
    for (const { name, pid, port, headers } of targets) {
      const times = { warmMs: round === 0 ? firstWarmMs : warmMs, ms: options.seconds * 1000 }
      samples.get(name)!.push(await load.calls(pid, { port, headers, clients, maxPerS, ...times }))
    }
  }
  return callsResult(program, options, direct, samples)
}

/** `direct` is the rate without a proxy in each round. */
export function callsResult(
  { name, clients, goal }: CallsProgram,
  { rounds, seconds }: Pick<BenchOptions, 'rounds' | 'seconds'>,
  direct: readonly number[],
  samples: ReadonlyMap<TargetName, readonly Counted[]>,
): BenchResult {
  const directRate = median(direct)
  const cpusOf = (target: TargetName): number[] | undefined =>
    samples.get(target)?.map((sample) => sample.cpuUsPerUnit)
  const table = [['target', 'CPU µs/call', 'range', '÷ bare', 'calls/s (capped)', 'direct/s', 'failed']]
  const notes: string[] = []
  for (const [target, found] of samples) {
    const rate = median(found.map((sample) => sample.perS))
    const failed = found.reduce((sum, sample) => sum + sample.failed, 0)
    const cpus = found.map((sample) => sample.cpuUsPerUnit)
    const ratio = pairedRatio(cpus, cpusOf('bare'))
    table.push([
      target,
      median(cpus).toFixed(1),
      range(cpus, 1),
      ratio,
      rate.toFixed(0),
      directRate.toFixed(0),
      String(failed),
    ])
    notes.push(...voidRate(target, rate, directRate), ...voidFailures(target, found))
  }
  const id = name.slice(0, name.indexOf('-')).toUpperCase()
  return {
    name,
    title: `${id}: JSON call, 1.5 kB prompt, 1 kB answer, ${clients} clients, ${rounds} × ${seconds} s`,
    table,
    goals: [
      ...ratioGoal('CPU per call', goal, cpusOf('tokenweir'), cpusOf('bare')),
      ...rivals.flatMap((rival) =>
        ratioGoal('CPU per call', rivalGoal, cpusOf('tokenweir'), cpusOf(rival), rival),
      ),
    ],
    notes,
    data: { direct, samples: Object.fromEntries(samples) },
  }
}
