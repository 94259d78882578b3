/**
 * Compresses a database while calls are recorded in it, and prints how long the recording waited:
 * `node bench/compress.ts <db> [keep days] [calls a second]`. The database is changed: give it a copy.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { CallIds } from '../src/call/call-id.ts'
import type { FromWriter } from '../src/store/write/writer-messages.ts'
import { WriterThread } from '../src/store/write/writer-thread.ts'
import { chatCall } from '../test/store/sample-call.ts'

const [dbPath = '', keepDays = '90', rate = '500'] = process.argv.slice(2)
const perSecond = Number(rate)
const tickMs = 10
const quietMs = 5000
const command = fileURLToPath(new URL('../bin/tokenweir.js', import.meta.url))

/** When each call was handed over, oldest first, as long as it has not become a row; and how long each took to. */
const handedOver: number[] = []
let waitsMs: number[] = []

const startWorker = (workerData: unknown): Worker => {
  const file = new URL('../src/store/write/writer-worker.ts', import.meta.url)
  const worker = new Worker(file, { workerData, name: 'writer' })
  worker.on('message', (message: FromWriter) => {
    // The thread that hands over hears of it too, and counts, after this.
    if (message.kind === 'written') setImmediate(settle)
  })
  return worker
}
// Nothing is gathered first, so that a wait is the database's alone.
const writer = new WriterThread({ dbPath, instance: 'bench', version: '0', flushAfterMs: 0, startWorker })
const ids = new CallIds(() => Date.now(), 0)
let finished = 0
let settled = 0

function settle(): void {
  const nowMs = performance.now()
  for (; settled < writer.figures().written; settled++) waitsMs.push(nowMs - (handedOver.shift() ?? nowMs))
}

function told(what: string): void {
  const sorted = waitsMs.toSorted((a, b) => a - b)
  const at = (part: number): string => (sorted[Math.floor(part * (sorted.length - 1))] ?? 0).toFixed(1)
  console.log(
    `${what}: ${sorted.length} calls; from hand-over to row: p50 ${at(0.5)}, p99 ${at(0.99)}, p99.9 ${at(0.999)}, longest ${at(1)} ms`,
  )
  waitsMs = []
}

function rowsIn(path: string): { readonly rows: number; readonly rolled: number; readonly free: number } {
  const database = new DatabaseSync(path, { readOnly: true, timeout: 5000 })
  const one = (sql: string): number => Number(Object.values(database.prepare(sql).get() ?? {})[0])
  const sums = {
    rows: one('SELECT count(*) FROM calls'),
    rolled: one('SELECT total(calls) FROM sums WHERE grouping_id = 0 AND minutes = 15'),
    free: one('PRAGMA freelist_count') / one('PRAGMA page_count'),
  }
  database.close()
  return sums
}

await writer.usageByMinute(0)
const before = rowsIn(dbPath)
const startedMs = performance.now()
const recording = setInterval(() => {
  const due = Math.floor(((performance.now() - startedMs) / 1000) * perSecond)
  for (; finished < due; finished++) {
    handedOver.push(performance.now())
    writer.finish({ ...chatCall(ids.next()), instance: 'bench' })
  }
}, tickMs)
await delay(quietMs)
told('alone')

const child = spawn(
  process.execPath,
  [command, 'db', 'compress', '--json', '--keep-days', keepDays, '--db', dbPath],
  {
    stdio: ['ignore', 'pipe', 'inherit'],
  },
)
let text = ''
let phase = ''
child.stdout.setEncoding('utf8').on('data', (piece: string) => {
  text += piece
  const [, now = phase] = /.*"phase":"(\w+)"/.exec(piece) ?? []
  if (now === phase) return
  if (phase !== '') told(`while it is in ${phase}`)
  phase = now
})
const [code] = (await once(child, 'close')) as [number | null]
told(`while it is in ${phase}`)
clearInterval(recording)
while (writer.figures().pending > 0) await delay(10)
settle()
const { written, dropped } = writer.figures()
await writer.close()
const after = rowsIn(dbPath)
const lastLine = text.trim().split('\n').at(-1) ?? ''
console.log(`compress ended with ${code}: ${lastLine}`)
const { folded_calls: folded } = JSON.parse(lastLine) as { folded_calls: number }
console.log(`${finished} calls handed over, ${written} written, ${dropped} dropped`)
console.log(
  `rows ${before.rows} + ${written} - ${folded} = ${after.rows}: ${before.rows + written - folded === after.rows}`,
)
console.log(`free pages ${(after.free * 100).toFixed(2)} %`)
