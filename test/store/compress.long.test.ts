/**
 * Compressing while calls are recorded, killed at random instants. Twelve rounds in the suite; more with
 * `TOKENWEIR_KILLS=100 node --test test/store/compress.long.test.ts`.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { setImmediate, setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { CallRecord } from '../../src/call/call-record.ts'
import { systemClock } from '../../src/call/clock.ts'
import { type CompressRequest, compressStore } from '../../src/store/jobs/compress-store.ts'
import { SumReader } from '../../src/store/read/sum-reader.ts'
import { WriterThread } from '../../src/store/write/writer-thread.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { assertNoJob } from './assert-no-job.ts'
import { callsIn, valueIn } from './rows-of.ts'
import { assertTold, dayMs, variedCall } from './told-of-calls.ts'
import { eventually } from '../support/eventually.ts'
import { writeCalls } from './write-calls.ts'

const kills = Number(process.env['TOKENWEIR_KILLS'] ?? 6)
const child = fileURLToPath(new URL('job-child.ts', import.meta.url))
const days = 100
const quarterMs = 15 * 60_000

/** Calls in a few quarter hours of each of the days before today. */
function oldCalls(count: number, todayMs: number, random: () => number): readonly CallRecord[] {
  const calls = Array.from({ length: count }, (_, index) => {
    const day = Math.floor(random() * days)
    const quarter = 32 * Math.floor(random() * 3)
    const atMs = todayMs - (days - day) * dayMs + quarter * quarterMs + Math.floor(random() * quarterMs)
    return variedCall(atMs, index, random)
  })
  return calls.sort((a, b) => a.id - b.id)
}

/** The day of this run: it stands still, as it may end meanwhile. */
const dayOfRunMs = Math.floor(Date.now() / dayMs) * dayMs

function compress(
  path: string,
  request: Partial<CompressRequest> = {},
  nowMs: number = dayOfRunMs + dayMs - 1,
): ReturnType<typeof compressStore> {
  const clock = { ...systemClock, wallTime: () => nowMs, delay: () => setImmediate() }
  const world = { clock, onProgress: () => undefined }
  return compressStore(path, { keepDays: 90, dryRun: false, ...request }, world)
}

