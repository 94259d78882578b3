import assert from 'node:assert/strict'
import type { DatabaseSync } from 'node:sqlite'
import type { CallRecord } from '../../src/call/call-record.ts'
import { openForWriting } from '../../src/store/sqlite/open-store.ts'
import { CallWriter } from '../../src/store/write/call-writer.ts'
import { BatchEncoder, Dictionary } from '../../src/store/write/record-batch.ts'

const callsOfBatch = 500

/** Adds calls with the store's own writer: to an open database, or to that of a path, which is made where there is none. */
export function writeCalls(to: DatabaseSync | string, calls: readonly CallRecord[]): void {
  using opened = typeof to === 'string' ? openForWriting(to) : null
  const words = new Dictionary()
  const [encoder, writer] = [new BatchEncoder(), new CallWriter(opened ?? (to as DatabaseSync), words)]
  for (let at = 0; at < calls.length; at += callsOfBatch) {
    const batchCalls = calls.slice(at, at + callsOfBatch)
    const batch = encoder.encode(batchCalls)
    words.accept(batch)
    assert.deepEqual(writer.write(batch), { written: batchCalls.length, dropped: 0, conflicts: 0 })
  }
}
