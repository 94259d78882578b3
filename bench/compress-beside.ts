import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { startedAtMs } from '../src/call/call-id.ts'
import { startGatewayProcess } from '../test/support/gateway-process.ts'
import { makeTempDir } from '../test/support/temp-dir.ts'
import type { BenchOptions } from './bench-options.ts'
import { copyDatabase } from './copied-database.ts'
import { type Counted, Load } from './load.ts'
import { type BenchResult, median } from './summary.ts'
import { Waits } from './waits.ts'

const clients = 32
const streams = 100
const eventsPerStreamS = 20
const defaultRate = 500
const sliceMs = 1000
const quietSlices = 10
const warmMs = 5000
/** Of all calls, the oldest of them. */
const foldedPart = 0.1
const dayMs = 86_400_000
const command = fileURLToPath(new URL('../bin/tokenweir.js', import.meta.url))

/** What clients saw meanwhile. */
interface Seen {
  readonly calls: Counted[]
  readonly events: Counted[]
}

/** P11: waits of the gateway's clients while another process folds a tenth of a large database. */
export async function benchCompressBeside(options: BenchOptions): Promise<BenchResult> {
  if (options.db === undefined) throw new Error('p11 needs --db: a database of bench/generate-calls.ts')
  await using dir = await makeTempDir()
  // A copy, as it is changed.
  await copyDatabase(options.db, dir.file('telemetry.db'))
  using load = new Load()
  // A client of its own for the streams; its upstream is not used.
  using open = new Load()
  const upstream = `http://127.0.0.1:${await load.start()}/v1`
  await open.start()
  const args = ['--max-concurrent', '1000']
  await using gateway = await startGatewayProcess({ upstream, directory: dir.path, args })
  const { pid, port } = gateway
  const maxPerS = options.rate ?? defaultRate
  await load.calls(pid, { port, clients, maxPerS, warmMs, ms: sliceMs })
  await open.openStreams({ port, streams })
  await load.pace(eventsPerStreamS)

  const slice = async ({ calls, events }: Seen): Promise<void> => {
    const counted = load.calls(pid, { port, clients, maxPerS, warmMs: 0, ms: sliceMs })
    const [call, event] = await Promise.all([counted, open.events(pid, sliceMs)])
    calls.push(call)
    events.push(event)
  }
  const quiet: Seen = { calls: [], events: [] }
  for (let i = 0; i < quietSlices; i++) await slice(quiet)
  const keepDays = keptDays(gateway.databaseFile)
  const startMs = performance.now()
  const job = spawn(
    process.execPath,
    [command, 'db', 'compress', '--json', '--keep-days', String(keepDays), '--db', gateway.databaseFile],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  let said = ''
  job.stdout.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-2000)
  })
  const ended = once(job, 'close')
  const isOver = ended.then(() => true)
  const beside: Seen = { calls: [], events: [] }
  do await slice(beside)
  while (!(await Promise.race([isOver, delay(0, false)])))
  const tookS = (performance.now() - startMs) / 1000
  const after: Seen = { calls: [], events: [] }
  for (let i = 0; i < quietSlices; i++) await slice(after)

  const result = JSON.parse(said.trim().split('\n').at(-1) ?? '{}') as { readonly folded_calls?: number }
  const health = await gateway.health()
  const failed = [quiet, beside, after].flatMap(({ calls, events }) => calls.concat(events))
  const failures = failed.reduce((sum, each) => sum + each.failed, 0)
  return {
    name: 'p11-compress-beside',
    title:
      `P11: ${maxPerS} calls a second and ${streams} open streams of ${eventsPerStreamS} events a second, ` +
      `while ${result.folded_calls ?? 'no'} calls are folded in ${tookS.toFixed(1)} s`,
    table: [
      [
        '',
        'calls',
        'p50 ms',
        'p99',
        'p99.9',
        'longest',
        'gaps',
        'p50 ms',
        'p99',
        'p99.9',
        'longest',
        'CPU µs/call',
      ],
      row('before', quiet),
      row('while it folds', beside),
      row('after', after),
    ],
    goals: [
      { what: 'failed calls and streams', value: failures, atMost: 0, unit: 'failed' },
      { what: 'folding', value: tookS, atMost: 300, unit: 's' },
    ],
    notes: failures === 0 ? [] : [`void, ${failures} calls or streams failed`],
    data: { quiet, beside, after, result, tookS, telemetry: health['telemetry'] },
  }
}

function row(name: string, { calls, events }: Seen): readonly string[] {
  const told = (counted: readonly Counted[]): readonly string[] => {
    const waits = Waits.all(counted.map((each) => each.waits))
    const ms = [0.5, 0.99, 0.999, 1].map((part) => waits.at(part).toFixed(1))
    return [String(counted.reduce((sum, { units }) => sum + units, 0)), ...ms]
  }
  return [name, ...told(calls), ...told(events), median(calls.map((each) => each.cpuUsPerUnit)).toFixed(0)]
}

/** Days to keep so that about a tenth of the calls is folded. */
function keptDays(path: string): number {
  const database = new DatabaseSync(path, { readOnly: true })
  const rows = Number(database.prepare('SELECT count(*) AS rows FROM calls').get()?.['rows'])
  const sql = 'SELECT id FROM calls ORDER BY id LIMIT 1 OFFSET ?'
  const id = Number(database.prepare(sql).get(Math.floor(rows * foldedPart))?.['id'])
  database.close()
  return Math.floor((Date.now() - startedAtMs(id)) / dayMs)
}
