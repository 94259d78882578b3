import { startGatewayProcess } from '../test/support/gateway-process.ts'
import { makeTempDir } from '../test/support/temp-dir.ts'
import type { BenchOptions } from './bench-options.ts'
import { copyDatabase } from './copied-database.ts'
import { cpuUs } from './process-figures.ts'
import { type BenchResult, median, medianRatio, pairedRatio, range } from './summary.ts'

const leastRounds = 7
/** The first start of each warms the file caches; a migration, where one is due, happens in it, too. */
const warmRounds = 1
/** Nothing is called: no upstream needs to be there. */
const nowhere = 'http://127.0.0.1:9/v1'

interface Start {
  readonly ms: number
  readonly cpuMs: number
}

/** P9: from the start of the gateway's process until `/health` answers, on a large database and on none. */
export async function benchStart(options: BenchOptions): Promise<BenchResult> {
  if (options.db === undefined) throw new Error('p9 needs --db: a database of bench/generate-calls.ts')
  await using large = await makeTempDir()
  await using empty = await makeTempDir()
  // A copy, as a gateway writes to the database that it is given.
  await copyDatabase(options.db, large.file('telemetry.db'))
  const rounds = Math.max(leastRounds, options.rounds)
  const onLarge: Start[] = []
  const onEmpty: Start[] = []
  for (let round = -warmRounds; round < rounds; round++) {
    const starts = [await startOn(large.path), await startOn(empty.path)] as const
    if (round < 0) continue
    onLarge.push(starts[0])
    onEmpty.push(starts[1])
  }
  const msOf = (starts: readonly Start[]): number[] => starts.map((start) => start.ms)
  const row = (name: string, starts: readonly Start[]): readonly string[] => {
    const ms = msOf(starts)
    const cpuMs = starts.map((start) => start.cpuMs)
    const emptyMs = msOf(onEmpty)
    const emptyCpuMs = onEmpty.map((start) => start.cpuMs)
    const wall = [median(ms).toFixed(0), range(ms, 0), pairedRatio(ms, emptyMs)]
    return [name, ...wall, median(cpuMs).toFixed(0), pairedRatio(cpuMs, emptyCpuMs)]
  }
  return {
    name: 'p9-start',
    title: `P9: start of the gateway until /health answers, ${rounds} rounds in turn`,
    table: [
      ['database', 'ms', 'range', '÷ empty', 'CPU ms', '÷ empty'],
      row('empty', onEmpty),
      row(options.db, onLarge),
    ],
    goals: [
      { what: 'start', value: medianRatio(msOf(onLarge), msOf(onEmpty)), atMost: 1.3, unit: '× empty' },
    ],
    notes: [],
    data: { onLarge, onEmpty },
  }
}

async function startOn(directory: string): Promise<Start> {
  const startMs = performance.now()
  await using gateway = await startGatewayProcess({ upstream: nowhere, directory })
  const answer = await fetch(`${gateway.origin}/health`)
  await answer.arrayBuffer()
  const ms = performance.now() - startMs
  const cpuMs = cpuUs(gateway.pid) / 1000
  await gateway.stop()
  return { ms, cpuMs }
}
