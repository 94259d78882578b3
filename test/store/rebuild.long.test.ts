/** Sums that are wrong are made anew, while calls are recorded, and whatever ends the process that is at it. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { setImmediate, setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { sumAll } from '../../bench/generate/add-past.ts'
import type { CallRecord } from '../../src/call/call-record.ts'
import { systemClock } from '../../src/call/clock.ts'
import { compressStore } from '../../src/store/jobs/compress-store.ts'
import { openForWriting } from '../../src/store/sqlite/open-store.ts'
import { type RebuildOutcome, rebuildStore } from '../../src/store/jobs/rebuild-store.ts'
import { WriterThread } from '../../src/store/write/writer-thread.ts'
import { assertSameRows } from '../support/assert-same-rows.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { assertNoJob } from './assert-no-job.ts'
import { assertSound } from './assert-sound.ts'
import { changeIn, rowsIn } from './rows-of.ts'
import { assertTold, dayMs, variedCall } from './told-of-calls.ts'
import { eventually } from '../support/eventually.ts'
import { writeCalls } from './write-calls.ts'

const child = fileURLToPath(new URL('job-child.ts', import.meta.url))
const quarterMs = 15 * 60_000
const days = 8
const todayMs = Math.floor(Date.now() / dayMs) * dayMs
const fromMs = todayMs - days * dayMs
/** It stands still, as the day may end while this runs. */
const clock = { ...systemClock, wallTime: () => todayMs + dayMs - 1, delay: () => setImmediate() }

/** Calls in some quarter hours of each day before today, in the database and in the sums. */
function recordedCalls(path: string, count: number, seed: number): readonly CallRecord[] {
  const random = seededRandom(seed)
  const calls = Array.from({ length: count }, (_, index) => {
    const quarter = 20 * Math.floor(random() * 4) + Math.floor(random() * 3)
    const atMs = fromMs + Math.floor(random() * days) * dayMs + quarter * quarterMs + random() * quarterMs
    return variedCall(Math.floor(atMs), index, random)
  })
  const database = openForWriting(path)
  writeCalls(database, calls)
  sumAll(database, todayMs + dayMs)
  database.close()
  return calls
}

async function rebuild(path: string): Promise<RebuildOutcome> {
  const outcome = await rebuildStore(path, { clock, onProgress: () => undefined })
  assert.ok(typeof outcome === 'object', JSON.stringify(outcome))
  return outcome
}

async function wrongIn(path: string): Promise<readonly number[]> {
  const { wrongHours, wrongDays } = await rebuild(path)
  return [wrongHours, wrongDays]
}

/** Ways to be wrong; `{from}` is the first hour that is not folded. */
const damages: readonly string[] = [
  'DELETE FROM sums WHERE cell_number * minutes >= {from} * 60',
  'UPDATE sums SET calls = calls + 1, distributions = NULL WHERE minutes = 60 AND cell_number >= {from}',
  'DELETE FROM sums WHERE minutes = 1440',
  'UPDATE sums SET output_tokens = 7 WHERE minutes = 1440',
  'DELETE FROM sums WHERE minutes = 60 AND cell_number >= {from} AND key_id % 3 = 0',
  'UPDATE sums SET cell_number = cell_number + 1 WHERE minutes = 15 AND cell_number % 96 = 62 AND cell_number >= {from} * 4',
  'UPDATE sums SET cell_number = cell_number + 8 WHERE minutes = 60 AND cell_number % 24 = 15 AND cell_number >= {from}',
]

test('whatever is wrong with the sums is put right; what was folded stays as it is', async () => {
  for (const [index, damage] of damages.entries()) {
    await using dir = await makeTempDir()
    const path = dir.file('calls.db')
    const calls = recordedCalls(path, 500, index)
    const folding = { keepDays: 5, dryRun: false }
    assert.equal(
      typeof (await compressStore(path, folding, { clock, onProgress: () => undefined })),
      'object',
    )
    assert.deepEqual(await wrongIn(path), [0, 0], 'what is right is left')
    const folded = (todayMs - 5 * dayMs) / 3_600_000
    const kept = `SELECT * FROM sums WHERE minutes < 1440 AND cell_number * minutes < ${folded} * 60`
    const before = rowsIn(path, kept)
    assert.ok(before.length > 0)
    changeIn(path, damage.replaceAll('{from}', String(folded)))
    const [wrongHours = 0, wrongDays = 0] = await wrongIn(path)
    assert.ok(wrongHours + wrongDays > 0, damage)
    assertSameRows(rowsIn(path, kept), before)
    await assertTold(path, calls, fromMs, todayMs)
    assertSound(path)
    assert.deepEqual(await wrongIn(path), [0, 0])
    assertNoJob(path)
  }
})

test('killed midway while calls are recorded: the file stays sound, and the next one ends it', async (context) => {
  await using dir = await makeTempDir()
  const path = dir.file('calls.db')
  const calls = [...recordedCalls(path, 2000, 9)]
  const random = seededRandom(10)
  changeIn(path, damages[0]!.replaceAll('{from}', '0'))
  const writer = new WriterThread({ dbPath: path, instance: 'live', version: '0' })
  const record = (atMs: number): void => {
    const call = variedCall(atMs, calls.length, random)
    calls.push(call)
    writer.finish(call)
  }
  let midway = 0
  for (let round = 0; round < 5; round++) {
    const running = spawn(process.execPath, [child, path, 'rebuild'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const exited = once(running, 'exit') as Promise<[number | null]>
    await Promise.race([once(running.stdout, 'data'), exited])
    for (let tick = 0; tick < 5 + random() * 20; tick++) {
      record(Date.now())
      // Calls that began days ago and end only now belong to what is being counted.
      record(fromMs + Math.floor(random() * days * dayMs))
      await delay(2)
    }
    running.kill('SIGKILL')
    if ((await exited)[0] === null) midway += 1
  }
  await eventually('all calls are rows', () => writer.figures().written === calls.length - 2000)
  assert.ok(midway > 0, 'none was killed midway')
  const during = rebuild(path)
  for (let live = 0; live < 200; live++) {
    record(fromMs + Math.floor(random() * days * dayMs))
    await setImmediate()
  }
  await during
  await eventually('all calls are rows', () => writer.figures().written === calls.length - 2000)
  await writer.close()
  assertSound(path)
  await assertTold(path, calls, fromMs, todayMs + 2 * dayMs)
  context.diagnostic(`${calls.length} calls, ${midway} of 5 killed midway`)
})

test('one at a time, and none where there is no database', async () => {
  await using dir = await makeTempDir()
  const world = { clock, onProgress: () => undefined }
  assert.equal(await rebuildStore(dir.file('none.db'), world), 'missing')
  const path = dir.file('calls.db')
  recordedCalls(path, 500, 1)
  changeIn(path, 'DELETE FROM sums WHERE minutes = 1440')
  const [first, second] = await Promise.all([rebuildStore(path, world), rebuildStore(path, world)])
  assert.equal(typeof first, 'object')
  assert.equal(second, 'job_running')
})
