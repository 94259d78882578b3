/**
 * What the telemetry store adds to a call, in CPU microseconds, and what a row takes on disk:
 * `node bench/micro/store.ts [rows]`. First each part by itself on one thread, then all of them as in
 * the gateway, at the rate of an upstream that answers at once.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { idsPerMs } from '../../src/call/call-id.ts'
import type { CallRecord } from '../../src/call/call-record.ts'
import { CallWriter } from '../../src/store/write/call-writer.ts'
import { PricesInForce } from '../../src/pricing/prices-in-force.ts'
import { openForWriting } from '../../src/store/sqlite/open-store.ts'
import { BatchEncoder, Dictionary } from '../../src/store/write/record-batch.ts'
import { WriterThread } from '../../src/store/write/writer-thread.ts'
import { chatCall, sampleStartMs } from '../../test/store/sample-call.ts'

const rows = Number(process.argv[2] ?? 200_000)
const batchSize = 100
const folder = mkdtempSync(join(tmpdir(), 'tokenweir-bench-'))

function cpuUs(): number {
  const { user, system } = process.cpuUsage()
  return user + system
}

const idAt = (row: number): number => (sampleStartMs + row * 3) * idsPerMs

function callsFrom(row: number): CallRecord[] {
  return Array.from({ length: batchSize }, (_, index) => chatCall(idAt(row + index)))
}

/** What each call costs is worked out where there are prices; else it says so itself, as some upstreams do. */
function measureParts(prices: PricesInForce | null): void {
  const database = openForWriting(join(folder, prices === null ? 'parts.db' : 'priced.db'))
  const words = new Dictionary()
  const writer = new CallWriter(database, words, prices)
  const encoder = new BatchEncoder()
  let encodeUs = 0
  let cloneUs = 0
  let insertUs = 0
  for (let row = 0; row < rows; row += batchSize) {
    const calls = callsFrom(row).map((call) =>
      prices === null
        ? call
        : Object.assign(call, { model: 'gpt-4o-mini', responseModel: null, costNanoUsd: null }),
    )
    const marks = [cpuUs()]
    const batch = encoder.encode(calls)
    marks.push(cpuUs())
    const crossed = structuredClone(batch, { transfer: [batch.numbers.buffer] })
    marks.push(cpuUs())
    words.accept(crossed)
    writer.write(crossed)
    marks.push(cpuUs())
    const [start = 0, encoded = 0, cloned = 0, written = 0] = marks
    encodeUs += encoded - start
    cloneUs += cloned - encoded
    insertUs += written - cloned
  }
  const perRow = (us: number): string => `${(us / rows).toFixed(2)} us`
  console.log(
    `per record, batches of ${batchSize}, ${rows} rows${prices === null ? '' : ', priced as they are written'}:`,
  )
  console.log(`  encode ${perRow(encodeUs)}, cross ${perRow(cloneUs)}, insert ${perRow(insertUs)}`)
  const bytesOf = database.prepare('SELECT sum(pgsize) AS bytes FROM dbstat WHERE name = ?')
  const sizes = ['calls', 'calls_by_model', 'calls_by_seq', 'calls_failed'].map((name) => ({
    name,
    bytes: Number(bytesOf.get(name)?.['bytes'] ?? 0) / rows,
  }))
  const total = sizes.reduce((sum, size) => sum + size.bytes, 0)
  const list = sizes.map(({ name, bytes }) => `${name} ${bytes.toFixed(1)}`).join(', ')
  console.log(`  ${total.toFixed(1)} bytes a row: ${list}`)
  database.close()
}

async function measureThread(perSecond: number): Promise<void> {
  const writer = new WriterThread({ dbPath: join(folder, 'thread.db'), instance: 'bench', version: '0' })
  await writer.usageByMinute(0)
  const tickMs = 5
  const perTick = (perSecond * tickMs) / 1000
  const ticks = (3 * perSecond) / perTick
  let calls = Array.from({ length: 2000 }, (_, row) => chatCall(idAt(row)))
  let row = 0
  const measure = async (isRecording: boolean): Promise<number> => {
    const before = cpuUs()
    const startedMs = performance.now()
    for (let tick = 1; tick <= ticks; tick++) {
      for (let index = 0; index < perTick; index++, row++) {
        const call = { ...calls[row % calls.length]!, id: idAt(row) }
        if (isRecording) {
          writer.begin(call)
          writer.finish(call)
        }
      }
      await delay(Math.max(0, startedMs + tick * tickMs - performance.now()))
    }
    return cpuUs() - before
  }
  await measure(true)
  const without = await measure(false)
  const recorded = await measure(true)
  const count = ticks * perTick
  console.log(
    `all threads, ${perSecond} calls/s: ${((recorded - without) / count).toFixed(2)} us a call`,
    JSON.stringify(writer.figures()),
  )
  calls = []
  await writer.close()
  for (const suffix of ['', '-wal', '-shm']) rmSync(join(folder, `thread.db${suffix}`), { force: true })
}

try {
  measureParts(null)
  const prices = new PricesInForce(join(folder, 'model_costs.json'))
  prices.reloadIfChanged()
  measureParts(prices)
  for (const perSecond of [1000, 5000]) await measureThread(perSecond)
} finally {
  rmSync(folder, { recursive: true })
}
