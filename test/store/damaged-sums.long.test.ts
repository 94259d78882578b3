/** A damaged page of sums costs the sums of its hours at most, and never a row: what can be made anew is made anew. */
import assert from 'node:assert/strict'
import { closeSync, openSync, readdirSync, writeSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { sumAll } from '../../bench/generate/add-past.ts'
import type { CallRecord } from '../../src/call/call-record.ts'
import { systemClock } from '../../src/call/clock.ts'
import { QueryService } from '../../src/query/query-service.ts'
import { compressStore } from '../../src/store/jobs/compress-store.ts'
import { rebuildStore } from '../../src/store/jobs/rebuild-store.ts'
import { openCallReader } from '../../src/store/read/call-query.ts'
import { openForWriting } from '../../src/store/sqlite/open-store.ts'
import { eventually } from '../support/eventually.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { assertTold, dayMs, variedCall } from './told-of-calls.ts'
import { writeCalls } from './write-calls.ts'
import { callsIn } from './rows-of.ts'

const days = 6
const todayMs = Math.floor(Date.now() / dayMs) * dayMs
const fromMs = todayMs - days * dayMs
const clock = { ...systemClock, delay: () => setImmediate() }

function recordedCalls(path: string): readonly CallRecord[] {
  const random = seededRandom(11)
  const calls = Array.from({ length: 3000 }, (_, index) =>
    variedCall(Math.floor(fromMs + random() * days * dayMs), index, random),
  )
  const database = openForWriting(path)
  writeCalls(database, calls)
  sumAll(database, todayMs + dayMs)
  database.close()
  return calls
}

/** Overwrites a page in the middle of a table, or several all over it, where nobody has them in a log. */
function damage(path: string, table: string, isAllOver = false): void {
  const database = new DatabaseSync(path)
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  const pages = database
    .prepare(`SELECT pageno FROM dbstat WHERE name = '${table}' AND pagetype = 'leaf' ORDER BY path`)
    .all()
    .map(({ pageno }) => Number(pageno))
  database.close()
  assert.ok(pages.length > 20)
  const file = openSync(path, 'r+')
  const middle = Math.floor(pages.length / 2)
  for (const page of isAllOver
    ? pages.filter((_, index) => index % 5 === 0)
    : pages.slice(middle, middle + 1))
    writeSync(file, Buffer.alloc(4096, 0xa5), 0, 4096, (page - 1) * 4096)
  closeSync(file)
}

{
  const table = 'sums'
  test(`${table}: without folded calls all sums are as they were`, async () => {
    await using dir = await makeTempDir()
    const path = dir.file('calls.db')
    const calls = recordedCalls(path)
    damage(path, table)
    const outcome = await rebuildStore(path, { clock, onProgress: () => undefined })
    assert.ok(typeof outcome === 'object')
    await assertTold(path, calls, fromMs, todayMs)
    assert.equal(callsIn(path), calls.length)
  })

  test(`${table}: of folded days, the sums of its hours are lost at most`, async () => {
    await using dir = await makeTempDir()
    const path = dir.file('calls.db')
    const calls = recordedCalls(path)
    const folding = await compressStore(
      path,
      { keepDays: 2, dryRun: false },
      { clock, onProgress: () => undefined },
    )
    assert.ok(typeof folding === 'object' && folding.folded_calls > 1000)
    damage(path, table)
    const outcome = await rebuildStore(path, { clock, onProgress: () => undefined })
    assert.ok(typeof outcome === 'object')
    assert.equal(callsIn(path), calls.length - folding.folded_calls)
    const reader = openCallReader(path)
    assert.ok(typeof reader === 'object')
    const { summary } = await reader.aggregate({ filter: {}, edgesMs: [fromMs, todayMs], dimension: null })
    reader.close()
    assert.ok(summary.calls > 0.9 * calls.length && summary.calls <= calls.length, String(summary.calls))
  })
}

test('who asks meets it: the sums are made anew by themselves, and the answer comes', async () => {
  await using dir = await makeTempDir()
  const path = dir.file('calls.db')
  const calls = recordedCalls(path)
  damage(path, 'sums', true)
  const service = new QueryService(path, () => performance.now())
  const filter = { fromMs, toMs: todayMs }
  const question = {
    kind: 'groups',
    filter,
    time: 'hour',
    dimension: 'model',
    timeZone: 'UTC',
    format: 'json',
    measures: null,
  } as const
  let isMet = false
  await eventually('all calls are counted', async () => {
    const reply = await service.answer({ question, nowMs: todayMs, budgetMs: 10_000 })
    if (reply.kind !== 'answer') return false
    const answer = JSON.parse(Buffer.from(reply.body).toString()) as {
      summary: { calls: number }
      store?: string
    }
    isMet ||= answer.store === 'damaged'
    return answer.store === undefined && answer.summary.calls === calls.length
  })
  service.close()
  assert.ok(isMet)
  // The process that mends may be at its end still.
  await eventually('all sums are right', async () => {
    try {
      await assertTold(path, calls, fromMs, todayMs)
      return true
    } catch (error) {
      if (error instanceof assert.AssertionError) return false
      throw error
    }
  })
  assert.equal(callsIn(path), calls.length)
  assert.ok(!readdirSync(dir.path).some((name) => name.includes('.corrupt-')))
})
