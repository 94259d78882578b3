import assert from 'node:assert/strict'
import { copyFile, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { formatCallId } from '../../src/call/call-id.ts'
import type { NewCalls } from '../../src/api/dashboard-event.ts'
import type { ToQuery } from '../../src/query/query-messages.ts'
import { type SpawnQuery, spawnQuery } from '../../src/query/spawn-query.ts'
import { chatCall, idAt } from '../store/sample-call.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { errorOf } from './dashboard-under-test.ts'
import { openEvents } from './event-reader.ts'
import { nowMs, startQueried, writeDatabase } from './query-database.ts'

const callAt = (ms: number): ReturnType<typeof chatCall> => chatCall(idAt(ms))
const callsOf = (count: number, fromMs = 0): ReturnType<typeof chatCall>[] =>
  Array.from({ length: count }, (_, index) => callAt(fromMs + index))

interface Told {
  readonly count: number
  readonly store?: string
  readonly note?: string
}

/** What an answer says, however often it must be asked: identical questions within a second share one answer. */
let asked = 0
const fresh = (): string => `/api/query?limit=${(asked += 1)}`

test('a database that is missing, empty or none is told of, never a fault', async () => {
  await using queried = await startQueried(null)
  const { path } = queried
  const tell = async (): Promise<[number, string | undefined]> => {
    const { count, store } = await queried.getJson<Told>(fresh())
    return [count, store]
  }
  assert.deepEqual(await tell(), [0, 'missing'])
  const missing = await queried.getJson<object>('/api/query')
  assert.match(JSON.stringify(missing), /"store":"missing","note":"There is no database yet/)
  assert.equal((await queried.getJson<Told>('/api/query?group_by=hour')).store, 'missing')
  assert.equal((await queried.getJson<Told>('/api/overview')).store, 'missing')
  assert.equal((await queried.get('/api/calls/00000000000')).status, 404)
  await writeFile(path, '')
  assert.deepEqual(await tell(), [0, 'empty'])
  await writeFile(path, 'only some text of a few dozen bytes'.repeat(50))
  assert.deepEqual(await tell(), [0, 'foreign'])
  await writeFile(path, Buffer.alloc(3000, 0xfe))
  assert.deepEqual(await tell(), [0, 'damaged'])
  await rm(path)

  writeDatabase(path, { calls: callsOf(3) })
  assert.deepEqual(await tell(), [3, undefined], 'made later')
  const other = `${path}.other`
  writeDatabase(other, { calls: callsOf(5) })
  for (const end of ['-wal', '-shm']) await rm(path + end, { force: true })
  await rename(other, path)
  assert.deepEqual(await tell(), [5, undefined], 'replaced')
  await rm(path)
  assert.deepEqual(await tell(), [0, 'missing'], 'deleted')
  assert.deepEqual([queried.faults, queried.dashboard.faults], [[], []])
})

test('a database that is damaged inside is told of', async () => {
  await using queried = await startQueried(null)
  const whole = `${queried.path}.whole`
  writeDatabase(whole, { calls: callsOf(2000) })
  const bytes = await readFile(whole)
  bytes.fill(0x5a, 8192)
  await writeFile(queried.path, bytes)
  for (const target of [fresh(), '/api/query?group_by=model', '/api/overview']) {
    assert.equal((await queried.getJson<Told>(target)).store, 'damaged', target)
  }
  await rm(queried.path)
  await copyFile(whole, queried.path)
  assert.equal((await queried.getJson<Told>('/api/query?limit=9')).count, 9)
})

test('a process that dies is started anew, and who waited for it is told', async () => {
  const dir = await makeTempDir()
  const path = dir.file('calls.db')
  writeDatabase(path, { calls: callsOf(3) })
  const real = spawnQuery(path, {})
  let processes = 0
  // The first process is ended as soon as it is asked something: it has no time to answer.
  const spawn: SpawnQuery = () => {
    const spawned = real()
    if (++processes === 1) spawned.send = () => spawned.kill('SIGKILL')
    return spawned
  }
  await using queried = await startQueried(null, { spawn })
  const interrupted = await queried.get('/api/query')
  assert.deepEqual([interrupted.status, errorOf(interrupted).code], [503, 'query_interrupted'])
  assert.equal(interrupted.header('retry-after'), '1')
  assert.equal((await queried.getJson<Told>('/api/query')).count, 3)
  assert.equal(processes, 2)
  assert.match(String(queried.faults), /the query process ended: SIGKILL/)
  await dir[Symbol.asyncDispose]()
})

test('one slow question fails no other, and the dashboard answers meanwhile', async () => {
  const dir = await makeTempDir()
  const path = dir.file('calls.db')
  writeDatabase(path, { calls: callsOf(3) })
  const real = spawnQuery(path, {})
  const clock = new FakeClock(nowMs)
  const asked = Promise.withResolvers<void>()
  const ready = Promise.withResolvers<void>()
  await using queried = await startQueried(null, {
    clock,
    spawn: () => {
      const spawned = real()
      const send = spawned.send.bind(spawned)
      // It stands for a statement that reads for ever.
      spawned.send = (message: ToQuery) => {
        if (message.question.kind !== 'overview') return send(message)
        asked.resolve()
        return true
      }
      spawned.once('message', () => ready.resolve())
      return spawned
    },
    deadlineMs: 2500,
    graceMs: 100,
  })
  const slow = queried.get('/api/overview')
  await Promise.all([asked.promise, ready.promise])
  assert.equal((await queried.get('/api/proxy/status')).status, 200)
  const timers = clock.pending()
  const others = Promise.all(Array.from({ length: 20 }, () => queried.get(fresh())))
  // One that has waited behind the slow one for a quarter of a second has a second process started.
  while (clock.pending() === timers) await setImmediate()
  clock.tick(250)
  assert.deepEqual([...new Set((await others).map(({ status }) => status))], [200])
  clock.tick(2600)
  const answer = await slow
  assert.deepEqual([answer.status, errorOf(answer).code], [503, 'too_slow'])
  assert.equal((await queried.getJson<Told>(fresh())).count, 3)
  assert.deepEqual(queried.faults, [])
  await dir[Symbol.asyncDispose]()
})

test('a large answer comes whole, packed or not', async () => {
  await using queried = await startQueried({ calls: callsOf(10_000), summed: 0 }, { deadlineMs: 60_000 })
  const packed = await queried.get('/api/query?limit=10000', { 'accept-encoding': 'gzip' })
  const plain = await queried.get('/api/query?limit=10000')
  assert.deepEqual([packed.status, plain.status], [200, 200])
  assert.ok(gunzipSync(packed.body).equals(plain.body))
  assert.equal((JSON.parse(plain.body.toString()) as Told).count, 10_000)
})

test('calls are told of as they are recorded', async () => {
  await using queried = await startQueried({ calls: callsOf(5) })
  // The first question finds out where to begin; what comes after its answer is told.
  const { queries } = queried
  const ask = queries.ask.bind(queries)
  const begun = Promise.withResolvers<void>()
  queries.ask = async (question) => {
    const outcome = await ask(question)
    if (question.kind === 'ended' && outcome.kind === 'answer') begun.resolve()
    return outcome
  }
  using reader = await openEvents(queried.dashboard.port, 'calls')
  await begun.promise
  // Who asked has the answer then, too.
  await setImmediate()
  writeDatabase(queried.path, { calls: callsOf(2, 100), summed: 0 })
  const [event] = await reader.waitFor(1)
  assert.equal(event!.name, 'calls')
  const told = event!.data as NewCalls
  assert.deepEqual(
    [told.calls.map((call) => call.id), told.skipped],
    [callsOf(2, 100).map((call) => formatCallId(call.id)), 0],
  )
  writeDatabase(queried.path, { calls: callsOf(130, 1000), summed: 0 })
  const many = (await reader.waitFor(2))[1]!.data as NewCalls
  assert.deepEqual([many.calls.length, many.skipped], [100, 30])
  assert.equal(many.calls.at(-1)!.id, formatCallId(callAt(1129).id))
})

test('closing ends the process, and what waits is told so', async () => {
  await using queried = await startQueried({ calls: callsOf(3) })
  await queried.getJson(fresh())
  const waiting = queried.get('/api/query?group_by=hour')
  const late = queried.get('/api/query?group_by=day')
  await setImmediate()
  queried.queries.close()
  for (const each of [waiting, late, queried.get('/api/overview')]) {
    const answer = await each
    assert.ok(answer.status === 503 || answer.status === 200)
    if (answer.status === 503) assert.equal(errorOf(answer).code, 'closing')
  }
  assert.deepEqual(await queried.queries.ask({ kind: 'call', id: 1 }), {
    kind: 'unavailable',
    code: 'closed',
  })
  assert.deepEqual(queried.faults, [])
})
