import assert from 'node:assert/strict'
import type { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { sampleStartMs } from '../../../test/store/sample-call.ts'
import { assertTold, dayMs, variedCall } from '../../../test/store/told-of-calls.ts'
import { seededRandom } from '../../../test/support/seeded-random.ts'
import { makeTempDir } from '../../../test/support/temp-dir.ts'
import type { CallRecord } from '../../call/call-record.ts'
import { checkStore } from '../jobs/check-store.ts'
import { openForWriting } from '../sqlite/open-store.ts'
import { CallWriter } from '../write/call-writer.ts'
import { BatchEncoder, WordList } from '../write/record-batch.ts'
import { foldCalls } from './fold-calls.ts'
import { RollForward } from './roll-forward.ts'

const days = 4
const fromMs = Math.floor(sampleStartMs / dayMs) * dayMs
const toMs = fromMs + days * dayMs

async function setUp() {
  const dir = await makeTempDir()
  const path = dir.file('calls.db')
  const database = openForWriting(path)
  const random = seededRandom(3)
  const words = new WordList()
  const encoder = new BatchEncoder()
  const writer = new CallWriter(database, words)
  const calls: CallRecord[] = []
  return {
    path,
    database,
    calls,
    write: (count: number) => {
      const added = Array.from({ length: count }, (_, index) => {
        const quarter = 17 * Math.floor(random() * 5)
        const atMs = fromMs + Math.floor(random() * days) * dayMs + (quarter + random()) * 900_000
        return variedCall(Math.floor(atMs), calls.length + index, random)
      })
      calls.push(...added)
      const batch = encoder.encode(added)
      words.accept(batch)
      writer.write(batch)
    },
    [Symbol.asyncDispose]: async () => {
      database.close()
      await dir[Symbol.asyncDispose]()
    },
  }
}

function rollAll(database: DatabaseSync): void {
  const forward = new RollForward(database)
  while (forward.step(toMs, 500));
}

function lastSeq(database: DatabaseSync): number {
  return Number(database.prepare('SELECT max(seq) AS seq FROM calls').get()?.['seq'])
}

test('begun anew: every answer on the way is what the calls say, folded and late ones included', async () => {
  await using run = await setUp()
  run.write(300)
  rollAll(run.database)
  // Of the second day some calls are still there, as if folding had been killed.
  const fold = foldCalls(run.database)
  while (fold(fromMs + dayMs, 1000) > 0);
  assert.equal(fold(fromMs + 2 * dayMs, 20), 20)
  run.write(20)
  run.database.exec('UPDATE rollup_spans SET calls = calls + 1 WHERE level > 1')
  run.database.exec(`UPDATE rollup_quarters SET errors = 7 WHERE slot >= ${(fromMs + 2 * dayMs) / 900_000}`)

  new RollForward(run.database).restart()
  assertTold(run.path, run.calls, fromMs, toMs)
  for (let step = 0; ; step++) {
    // Whoever goes on finds its way by the database alone.
    const hasMore = new RollForward(run.database).step(toMs, 60)
    if (!hasMore) break
    if (step % 40 === 5) run.write(1)
    if (step % 40 === 6) assertTold(run.path, run.calls, fromMs, toMs)
    if (step === 30) {
      const report = checkStore(run.path, { full: true })
      assert.ok(typeof report === 'object')
      assert.deepEqual([report.quarters.wrongMs, report.days.wrongMs], [[], []])
    }
  }
  assertTold(run.path, run.calls, fromMs, toMs)
  const report = checkStore(run.path, { full: true })
  assert.ok(typeof report === 'object')
  assert.deepEqual([report.quarters.wrongMs, report.days.wrongMs, report.callsToAdd], [[], [], 0])
})

test('begun anew, the numbers of calls go on, also if no call is left', async () => {
  for (const isLeft of [true, false]) {
    await using run = await setUp()
    run.write(50)
    rollAll(run.database)
    const before = lastSeq(run.database)
    run.database.exec(isLeft ? `DELETE FROM calls WHERE seq > 10` : 'DELETE FROM calls')
    const forward = new RollForward(run.database)
    forward.restart()
    if (isLeft) run.write(1)
    rollAll(run.database)
    run.write(1)
    assert.ok(lastSeq(run.database) > before, `${lastSeq(run.database)} after ${before}`)
  }
})
