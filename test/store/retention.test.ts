/** Old calls are folded by a gateway itself: by days, by size, one at a time, and killed at any moment. */
import assert from 'node:assert/strict'
import { copyFileSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { after, test } from 'node:test'
import { sumAll } from '../../bench/generate/add-past.ts'
import type { CompressResult } from '../../src/api/database-job.ts'
import { idsPerMs } from '../../src/call/call-id.ts'
import type { CallRecord } from '../../src/call/call-record.ts'
import { systemClock } from '../../src/call/clock.ts'
import { compressStore } from '../../src/store/jobs/compress-store.ts'
import { checkStore } from '../../src/store/jobs/check-store.ts'
import { Retention } from '../../src/store/jobs/retention.ts'
import { openForWriting } from '../../src/store/sqlite/open-store.ts'
import { lockJob } from '../../src/store/sqlite/store-files.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { startOfToday } from '../support/start-of-today.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { assertTold, dayMs, variedCall } from './told-of-calls.ts'
import { eventually } from '../support/eventually.ts'
import { writeCalls } from './write-calls.ts'
import { callsIn, changeIn } from './rows-of.ts'

const days = 12
const callsPerDay = 300
/** By which the process that folds goes. */
const todayMs = await startOfToday()
const fromMs = todayMs - days * dayMs
const lookMs = 600_000

const made = await makeTempDir()
after(() => made[Symbol.asyncDispose]())
const madeCalls = makeCalls(made.file('calls.db'))

/** A copy of the one database that is made, and its calls. */
function recordedCalls(path: string): readonly CallRecord[] {
  copyFileSync(made.file('calls.db'), path)
  return madeCalls
}

/** Calls of a few minutes of each of the days before today, in the database and in the sums. */
function makeCalls(path: string): readonly CallRecord[] {
  const random = seededRandom(3)
  const calls = Array.from({ length: days * callsPerDay }, (_, index) =>
    variedCall(
      fromMs + Math.floor(index / callsPerDay) * dayMs + (index % callsPerDay) * 1000,
      index,
      random,
    ),
  )
  const database = openForWriting(path)
  writeCalls(database, calls)
  sumAll(database, todayMs)
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  database.close()
  return calls
}

/** A retention, what it tells, and its clock. */
function started(path: string) {
  // Noon: the hours that go by end in the same day.
  const clock = new FakeClock(todayMs + dayMs / 2)
  const folded: CompressResult[] = []
  const problems: string[] = []
  const state = { isQuiet: true }
  const retention = new Retention({
    path,
    clock,
    isQuiet: () => state.isQuiet,
    onFolded: (result) => folded.push(result),
    onProblem: (problem) => problems.push(problem),
  })
  return { clock, folded, problems, state, retention }
}

test('days: nothing while it is off, then at a quiet moment, and the sums say what the calls said', async () => {
  await using dir = await makeTempDir()
  const path = dir.file('calls.db')
  const calls = recordedCalls(path)
  const { clock, folded, problems, state, retention } = started(path)
  retention.set({ keepDays: 0, keepMb: 0 })
  await clock.advance(10 * lookMs)
  assert.equal(callsIn(path), calls.length)
  state.isQuiet = false
  retention.set({ keepDays: 8, keepMb: 0 })
  await clock.advance(3 * lookMs)
  assert.equal(retention.isFolding, false, 'it waits for a moment without calls')
  state.isQuiet = true
  await clock.advance(lookMs)
  await eventually('it folded', () => folded.length === 1)
  assert.equal(folded[0]?.folded_calls, (days - 8) * callsPerDay)
  assert.equal(callsIn(path), 8 * callsPerDay)
  await assertTold(path, calls, fromMs, todayMs)
  await clock.advance(3 * lookMs)
  assert.equal(retention.isFolding, false, 'that was all of this day')
  state.isQuiet = false
  retention.set({ keepDays: 5, keepMb: 0 })
  await clock.advance(6 * lookMs)
  await eventually('busy calls put it off for an hour only', () => folded.length === 2)
  assert.equal(callsIn(path), 5 * callsPerDay)
  await assertTold(path, calls, fromMs, todayMs)
  retention.close()
  assert.deepEqual(problems, [])
})

test('size: as many of the oldest days as it takes, but yesterday; sums that are too large are told of once', async () => {
  await using dir = await makeTempDir()
  const path = dir.file('calls.db')
  const calls = recordedCalls(path)
  const { clock, folded, problems, retention } = started(path)
  const whole = statSync(path).size
  const keepMb = (whole * 0.7) / 1e6
  retention.set({ keepDays: 0, keepMb })
  await clock.advance(lookMs)
  await eventually('it folded', () => folded.length === 1)
  const left = callsIn(path)
  assert.ok(left > callsPerDay && left < calls.length, `${left} calls left`)
  assert.ok(statSync(path).size <= keepMb * 1e6)
  await assertTold(path, calls, fromMs, todayMs)
  assert.deepEqual(problems, [])
  retention.set({ keepDays: 0, keepMb: 0.1 })
  await clock.advance(lookMs)
  await eventually('it folded', () => folded.length === 2 && !retention.isFolding)
  assert.equal(callsIn(path), callsPerDay, 'yesterday stays')
  assert.match(problems.join(), /^the database takes \d+ MB, more than --keep-mb 0\.1: only sums are left/)
  await clock.advance(3 * lookMs)
  assert.equal(retention.isFolding, false, 'it does not try again and again')
  await assertTold(path, calls, fromMs, todayMs)
  retention.close()
})

test('another job is at work: it is tried again; killed midway, it is gone on with, and all is sound', async () => {
  await using dir = await makeTempDir()
  const path = dir.file('calls.db')
  const calls = recordedCalls(path)
  const { clock, folded, retention } = started(path)
  const lock = lockJob(path)
  assert.ok(lock !== null)
  retention.set({ keepDays: 3, keepMb: 0 })
  await clock.advance(lookMs)
  await eventually('it ended', () => !retention.isFolding)
  lock[Symbol.dispose]()
  assert.deepEqual([folded.length, callsIn(path)], [0, calls.length])
  // It comes to a day's end, and no further.
  const stuckId = (fromMs + dayMs) * idsPerMs
  changeIn(
    path,
    `CREATE TRIGGER stuck BEFORE DELETE ON calls WHEN old.id >= ${stuckId} BEGIN
      SELECT count(*) FROM (WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 1e10) SELECT n FROM c); END`,
  )
  await clock.advance(lookMs)
  await eventually('a part is folded', () => callsIn(path) < calls.length)
  retention.close()
  await eventually('it is killed', () => !retention.isFolding)
  const after = callsIn(path)
  assert.ok(after >= (days - 1) * callsPerDay, 'not killed midway')
  changeIn(path, 'DROP TRIGGER stuck')
  const next = started(path)
  next.retention.set({ keepDays: 3, keepMb: 0 })
  await next.clock.advance(lookMs)
  await eventually('it folded', () => next.folded.length === 1)
  next.retention.close()
  assert.equal(callsIn(path), 3 * callsPerDay)
  await assertTold(path, calls, fromMs, todayMs)
  const report = checkStore(path, { full: true })
  assert.ok(typeof report === 'object')
  assert.deepEqual([report.integrity, report.hours.wrongMs, report.days.wrongMs], [[], [], []])
})

test('size: a reader keeps the file large, which is no fault, and does not end the folding of that day', async () => {
  await using dir = await makeTempDir()
  const path = dir.file('calls.db')
  recordedCalls(path)
  const { clock, folded, problems, retention } = started(path)
  const whole = statSync(path).size
  const keepMb = (whole * 0.7) / 1e6
  const reader = new DatabaseSync(path, { readOnly: true })
  reader.exec('BEGIN; SELECT count(*) FROM calls')
  retention.set({ keepDays: 0, keepMb })
  await clock.advance(lookMs)
  await eventually('it folded', () => folded.length === 1 && !retention.isFolding)
  assert.equal(statSync(path).size, whole)
  assert.deepEqual(problems, [])
  const left = callsIn(path)
  await clock.advance(lookMs)
  assert.equal(retention.isFolding, true, 'the file is looked at again')
  await eventually('it was looked at', () => !retention.isFolding)
  assert.equal(callsIn(path), left, 'nothing more had to go')
  reader.close()
  await clock.advance(lookMs)
  await eventually(
    'the file has become smaller',
    () => !retention.isFolding && statSync(path).size <= keepMb * 1e6,
  )
  assert.equal(callsIn(path), left)
  assert.deepEqual(problems, [])
  retention.close()
})

/** What a gateway would fold at an instant, by itself. */
async function foldedAt(path: string, nowMs: number, keepDays: number): Promise<number> {
  const clock = { ...systemClock, wallTime: () => nowMs }
  const request = { keepDays, isAutomatic: true, dryRun: false }
  const result = await compressStore(path, request, { clock, onProgress: () => undefined })
  assert.ok(typeof result === 'object')
  return result.folded_calls
}

function recordAt(path: string, atMs: number, count = 1): void {
  const random = seededRandom(9)
  writeCalls(
    path,
    Array.from({ length: count }, (_, index) => variedCall(atMs, 4000 + index, random)),
  )
}

const yearMs = 365 * dayMs
const all = days * callsPerDay

test('a clock that is years ahead for a moment folds nothing, and with calls of its own a tenth at most', async () => {
  await using dir = await makeTempDir()
  const path = dir.file('calls.db')
  recordedCalls(path)
  const clockMs = todayMs + dayMs / 2
  assert.equal(await foldedAt(path, clockMs + 3 * yearMs, days + 1), 0)
  recordAt(path, clockMs + 3 * yearMs, 5)
  const some = await foldedAt(path, clockMs + 3 * yearMs + 60_000, days + 1)
  assert.ok(some > 0 && some <= (all + 5) / 10, String(some))
  // Set right again, it goes by the days that there are.
  assert.equal(await foldedAt(path, clockMs, 10), 2 * callsPerDay - some)
  assert.equal(await foldedAt(path, 0, 1), 0, 'nor does a clock that has lost its time fold anything')
})

test('a database that was idle keeps its last days, and folds once calls of a day show that the clock is right', async () => {
  await using dir = await makeTempDir()
  const path = dir.file('calls.db')
  recordedCalls(path)
  const laterMs = todayMs + yearMs
  assert.equal(await foldedAt(path, laterMs, 5), (days - 6) * callsPerDay)
  recordAt(path, laterMs, 50)
  const some = await foldedAt(path, laterMs + 1000, 5)
  assert.ok(some <= (6 * callsPerDay + 50) / 10, String(some))
  recordAt(path, laterMs + 2 * dayMs)
  assert.equal(await foldedAt(path, laterMs + 2 * dayMs, 5), 6 * callsPerDay - some)
})

test('old calls that were imported, and fewer days to keep, are folded at once', async () => {
  await using dir = await makeTempDir()
  const path = dir.file('calls.db')
  recordedCalls(path)
  recordAt(path, todayMs - 2 * yearMs, 90)
  assert.equal(await foldedAt(path, todayMs + 1000, 9), 90 + 3 * callsPerDay)
  assert.equal(await foldedAt(path, todayMs + 1000, 2), 7 * callsPerDay)
})

test('a clock that jumps to and fro folds by days once a day', async () => {
  await using dir = await makeTempDir()
  const path = dir.file('calls.db')
  recordedCalls(path)
  let offsetMs = 0
  const clock = new FakeClock(todayMs + dayMs / 2)
  const jumping = {
    after: clock.after.bind(clock),
    now: () => clock.now(),
    wallTime: () => clock.wallTime() + offsetMs,
  }
  let folds = 0
  const retention = new Retention({
    path,
    clock: jumping,
    isQuiet: () => true,
    onFolded: () => folds++,
    onProblem: assert.fail,
  })
  retention.set({ keepDays: 8, keepMb: 0 })
  await clock.advance(10_000)
  await eventually('it folded', () => folds === 1 && !retention.isFolding)
  for (const jump of [yearMs, 0, 2 * yearMs, -yearMs]) {
    offsetMs = jump
    await clock.advance(lookMs)
    assert.equal(retention.isFolding, false)
  }
  offsetMs = 0
  await clock.advance(dayMs)
  await eventually('the next day is looked at', () => !retention.isFolding)
  retention.close()
})
