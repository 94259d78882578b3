/** Calls get another cost afterwards: what is told of them then is what their rows say, whatever ends the process midway. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { setImmediate, setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { sumAll } from '../../bench/generate/add-past.ts'
import type { CallRecord } from '../../src/call/call-record.ts'
import { systemClock } from '../../src/call/clock.ts'
import { FoldedRangeError } from '../../src/call/no-answer.ts'
import { compressStore } from '../../src/store/jobs/compress-store.ts'
import { SumReader } from '../../src/store/read/sum-reader.ts'
import { openForWriting } from '../../src/store/sqlite/open-store.ts'
import type { RepriceResult } from '../../src/api/database-job.ts'
import { type RepriceRequest, repriceStore } from '../../src/store/jobs/reprice-store.ts'
import { CallSums } from '../../src/store/rollup/call-sums.ts'
import type { FieldDimension } from '../../src/call/call-question.ts'
import { WriterThread } from '../../src/store/write/writer-thread.ts'
import { assertSameRows } from '../support/assert-same-rows.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { assertNoJob } from './assert-no-job.ts'
import { assertSound } from './assert-sound.ts'
import { rowsIn } from './rows-of.ts'
import { priceBy } from './priced-by.ts'
import { dayMs, variedCall } from './told-of-calls.ts'
import { eventually } from '../support/eventually.ts'
import { writeCalls } from './write-calls.ts'

const child = fileURLToPath(new URL('job-child.ts', import.meta.url))
const quarterMs = 15 * 60_000
const days = 4
const todayMs = Math.floor(Date.now() / dayMs) * dayMs
const fromMs = todayMs - days * dayMs
const clock = { ...systemClock, delay: () => setImmediate() }
const all: RepriceRequest = {
  fromMs,
  toMs: todayMs + 2 * dayMs,
  model: null,
  onlyUnpriced: false,
  dryRun: false,
  timeZone: 'UTC',
}

/** A third each costs what the upstream said, what an older list said, and nothing that is known. */
function pastCall(atMs: number, index: number, random: () => number): CallRecord {
  const call = variedCall(atMs, index, random)
  const costs = [
    { costNanoUsd: Math.floor(random() * 1e6), priceSource: 'upstream', priceKey: null },
    { costNanoUsd: Math.floor(random() * 1e6), priceSource: 'older', priceKey: 'x' },
    { costNanoUsd: null, priceSource: null, priceKey: null },
  ] as const
  const hasUsage = random() < 0.9
  const usage = { usageSource: 'none', inputTokens: null, outputTokens: null } as const
  return { ...call, ...costs[index % 3], ...(hasUsage ? {} : usage) }
}

/** Calls in a few quarter hours of each day; the last hundred are not added up yet. */
function recordedCalls(path: string, count: number, seed: number): readonly CallRecord[] {
  const random = seededRandom(seed)
  const calls = Array.from({ length: count }, (_, index) => {
    const quarter = 20 * Math.floor(random() * 4) + Math.floor(random() * 3)
    const atMs = fromMs + Math.floor(random() * days) * dayMs + quarter * quarterMs + random() * quarterMs
    return pastCall(Math.floor(atMs), index, random)
  })
  writeCalls(path, calls.slice(0, -100))
  const database = openForWriting(path)
  sumAll(database, todayMs)
  database.close()
  writeCalls(path, calls.slice(-100))
  return calls
}

const costRows =
  'SELECT id, cost_nano_usd AS cost, price_source_id AS source, price_key_id AS key, cache_saved_nano_usd AS saved FROM calls ORDER BY id'

async function reprice(
  path: string,
  factor: number,
  request: Partial<RepriceRequest> = {},
): Promise<RepriceResult> {
  const world = { pricer: priceBy(factor), clock, onProgress: () => undefined }
  const outcome = await repriceStore(path, { ...all, ...request }, world)
  assert.ok(typeof outcome === 'object', JSON.stringify(outcome))
  return outcome
}

