import { startGatewayProcess } from '../test/support/gateway-process.ts'
import type { BenchOptions } from './bench-options.ts'
import { ChildProgram } from './child-program.ts'
import { type Counted, Load } from './load.ts'
import type { FeedReadersCommand, FeedReadersReport } from './programs/program-messages.ts'
import { type BenchResult, median, range } from './summary.ts'
import { Waits } from './waits.ts'

const defaultClients = 8
const defaultCallsPerS = 100
const readers = 100
const stuck = 10
const warmMs = 1000
const firstWarmMs = 5000

/** What clients wait for calls while the live feed has a hundred readers, of which ten never read, and while it has none. */
export async function benchFeedReaders(options: BenchOptions): Promise<BenchResult> {
  const clients = options.clients ?? defaultClients
  const maxPerS = options.rate ?? defaultCallsPerS
  await using stack = new AsyncDisposableStack()
  const load = stack.use(new Load())
  const upstream = `http://127.0.0.1:${await load.start()}/v1`
  const args = ['--max-concurrent', '1000', '--slot-cooldown-ms', '0']
  const gateway = stack.use(await startGatewayProcess({ upstream, args }))
  const program = stack.use(new ChildProgram<FeedReadersCommand, FeedReadersReport>('feed-readers'))
  const { pid, port } = gateway
  const found = new Map<string, Counted[]>([
    ['none', []],
    [`${readers}, ${stuck} stuck`, []],
  ])
  const megabytes: number[] = []
  const ms = options.seconds * 1000
  for (let round = 0; round < options.rounds; round++) {
    for (const [who, samples] of found) {
      const hasReaders = who !== 'none'
      if (hasReaders) {
        program.tell({ do: 'open', port, readers, stuck })
        await program.next('opened')
      }
      const warm = round === 0 ? firstWarmMs : warmMs
      samples.push(await load.calls(pid, { port, clients, large: true, maxPerS, warmMs: warm, ms }))
      if (!hasReaders) continue
      program.tell({ do: 'close' })
      megabytes.push((await program.next('readBytes')).readBytes / 1e6 / ((warm + ms) / 1000))
    }
  }
  const table = [
    ['readers', 'calls/s', 'wait p50 ms', 'p99 ms', 'p99 by round', 'p99.9 ms', 'CPU µs/call', 'failed'],
  ]
  const notes: string[] = []
  for (const [who, samples] of found) {
    const waits = Waits.all(samples.map((sample) => sample.waits))
    const failed = samples.reduce((sum, sample) => sum + sample.failed, 0)
    const perS = median(samples.map((sample) => sample.perS)).toFixed(0)
    const times = [waits.at(0.5), waits.at(0.99)].map((waitMs) => waitMs.toFixed(2))
    const byRound = range(
      samples.map((sample) => sample.waits.at(0.99)),
      2,
    )
    const cpu = median(samples.map((sample) => sample.cpuUsPerUnit)).toFixed(0)
    table.push([who, perS, ...times, byRound, waits.at(0.999).toFixed(2), cpu, String(failed)])
    if (failed > 0) notes.push(`${who}: void, calls failed`)
  }
  const sent = median(megabytes).toFixed(0)
  const title = `Feed: calls of 2 kB each way, ${options.rounds} × ${options.seconds} s; readers are sent ${sent} MB/s in all`
  return {
    name: 'feed-readers',
    title,
    table,
    goals: [],
    notes,
    data: { found: Object.fromEntries(found), megabytes },
  }
}
