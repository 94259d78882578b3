import { DatabaseSync } from 'node:sqlite'
import { startDashboardProcess } from '../test/support/dashboard-process.ts'
import { startGatewayProcess } from '../test/support/gateway-process.ts'
import { makeTempDir } from '../test/support/temp-dir.ts'
import type { BenchOptions } from './bench-options.ts'
import { copyDatabase } from './copied-database.ts'
import { ChildProgram } from './child-program.ts'
import { type Counted, Load } from './load.ts'
import type { PagesCommand, PagesReport } from './programs/program-messages.ts'
import { type BenchResult, median, medianRatio, pairedRatio, range } from './summary.ts'
import { Waits } from './waits.ts'

const clients = 32
const defaultPollers = 100
const pollMs = 2000
const maximumMs = 3000
/** Share of the gateway's highest rate without pages that poll. */
const shareOfMaximum = 0.5
const warmMs = 1000
const firstWarmMs = 10_000
const maxConcurrent = 1000

/** P6: CPU time of the gateway for one call, while pages poll the dashboard's overview and while none does. */
export async function benchPolledOverview(options: BenchOptions): Promise<BenchResult> {
  await using dir = await makeTempDir()
  if (options.db !== undefined) await copyDatabase(options.db, dir.file('telemetry.db'))
  using load = new Load()
  const upstream = `http://127.0.0.1:${await load.start()}/v1`
  const directory = dir.path
  const args = ['--max-concurrent', String(maxConcurrent)]
  await using gateway = await startGatewayProcess({ upstream, directory, args })
  await using dashboard = await startDashboardProcess({ args: ['--db', gateway.databaseFile] })

  const alone: Counted[] = []
  const polled: Counted[] = []
  const answersMs: number[] = []
  let failed = 0
  using pages = new ChildProgram<PagesCommand, PagesReport>('pages')
  await pages.next('ready')
  const pollers = options.pollers ?? defaultPollers
  const full = { port: gateway.port, clients, maxPerS: 1e9, warmMs: firstWarmMs, ms: maximumMs }
  const maximum = await load.calls(gateway.pid, full)
  const maxPerS = options.rate ?? Math.floor(maximum.perS * shareOfMaximum)
  for (let round = 0; round < options.rounds; round++) {
    const times = { warmMs, ms: options.seconds * 1000 }
    const calls = { port: gateway.port, clients, maxPerS, ...times }
    alone.push(await load.calls(gateway.pid, calls))
    pages.tell({ do: 'poll', url: `${dashboard.origin}/api/overview`, pages: pollers, everyMs: pollMs })
    polled.push(await load.calls(gateway.pid, calls))
    pages.tell({ do: 'stop' })
    const told = await pages.next('answersMs')
    answersMs.push(...told.answersMs)
    failed += told.failed
  }
  const health = await gateway.health()
  const behind = callsBehind(gateway.databaseFile)

  const cpus = (counted: readonly Counted[]): number[] => counted.map((each) => each.cpuUsPerUnit)
  const row = (name: string, counted: readonly Counted[]): readonly string[] => [
    name,
    median(cpus(counted)).toFixed(1),
    range(cpus(counted), 1),
    pairedRatio(cpus(counted), cpus(alone)),
    waitMs(counted, 0.5),
    waitMs(counted, 0.99),
    Math.max(...counted.map(({ waits }) => waits.at(1))).toFixed(0),
    median(counted.map(({ perS }) => perS)).toFixed(0),
    String(counted.reduce((sum, { failed }) => sum + failed, 0)),
  ]
  const waitMs = (counted: readonly Counted[], part: number): string =>
    `${median(counted.map(({ waits }) => waits.at(part))).toFixed(1)} (${range(
      counted.map(({ waits }) => waits.at(part)),
      1,
    )})`
  const answers = new Waits(answersMs)
  return {
    name: 'p6-polled-overview',
    title: `P6: JSON calls at ${maxPerS} of at most ${maximum.perS.toFixed(0)} a second, ${pollers} pages that poll every ${pollMs / 1000} s; an answer takes ${answers.at(0.5).toFixed(0)} ms, ${behind} calls not added up at the end`,
    table: [
      ['', 'CPU µs/call', 'range', '÷ alone', 'p50 ms', 'p99 ms', 'longest', 'calls/s', 'failed'],
      row('alone', alone),
      row('polled', polled),
    ],
    goals: [
      {
        what: 'CPU per call',
        value: medianRatio(cpus(polled), cpus(alone)),
        atMost: 1.1,
        unit: '× without pollers',
      },
    ],
    notes: failed === 0 ? [] : [`void, ${failed} polls of ${answersMs.length} failed`],
    data: { maximum, alone, polled, answers, behind, telemetry: health['telemetry'] },
  }
}

/** Calls that the sums lack. */
function callsBehind(path: string): number {
  const database = new DatabaseSync(path, { readOnly: true })
  const sql = 'SELECT (SELECT max(seq) FROM calls) - min(seq) AS behind FROM unsummed WHERE minutes = 60'
  const behind = Number(database.prepare(sql).get()?.['behind'])
  database.close()
  return behind
}
