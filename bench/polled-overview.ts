import { copyFile } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { startDashboardProcess } from '../test/support/dashboard-process.ts'
import { startGatewayProcess } from '../test/support/gateway-process.ts'
import { makeTempDir } from '../test/support/temp-dir.ts'
import type { BenchOptions } from './bench-options.ts'
import { type Counted, Load } from './load.ts'
import { type BenchResult, median, pairedRatio, range } from './summary.ts'

const clients = 32
const pollers = 20
const pollMs = 2000
const directMs = 1000
/** Below that of P1: the dashboard's processes need their part of the machine. */
const shareOfDirect = 0.25
const warmMs = 1000
const firstWarmMs = 10_000
const maxConcurrent = 1000

/** P6: CPU time of the gateway for one call, while pages poll the dashboard's overview and while none does. */
export async function benchPolledOverview(options: BenchOptions): Promise<BenchResult> {
  await using dir = await makeTempDir()
  if (options.db !== undefined) await copyFile(options.db, dir.file('telemetry.db'))
  using load = new Load()
  const upstream = `http://127.0.0.1:${await load.start()}/v1`
  const directory = dir.path
  const args = ['--max-concurrent', String(maxConcurrent)]
  await using gateway = await startGatewayProcess({ upstream, directory, args })
  await using dashboard = await startDashboardProcess({ args: ['--db', gateway.databaseFile] })

  const alone: Counted[] = []
  const polled: Counted[] = []
  const answers = new Answers()
  const maxPerS = options.rate ?? Math.floor((await load.directRate(clients, directMs)) * shareOfDirect)
  for (let round = 0; round < options.rounds; round++) {
    const times = { warmMs: round === 0 ? firstWarmMs : warmMs, ms: options.seconds * 1000 }
    const calls = { port: gateway.port, clients, maxPerS, ...times }
    alone.push(await load.calls(gateway.pid, calls))
    const stop = new AbortController()
    const pages = Array.from({ length: pollers }, (_, i) =>
      poll(`${dashboard.origin}/api/overview`, (i * pollMs) / pollers, stop.signal, answers),
    )
    polled.push(await load.calls(gateway.pid, calls))
    stop.abort()
    await Promise.all(pages)
  }
  const health = await gateway.health()
  const behind = callsBehind(gateway.databaseFile)

  const cpus = (counted: readonly Counted[]): number[] => counted.map((each) => each.cpuUsPerUnit)
  const row = (name: string, counted: readonly Counted[]): readonly string[] => [
    name,
    median(cpus(counted)).toFixed(1),
    range(cpus(counted), 1),
    pairedRatio(cpus(counted), cpus(alone)),
    median(counted.map(({ perS }) => perS)).toFixed(0),
    String(counted.reduce((sum, { failed }) => sum + failed, 0)),
  ]
  const answered = answers.ms.length === 0 ? '–' : `${median(answers.ms).toFixed(0)} ms`
  return {
    name: 'p6-polled-overview',
    title: `P6: JSON calls at ${maxPerS} a second, ${pollers} pages that poll every ${pollMs / 1000} s; an answer takes ${answered}, ${behind} calls not added up at the end`,
    table: [
      ['', 'CPU µs/call', 'range', '÷ alone', 'calls/s', 'failed'],
      row('alone', alone),
      row('polled', polled),
    ],
    notes: answers.failed === 0 ? [] : [`void, ${answers.failed} polls of ${answers.ms.length} failed`],
    data: { alone, polled, answers, behind, telemetry: health['telemetry'] },
  }
}

/** Calls that the rollups lack. */
function callsBehind(path: string): number {
  const database = new DatabaseSync(path, { readOnly: true })
  const sql = 'SELECT (SELECT max(seq) FROM calls) - watermark_seq AS behind FROM rollup_state'
  const behind = Number(database.prepare(sql).get()?.['behind'])
  database.close()
  return behind
}

/** What the pages got. */
class Answers {
  readonly ms: number[] = []
  failed: number = 0
}

async function poll(url: string, firstMs: number, signal: AbortSignal, answers: Answers): Promise<void> {
  const wait = (ms: number): Promise<unknown> => delay(ms, undefined, { signal }).catch(() => undefined)
  await wait(firstMs)
  while (!signal.aborted) {
    const startMs = performance.now()
    const answer = await fetch(url)
    await answer.arrayBuffer()
    if (!answer.ok) answers.failed++
    answers.ms.push(performance.now() - startMs)
    await wait(Math.max(0, pollMs - (performance.now() - startMs)))
  }
}
