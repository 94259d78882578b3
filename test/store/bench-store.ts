/**
 * What the telemetry store adds to a call, in CPU microseconds, and what a row takes on disk:
 * `node test/store/bench-store.ts [rows]`. One thread does everything here, so that each side shows on its own.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { idsPerMs } from '../../src/call/call-id.ts'
import { CallWriter } from '../../src/store/call-writer.ts'
import { openForWriting } from '../../src/store/open-store.ts'
import { BatchEncoder, WordList } from '../../src/store/record-batch.ts'
import { chatCall, sampleStartMs } from './sample-call.ts'

const rows = Number(process.argv[2] ?? 200_000)
const batchSize = 100
const folder = mkdtempSync(join(tmpdir(), 'store-bench-'))

function cpuPerUnit(units: number, work: () => void): string {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return `${((user + system) / units).toFixed(2)} us`
}

try {
  const database = openForWriting(join(folder, 'calls.db'))
  const words = new WordList()
  const writer = new CallWriter(database, words)
  const encoder = new BatchEncoder()
  const batches = []
  const calls = Array.from({ length: rows }, (_, index) => chatCall((sampleStartMs + index * 3) * idsPerMs))
  const encode = cpuPerUnit(rows, () => {
    for (let at = 0; at < rows; at += batchSize) batches.push(encoder.encode(calls.slice(at, at + batchSize)))
  })
  const write = cpuPerUnit(rows, () => {
    for (const batch of batches) {
      words.accept(batch)
      writer.write(batch)
    }
  })
  const size = (name: string): number => {
    const row = database.prepare('SELECT sum(pgsize) AS bytes FROM dbstat WHERE name = ?').get(name)
    return Number(row?.['bytes']) / rows
  }
  const tables = ['calls', 'calls_by_model', 'calls_by_seq', 'calls_failed']
  console.log(`encode a record: ${encode}; insert a row: ${write} (batches of ${batchSize}, ${rows} rows)`)
  console.log(tables.map((name) => `${name} ${size(name).toFixed(1)} B/row`).join(', '))
  database.close()
} finally {
  rmSync(folder, { recursive: true })
}