/** What is told by each dimension and day is what the rows add up to, and every level of the sums agrees. */
function assertToldAsSummed(path: string): void {
  assertSound(path)
  const database = new DatabaseSync(path, { readOnly: true, timeout: 5000 })
  const reader = new SumReader(database)
  // Today, and the day that may begin while this runs.
  const edgesMs = Array.from({ length: days + 3 }, (_, day) => fromMs + day * dayMs)
  const columns = { call_type: 'call_type_id', model: 'model_id', client: 'client_id', status: 'status' }
  for (const [dimension, column] of Object.entries(columns)) {
    const told = new Map<string, readonly number[]>()
    for (const { bucket, value: entry, sums: figures } of reader.ask([
      { edgesMs, filter: {}, dimension: dimension as FieldDimension },
    ])[0]!) {
      const sums = new CallSums()
      sums.merge(figures)
      told.set(
        `${bucket} ${entry}`,
        (['cost_nano_usd', 'priced_calls', 'unpriced_calls'] as const).map((name) => sums.sum(name)),
      )
    }
    const counted = new Map(
      database
        .prepare(
          `SELECT (id / 4096 - ${fromMs}) / ${dayMs} AS bucket, ${column} AS entry, coalesce(sum(cost_nano_usd), 0) AS cost,
            count(cost_nano_usd) AS priced, count(*) FILTER (WHERE cost_nano_usd IS NULL AND usage_source_id <> 0) AS unpriced
            FROM calls GROUP BY 1, 2`,
        )
        .all()
        .map((row) => [
          `${String(row['bucket'])} ${String(row['entry'])}`,
          [Number(row['cost']), Number(row['priced']), Number(row['unpriced'])],
        ]),
    )
    const sorted = (groups: ReadonlyMap<string, unknown>): unknown =>
      [...groups].toSorted(([a], [b]) => (a < b ? -1 : 1))
    assert.deepEqual(sorted(told), sorted(counted), dimension)
  }
  database.close()
}

test('calls get the cost that the prices say, on both sides of what is added up', async () => {
  await using dir = await makeTempDir()
  const path = dir.file('calls.db')
  const calls = recordedCalls(path, 1500, 1)
  const before = rowsIn(path, costRows)
  const dry = await reprice(path, 3, { dryRun: true })
  assertSameRows(rowsIn(path, costRows), before)

  const done = await reprice(path, 3)
  assert.deepEqual({ ...dry, duration_ms: 0 }, { ...done, duration_ms: 0 })
  const reported = calls.filter(({ priceSource }) => priceSource === 'upstream')
  assert.deepEqual([done.looked_calls, done.reported_calls], [calls.length, reported.length])
  const told = new Map(
    rowsIn(path, 'SELECT id, cost_nano_usd AS cost FROM calls').map(({ id, cost }) => [id, cost]),
  )
  for (const { id, model, inputTokens, costNanoUsd, priceSource } of calls) {
    const expected =
      priceSource === 'upstream'
        ? costNanoUsd
        : (priceBy(3).costOf({ model, inputTokens } as never)?.costNanoUsd ?? null)
    assert.equal(told.get(id), expected)
  }
  assertToldAsSummed(path)

  // By day and model it is told what became of whom.
  const changed = calls.filter(
    ({ id, costNanoUsd, priceSource }) =>
      priceSource !== 'upstream' && (told.get(id) !== costNanoUsd || costNanoUsd !== null),
  )
  assert.equal(done.calls, changed.length)
  assert.equal(
    done.days.reduce((sum, { calls }) => sum + calls, 0),
    changed.length,
  )
  const ofA = changed.filter(({ id, model }) => model === 'a' && Math.floor(id / 4096) < fromMs + dayMs)
  const first = done.days.find(({ model }) => model === 'a')
  const usd = (values: readonly (number | null | undefined)[]): number =>
    values.reduce<number>((all, value) => all + (value ?? 0), 0) / 1e9
  assert.deepEqual(first, {
    day: new Date(fromMs).toISOString().slice(0, 10),
    model: 'a',
    calls: ofA.length,
    before_usd: usd(ofA.map(({ costNanoUsd }) => costNanoUsd)),
    after_usd: usd(ofA.map(({ id }) => Number(told.get(id)))),
    newly_priced: ofA.filter(({ costNanoUsd }) => costNanoUsd === null).length,
    newly_unpriced: 0,
  })

  // Again, there is nothing to do.
  const again = await reprice(path, 3)
  assert.deepEqual([again.calls, again.days], [0, []])
  assertNoJob(path)
})

