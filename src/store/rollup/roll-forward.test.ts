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
import { RollupRepair } from './repair-rollups.ts'
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

test('mended an hour at a time while calls come: the sums are those of the calls, folded and late ones included', async () => {
  await using run = await setUp()
  run.write(300)
  rollAll(run.database)
  while (foldCalls(run.database)(fromMs + dayMs, 1000) > 0);
  run.write(20)
  const foldedQuarter = (fromMs + dayMs) / 900_000
  run.database.exec('UPDATE rollup_spans SET calls = calls + 1 WHERE level > 1')
  run.database.exec(`UPDATE rollup_quarters SET errors = 7 WHERE slot >= ${foldedQuarter}`)
  const sums = () => {
    const report = checkStore(run.path, { full: true })
    assert.ok(typeof report === 'object')
    return report
  }
  assert.ok(sums().quarters.wrongMs.length > 0 && sums().days.wrongMs.length === days)

  for (let hour = 0; hour < days * 24; hour++) {
    new RollupRepair(run.database).mendHour(fromMs / 900_000 + 4 * hour)
    // Late calls, in the sums before and after their hour is mended.
    run.write(1)
    new RollForward(run.database).step(toMs, hour % 7)
  }
  rollAll(run.database)
  assertTold(run.path, run.calls, fromMs, toMs)
  const { quarters, days: ofDays, callsToAdd } = sums()
  assert.deepEqual([quarters.wrongMs, ofDays.wrongMs, callsToAdd], [[], [], 0])
})

test('an hour that is mended while its wider slots are made is made whole', async () => {
  await using run = await setUp()
  run.write(300)
  const forward = new RollForward(run.database)
  const state = () => run.database.prepare('SELECT coarse_until, coarse_key FROM rollup_state').get()
  // Three keys of an hour in the midst of all are made, and no more.
  while (Number(state()?.['coarse_until']) < (fromMs + dayMs) / 900_000) forward.step(toMs, 100)
  while (state()?.['coarse_key'] === 0) forward.step(toMs, 3)
  new RollupRepair(run.database).mendHour(Number(state()?.['coarse_until']))
  assert.equal(state()?.['coarse_key'], 0)
  rollAll(run.database)
  assertTold(run.path, run.calls, fromMs, toMs)
  const report = checkStore(run.path, { full: true })
  assert.ok(typeof report === 'object')
  assert.deepEqual(report.days.wrongMs, [])
})
