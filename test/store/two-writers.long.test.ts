/** Two gateways' writers on one database, and one of them killed: every call one row, every sum of exactly those rows. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { checkStore } from '../../src/store/jobs/check-store.ts'
import { openForWriting } from '../../src/store/sqlite/open-store.ts'
import { Summing } from '../../src/store/rollup/summing.ts'
import { WriterThread } from '../../src/store/write/writer-thread.ts'
import { assertSameRows } from '../support/assert-same-rows.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { batchesToTrace, readWitness } from './kill-witness.ts'
import { eventually } from '../support/eventually.ts'

const child = fileURLToPath(new URL('kill-child.ts', import.meta.url))
const aloneMs = 500

function startRecorder(dbPath: string, instance: string, witness: string): ChildProcess {
  const stdio = ['ignore', 'pipe', 'inherit'] as const
  return spawn(process.execPath, [child, dbPath, instance, witness], { stdio: [...stdio] })
}

test('two writers at once, one killed: the sums are those of the rows', async (context) => {
  await using dir = await makeTempDir()
  const dbPath = dir.file('data/calls.db')
  const witnesses = [dir.file('witness-a'), dir.file('witness-b')] as const
  const recorders = witnesses.map((witness, index) => startRecorder(dbPath, `w${index}`, witness))
  const exits = recorders.map((recorder) => once(recorder, 'exit'))
  await Promise.all(recorders.map((recorder) => once(recorder.stdout!, 'data')))
  await eventually('calls are added up', () => summedIn(dbPath) > 0, 300_000)
  recorders[0]!.kill('SIGKILL')
  await exits[0]
  await delay(aloneMs)
  recorders[1]!.kill('SIGKILL')
  await exits[1]

  // The next gateway finds the calls that both left open.
  const last = new WriterThread({ dbPath, instance: 'last', version: '0' })
  await last.usageByMinute(0)
  await last.close()
  const summed = summedIn(dbPath)
  const database = openForWriting(dbPath)
  const forward = new Summing(database)
  while (forward.step(Date.now() + 25 * 3_600_000, 2000));
  database.close()

  const report = checkStore(dbPath, { full: true })
  assert.ok(typeof report === 'object')
  assert.deepEqual(report.integrity, [])
  assert.equal(report.callsToAdd, 0)
  assert.ok(report.hours.of > 0 && report.days.of > 0)
  assert.deepEqual([report.hours.wrongMs, report.days.wrongMs], [[], []])
  assert.ok(summed > 0, 'nothing was added up while both were writing')
  const reading = new DatabaseSync(dbPath, { readOnly: true })
  const rows = new Set(
    reading
      .prepare('SELECT id FROM calls')
      .all()
      .map((row) => Number(row['id'])),
  )
  const instances = reading.prepare('SELECT count(DISTINCT instance_id) AS n FROM calls').get()?.['n']
  const { n, low, high } = {
    ...reading.prepare('SELECT count(*) AS n, min(seq) AS low, max(seq) AS high FROM calls').get(),
  }
  reading.close()
  assert.equal(instances, 2)
  assert.deepEqual([n, low, high], [report.calls, 1, report.calls])
  for (const witness of witnesses) {
    const { calls } = readWitness(witness)
    assert.ok(calls.length >= 100)
    const missing = calls.filter(({ id, batches }) => !rows.has(id) && batches > batchesToTrace)
    assertSameRows(missing, [], 'calls without a row')
  }
  context.diagnostic(`${report.calls} calls, ${summed} of them added up while both wrote`)
})

function summedIn(path: string): number {
  const database = new DatabaseSync(path, { readOnly: true, timeout: 5000 })
  try {
    const sql = 'SELECT total(calls) AS n FROM sums WHERE grouping_id = 0 AND minutes = 60'
    return Number(database.prepare(sql).get()?.['n'])
  } finally {
    database.close()
  }
}
