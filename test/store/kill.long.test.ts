/**
 * `kill -9` of a recording process at random instants. Five in the suite; more with
 * `TOKENWEIR_KILLS=100 node --test test/store/kill.long.test.ts`.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { openForWriting } from '../../src/store/sqlite/open-store.ts'
import { Summing } from '../../src/store/rollup/summing.ts'
import { WriterThread } from '../../src/store/write/writer-thread.ts'
import { assertSameRows } from '../support/assert-same-rows.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { batchesToTrace, readWitness, type Witness } from './kill-witness.ts'

const kills = Number(process.env['TOKENWEIR_KILLS'] ?? 5)
const random = seededRandom(14)
const child = fileURLToPath(new URL('kill-child.ts', import.meta.url))

interface Kill {
  readonly atMs: number
  readonly witness: Witness
}

async function recordAndKill(dbPath: string, witness: string, round: number): Promise<Kill> {
  const recorder = spawn(process.execPath, [child, dbPath, `i${round}`, witness], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(recorder, 'exit')
  // Every third is killed at any instant of its start.
  const wasReady = round % 3 !== 2
  await (wasReady ? once(recorder.stdout, 'data') : once(recorder, 'spawn'))
  await delay(random() * 800)
  const atMs = Date.now()
  recorder.kill('SIGKILL')
  await exited
  return { atMs, witness: readWitness(witness) }
}

/** Every call is in each of these. */
const summed = [[0, 15], ...[0, 1, 2, 3, 4].map((grouping) => [grouping, 60] as const)] as const

/** Adds what the killed ones had not come to, and lets the hour be over. */
function rollAll(dbPath: string): void {
  const database = openForWriting(dbPath)
  const forward = new Summing(database)
  let more = true
  while (more) more = forward.step(Date.now() + 2 * 3_600_000, 500)
  database.close()
}

test(`${kills} times kill -9: no older call without a trace, the file sound, the budget right`, async (context) => {
  await using dir = await makeTempDir()
  const dbPath = dir.file('data/calls.db')
  const outcomes: Kill[] = []
  for (let round = 0; round < kills; round++) {
    outcomes.push(await recordAndKill(dbPath, dir.file(`witness-${round}`), round))
  }
  const last = new WriterThread({ dbPath, instance: 'last', version: '0' })
  await last.usageByMinute(0)
  await last.close()
  rollAll(dbPath)

  const database = new DatabaseSync(dbPath, { readOnly: true })
  assert.equal(database.prepare('PRAGMA integrity_check').get()?.['integrity_check'], 'ok')
  const rows = database.prepare('SELECT id, outcome_id = 6 AS interrupted FROM calls').all()
  const isInterrupted = new Map(rows.map((row) => [Number(row['id']), row['interrupted'] === 1]))
  let [begun, finishedRows, untraced] = [0, 0, 0]
  const losses: number[] = []
  for (const { atMs, witness } of outcomes) {
    let lostMs = 0
    begun += witness.calls.length
    const finished: number[] = []
    for (const { id, finishedAtMs, batches } of witness.calls) {
      const interrupted = isInterrupted.get(id)
      if (interrupted === undefined) {
        assert.ok(batches <= batchesToTrace, `call ${id} has no row after ${batches} batches`)
        untraced++
      }
      if (finishedAtMs === null) continue
      finished.push(id)
      if (interrupted === false) finishedRows++
      else lostMs = Math.max(lostMs, atMs - finishedAtMs)
    }
    finished.sort((a, b) => a - b)
    const taken = finished.slice(0, witness.written)
    assert.equal(taken.length, witness.written)
    assert.equal(taken.filter((id) => isInterrupted.get(id) !== false).length, 0, 'what was a row is one')
    losses.push(lostMs)
  }
  losses.sort((a, b) => b - a)
  assert.ok(begun >= kills * 60, `${begun} calls begun`)
  const byRows = database
    .prepare(
      `SELECT ((id >> 12) * 1000 + duration_us) / 60000000 AS minute, sum(input_tokens + output_tokens) AS tokens
        FROM calls WHERE duration_us IS NOT NULL GROUP BY 1 ORDER BY 1`,
    )
    .all()
  assertSameRows(database.prepare('SELECT * FROM budget_minutes ORDER BY minute').all(), byRows)
  const totals = 'count(*) AS calls, sum(outcome_id >= 2) AS errors, sum(total_tokens) AS tokens FROM calls'
  for (const [grouping, minutes] of summed) {
    const rolled = database
      .prepare(
        `SELECT sum(calls) AS calls, sum(errors) AS errors, sum(total_tokens) AS tokens FROM sums
          WHERE grouping_id = ? AND minutes = ?`,
      )
      .get(grouping, minutes)
    assert.deepEqual(
      rolled,
      database.prepare(`SELECT ${totals}`).get(),
      `grouping ${grouping}, ${minutes} minutes`,
    )
  }
  const seqs = database.prepare('SELECT count(*) AS n, min(seq) AS low, max(seq) AS high FROM calls').get()
  assert.deepEqual({ ...seqs }, { n: rows.length, low: 1, high: rows.length })
  database.close()
  context.diagnostic(
    `${begun} begun, ${finishedRows} finished rows, ${rows.length - finishedRows} interrupted, ${untraced} untraced; lost at most ${losses.slice(0, 5).join(', ')} ms`,
  )
})
