/**
 * `kill -9` of recording processes at random instants. Five in the suite; more with
 * `TOKENWEIR_KILLS=100 node --test test/store/kill.long.test.ts`.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { sumAll } from '../../bench/generate/add-past.ts'
import { openForWriting } from '../../src/store/sqlite/open-store.ts'
import { WriterThread } from '../../src/store/write/writer-thread.ts'
import { assertSameRows } from '../support/assert-same-rows.ts'
import { eventually } from '../support/eventually.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { assertSound } from './assert-sound.ts'
import { batchesToTrace, readWitness } from './kill-witness.ts'
import { rowsIn } from './rows-of.ts'

const kills = Number(process.env['TOKENWEIR_KILLS'] ?? 5)
const aloneMs = 500
const random = seededRandom(14)
const child = fileURLToPath(new URL('kill-child.ts', import.meta.url))

function startRecorder(dbPath: string, instance: string, witness: string): ChildProcess {
  return spawn(process.execPath, [child, dbPath, instance, witness], { stdio: ['ignore', 'pipe', 'inherit'] })
}

async function killed(recorder: ChildProcess): Promise<void> {
  const exited = once(recorder, 'exit')
  recorder.kill('SIGKILL')
  await exited
}

/** Starts a gateway's writer once more, lets the day be over, and compares all that is kept with the witnesses. */
async function assertNothingLost(dbPath: string, witnesses: readonly string[]): Promise<void> {
  const last = new WriterThread({ dbPath, instance: 'last', version: '0' })
  await last.usageByMinute(0)
  await last.close()
  const database = openForWriting(dbPath)
  sumAll(database, Date.now() + 25 * 3_600_000)
  database.close()

  const report = assertSound(dbPath)
  assert.equal(report.callsToAdd, 0)
  assert.ok(report.hours.of > 0 && report.days.of > 0)
  const [seqs] = rowsIn(dbPath, 'SELECT count(*) AS n, min(seq) AS low, max(seq) AS high FROM calls')
  assert.deepEqual(seqs, { n: report.calls, low: 1, high: report.calls })
  const byRows = `SELECT ((id >> 12) * 1000 + duration_us) / 60000000 AS minute, sum(input_tokens + output_tokens) AS tokens
    FROM calls WHERE duration_us IS NOT NULL GROUP BY 1 ORDER BY 1`
  assertSameRows(rowsIn(dbPath, 'SELECT * FROM budget_minutes ORDER BY minute'), rowsIn(dbPath, byRows))

  const rows = rowsIn(dbPath, 'SELECT id, outcome_id = 6 AS interrupted FROM calls')
  const isInterrupted = new Map(rows.map((row) => [Number(row['id']), row['interrupted'] === 1]))
  for (const { calls, written } of witnesses.map(readWitness)) {
    const missing = calls.filter(({ id, batches }) => !isInterrupted.has(id) && batches > batchesToTrace)
    assertSameRows(missing, [], 'calls without a row')
    const finished = calls.filter(({ finishedAtMs }) => finishedAtMs !== null).map(({ id }) => id)
    const taken = finished.toSorted((a, b) => a - b).slice(0, written)
    assert.equal(taken.length, written)
    assert.equal(taken.filter((id) => isInterrupted.get(id) !== false).length, 0, 'what was a row is one')
  }
}

test(`${kills} times kill -9: no older call without a trace, the file sound, the budget right`, async () => {
  await using dir = await makeTempDir()
  const dbPath = dir.file('data/calls.db')
  const witnesses = Array.from({ length: kills }, (_, round) => dir.file(`witness-${round}`))
  for (const [round, witness] of witnesses.entries()) {
    const recorder = startRecorder(dbPath, `i${round}`, witness)
    // Every third is killed at any instant of its start.
    await (round % 3 !== 2 ? once(recorder.stdout!, 'data') : once(recorder, 'spawn'))
    await delay(random() * 800)
    await killed(recorder)
  }
  const begun = witnesses.reduce((sum, witness) => sum + readWitness(witness).calls.length, 0)
  assert.ok(begun >= kills * 60, `${begun} calls begun`)
  await assertNothingLost(dbPath, witnesses)
})

test('two writers at once, one killed: the sums are those of the rows', async () => {
  await using dir = await makeTempDir()
  const dbPath = dir.file('data/calls.db')
  const witnesses = [dir.file('witness-a'), dir.file('witness-b')]
  const recorders = witnesses.map((witness, index) => startRecorder(dbPath, `w${index}`, witness))
  await Promise.all(recorders.map((recorder) => once(recorder.stdout!, 'data')))
  const summed = 'SELECT total(calls) AS n FROM sums WHERE grouping_id = 0 AND minutes = 60'
  await eventually('calls are added up', () => Number(rowsIn(dbPath, summed)[0]?.['n']) > 0, 300_000)
  for (const recorder of recorders) {
    await killed(recorder)
    await delay(aloneMs)
  }
  for (const witness of witnesses) assert.ok(readWitness(witness).calls.length >= 100)
  const [instances] = rowsIn(dbPath, 'SELECT count(DISTINCT instance_id) AS n FROM calls')
  assert.equal(instances?.['n'], 2)
  await assertNothingLost(dbPath, witnesses)
})