test(`killed ${kills} times while calls come in: every answer stays what the calls say`, async (context) => {
  await using dir = await makeTempDir()
  const path = dir.file('data/calls.db')
  const random = seededRandom(1)
  const todayMs = dayOfRunMs
  const fromMs = todayMs - days * dayMs
  const calls: CallRecord[] = [...oldCalls(8000, todayMs, random)]
  writeCalls(path, calls)
  const writer = new WriterThread({ dbPath: path, instance: 'live', version: '0' })
  const record = (atMs: number): void => {
    const call = variedCall(atMs, calls.length, random)
    calls.push(call)
    writer.finish(call)
  }
  const settled = (): Promise<void> =>
    eventually('all calls are rows', () => writer.figures().written + 8000 === calls.length)
  let midway = 0
  for (let round = 0; round < kills; round++) {
    // Calls that began long ago and end only now: among them such as belong to what is folded already.
    for (let late = 0; late < 5; late++) record(fromMs + Math.floor(random() * days * dayMs))
    await settled()
    const keepDays = String(Math.max(5, days - 2 - Math.floor(((round + 1) * 90) / kills)))
    const running = spawn(process.execPath, [child, path, 'compress', keepDays], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const exited = once(running, 'exit')
    const isOver = exited.then(() => true)
    const wait = round % 4 === 0 ? once(running, 'spawn') : once(running.stdout, 'data')
    await Promise.race([wait, exited])
    const killAtMs = performance.now() + random() * (round % 4 === 0 ? 1000 : 80)
    const past = calls.filter(isBefore(todayMs))
    while (performance.now() < killAtMs && !(await Promise.race([isOver, delay(2, false)]))) {
      // While it works, whoever asks is told the same as before and after. Asking takes a while: not in each round.
      if (round % 3 === 0) await assertTold(path, past, fromMs, todayMs)
      for (let live = 0; live < 20; live++) record(Date.now())
    }
    running.kill('SIGKILL')
    const [code] = (await exited) as [number | null]
    if (code === null) midway++
    await settled()
    await assertTold(path, calls, fromMs, todayMs + 2 * dayMs)
  }
  assert.ok(midway >= kills / 3, `only ${midway} of ${kills} were killed before they were done`)
  const outcome = await compress(path, { keepDays: 5 })
  assert.ok(typeof outcome === 'object', JSON.stringify(outcome))
  await writer.close()
  await assertTold(path, calls, fromMs, todayMs + 2 * dayMs)
  assert.equal(valueIn(path, 'PRAGMA integrity_check'), 'ok')
  const kept = calls.filter((call) => !isBefore(todayMs - 5 * dayMs)(call)).length
  assert.equal(callsIn(path), kept)
  assertNoJob(path)
  const tokens = calls.reduce((sum, call) => sum + call.inputTokens! + call.outputTokens!, 0)
  assert.equal(valueIn(path, 'SELECT sum(tokens) FROM budget_minutes'), tokens)
  context.diagnostic(`${calls.length} calls, ${midway} of ${kills} killed midway`)
})

function isBefore(instantMs: number): (call: CallRecord) => boolean {
  return ({ id }) => id < instantMs * 4096
}

test('the file shrinks by what was folded, and a dry run says so before', async () => {
  await using dir = await makeTempDir()
  const path = dir.file('calls.db')
  const todayMs = dayOfRunMs
  const calls = oldCalls(6000, todayMs, seededRandom(2))
  writeCalls(path, calls)
  // So that the rollups, which only grow by it, are in the sizes that are compared.
  await compress(path, { keepDays: 1000 })
  const dry = await compress(path, { keepDays: 50, dryRun: true })
  assert.ok(typeof dry === 'object')
  const old = calls.filter(isBefore(todayMs - 50 * dayMs))
  assert.equal(dry.folded_calls, old.length)
  assert.equal(callsIn(path), calls.length)
  const outcome = await compress(path, { keepDays: 50 })
  assert.ok(typeof outcome === 'object')
  assert.equal(outcome.folded_calls, old.length)
  assert.equal(outcome.before_bytes, dry.before_bytes)
  assert.equal(outcome.after_bytes, statSync(path).size)
  const freed = outcome.before_bytes - outcome.after_bytes
  const told = dry.before_bytes - dry.after_bytes
  assert.ok(freed > old.length * 100, `${freed} bytes for ${old.length} calls`)
  assert.ok(Math.abs(told - freed) < freed * 0.2, `told ${told}, freed ${freed}`)
  assert.equal(valueIn(path, 'PRAGMA freelist_count'), 0)
  await assertTold(path, calls, todayMs - days * dayMs, todayMs)
  const again = await compress(path, { keepDays: 50 })
  assert.ok(typeof again === 'object')
  assert.equal(again.folded_calls, 0)
})

test('times that cut a folded quarter hour count in whole ones, and minutes there are refused', async () => {
  await using dir = await makeTempDir()
  const path = dir.file('calls.db')
  const todayMs = dayOfRunMs
  const calls = oldCalls(300, todayMs, seededRandom(6))
  writeCalls(path, calls)
  await compress(path, { keepDays: 20 })
  const database = new DatabaseSync(path, { readOnly: true })
  const reader = new SumReader(database)
  const fromMs = Math.floor(calls[10]!.id / 4096 / quarterMs) * quarterMs
  const countedFrom = (edgeMs: number): number => {
    const [groups = []] = reader.ask([{ edgesMs: [edgeMs, todayMs], filter: {}, dimension: null }])
    return groups.reduce((sum, { sums: figures }) => sum + figures.sum('calls'), 0)
  }
  assert.equal(countedFrom(fromMs), calls.filter((call) => !isBefore(fromMs)(call)).length)
  assert.equal(countedFrom(fromMs + 7 * 60_000), countedFrom(fromMs))
  const minutes = { edgesMs: [fromMs, fromMs + 60_000, fromMs + 120_000], filter: {}, dimension: null }
  assert.throws(() => reader.ask([minutes]), {
    name: 'FoldedRangeError',
    unfoldedFromMs: todayMs - 20 * dayMs,
  })
  database.close()
})

test('when every call is folded, the next ones still count', async () => {
  await using dir = await makeTempDir()
  const path = dir.file('calls.db')
  const todayMs = dayOfRunMs
  const calls = [...oldCalls(300, todayMs - 10 * dayMs, seededRandom(3))]
  writeCalls(path, calls)
  await compress(path, { keepDays: 0 }, todayMs - 10 * dayMs)
  assert.equal(callsIn(path), 0)
  const more = oldCalls(200, todayMs, seededRandom(4))
  writeCalls(path, more)
  await compress(path, { keepDays: 1000 })
  await assertTold(path, [...calls, ...more], todayMs - (days + 10) * dayMs, todayMs)
})

test('where there is no database, none is made; a second one at once is refused', async () => {
  await using dir = await makeTempDir()
  assert.equal(await compress(dir.file('none.db')), 'missing')
  assert.equal(statSync(dir.file('none.db'), { throwIfNoEntry: false }), undefined)
  const path = dir.file('calls.db')
  writeCalls(path, oldCalls(2000, dayOfRunMs, seededRandom(5)))
  const [first, second] = await Promise.all([compress(path), compress(path)])
  assert.equal(typeof first, 'object')
  assert.equal(second, 'job_running')
})