test('one model, only calls without a price, days of a zone', async () => {
  await using dir = await makeTempDir()
  const path = dir.file('calls.db')
  recordedCalls(path, 900, 2)
  const unpriced = `SELECT count(*) AS n FROM calls JOIN models AS m ON m.id = model_id
    WHERE cost_nano_usd IS NULL AND usage_source_id <> 0 AND m.text = 'a'`
  const [{ n } = {}] = rowsIn(path, unpriced)
  const one = await reprice(path, 2, { model: 'a', onlyUnpriced: true, timeZone: 'Asia/Kolkata' })
  assert.ok(Number(n) > 0)
  assert.deepEqual([one.calls, one.newly_priced, one.before_usd], [n, n, null])
  assert.deepEqual(new Set(one.days.map(({ model }) => model)), new Set(['a']))
  assert.deepEqual(rowsIn(path, unpriced), [{ n: 0 }])
  assertToldAsSummed(path)
  assert.equal((await reprice(path, 2, { model: 'nobody asked for it' })).looked_calls, 0)
  assert.equal(
    (await reprice(path, 2, { fromMs: todayMs + 9 * dayMs, toMs: todayMs + 10 * dayMs })).looked_calls,
    0,
  )
  // Halves of a quarter hour too.
  await reprice(path, 5, { fromMs: fromMs + dayMs + 7 * 60_000, toMs: fromMs + 2 * dayMs + 8 * 60_000 })
  assertToldAsSummed(path)
})

test('what was folded is refused', async () => {
  await using dir = await makeTempDir()
  const path = dir.file('calls.db')
  recordedCalls(path, 600, 3)
  await reprice(path, 2)
  const folding = { keepDays: 2, dryRun: false }
  // The day may end while this runs.
  const ofThatDay = { ...clock, wallTime: () => todayMs + dayMs - 1 }
  assert.equal(
    typeof (await compressStore(path, folding, { clock: ofThatDay, onProgress: () => undefined })),
    'object',
  )
  const foldedMs = todayMs - 2 * dayMs
  for (const dryRun of [true, false]) {
    await assert.rejects(
      reprice(path, 4, { dryRun }),
      (error) => error instanceof FoldedRangeError && error.unfoldedFromMs === foldedMs,
    )
  }
  assert.ok((await reprice(path, 4, { fromMs: foldedMs })).calls > 0)
  assertSound(path)
})

test('killed midway while calls are recorded: the file stays sound, and the next one ends it', async (context) => {
  await using dir = await makeTempDir()
  const path = dir.file('calls.db')
  const count = recordedCalls(path, 4000, 4).length
  const random = seededRandom(5)
  const writer = new WriterThread({ dbPath: path, instance: 'live', version: '0' })
  let live = 0
  const record = (atMs: number): void => writer.finish(pastCall(Math.floor(atMs), count + live++, random))
  let midway = 0
  for (let round = 0; round < 5; round++) {
    const running = spawn(process.execPath, [child, path, 'reprice', String(round + 2)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const exited = once(running, 'exit') as Promise<[number | null]>
    await Promise.race([once(running.stdout, 'data'), exited])
    for (let tick = 0; tick < 3 + random() * 15; tick++) {
      record(Date.now())
      record(fromMs + random() * days * dayMs)
      await delay(2)
    }
    running.kill('SIGKILL')
    if ((await exited)[0] === null) midway += 1
  }
  await eventually('all calls are rows', () => writer.figures().written === live)
  assert.ok(midway > 0, 'none was killed midway')
  await writer.close()
  assertToldAsSummed(path)
  await reprice(path, 9)
  assertToldAsSummed(path)
  const wrong = `SELECT count(*) AS n FROM calls JOIN models AS m ON m.id = model_id
    WHERE m.text IN ('a', 'b') AND cost_nano_usd IS NOT 9 * coalesce(input_tokens, 0)
    AND price_source_id IS NOT (SELECT id FROM labels WHERE text = 'upstream')`
  assert.deepEqual(rowsIn(path, wrong), [{ n: 0 }])
  context.diagnostic(`${count + live} calls, ${midway} of 5 killed midway`)
})

test('one job at a time, and none where there is no database', async () => {
  await using dir = await makeTempDir()
  const world = { pricer: priceBy(1), clock, onProgress: () => undefined }
  assert.equal(await repriceStore(dir.file('none.db'), all, world), 'missing')
  const path = dir.file('calls.db')
  recordedCalls(path, 500, 6)
  const [first, second] = await Promise.all([repriceStore(path, all, world), repriceStore(path, all, world)])
  assert.equal(typeof first, 'object')
  assert.equal(second, 'job_running')
})
