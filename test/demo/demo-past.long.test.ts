import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { DatabaseSync } from 'node:sqlite'
import { once } from 'node:events'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { CallJson } from '../../src/call/call-record.ts'
import { writePast } from '../../src/cli/demo-past.ts'
import { pastIncident } from '../../src/demo/demo-past.ts'
import { historyReader } from '../../src/store/read/history-reader.ts'
import { checkStore } from '../../src/store/jobs/check-store.ts'
import { eventually } from '../support/eventually.ts'
import { readCalls } from '../support/recorded-calls.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { startUpProcess } from '../support/up-process.ts'

const dayMs = 86_400_000
const endMs = Date.UTC(2026, 10, 19, 15, 30)
const past = { host: '127.0.0.1:9', endMs }

/** A past that is whole, written once: it takes seconds. */
let dir: Awaited<ReturnType<typeof makeTempDir>>
let whole: readonly CallJson[]
before(async () => {
  dir = await makeTempDir()
  assert.equal(skippedBy(await writePast(dir.file('past.db'), past)), 0)
  whole = readCalls(dir.file('past.db'))
})
after(() => dir[Symbol.asyncDispose]())

test('the past is fifteen days of priced calls, with sessions and one incident, and is not written twice', async () => {
  const calls = whole
  assert.ok(calls.length > 10_000 && calls.length < 22_000, `${calls.length} calls`)
  assert.ok(calls.every(({ source, client }) => source === 'demo' && client?.startsWith('demo-')))
  for (let day = 0; day < 15; day++) {
    const fromMs = endMs - (day + 1) * dayMs
    assert.ok(within(calls, fromMs, fromMs + dayMs).length > 100, `day ${day}`)
  }
  assert.equal(within(calls, endMs - 15 * dayMs, endMs).length, calls.length)
  const used = calls.filter(({ input_tokens: tokens }) => tokens !== null)
  assert.ok(used.length > 0.8 * calls.length)
  assert.ok(used.every(({ cost_usd: cost, price_source: source }) => cost !== null && source === 'demo'))

  const agents = Map.groupBy(
    calls.filter(({ client, call_type: type }) => client === 'demo-agent' && type === 'chat'),
    ({ session }) => session ?? '',
  )
  assert.ok(agents.size > 200 && !agents.has(''))
  assert.ok(calls.filter(({ tools }) => tools !== null).length > 1000)
  for (const holds of [
    ({ queue_ms: ms }) => (ms ?? 0) > 500,
    ({ outcome }) => outcome === 'client_disconnected',
    ({ call_type: type }) => type === 'embedding',
    ({ cached_input_tokens: tokens }) => (tokens ?? 0) > 1000,
    ({ stream, ttft_ms: ms }) => stream && ms !== null,
    ({ endpoint, stream }) => endpoint === '/v1/chat/completions' && !stream,
  ] satisfies ((call: CallJson) => boolean)[]) {
    assert.ok(calls.filter(holds).length > 50, String(holds))
  }

  const { fromMs, toMs, model } = pastIncident(endMs)
  const errorRate = (some: readonly CallJson[]): number =>
    some.filter(({ failed }) => failed).length / some.length
  const hit = within(calls, fromMs, toMs).filter((call) => call.model === model)
  const others = calls.filter((call) => call.model === model && !hit.includes(call))
  assert.ok(errorRate(hit) > 0.4 && errorRate(others) < 0.03, `${errorRate(hit)}, ${errorRate(others)}`)
  assert.ok(hit.filter(({ upstream_error_code: code }) => code === 'rate_limit_exceeded').length > 50)
  assert.ok(firstToken(hit) > 3 * firstToken(others), `${firstToken(hit)} ms, ${firstToken(others)} ms`)

  assert.equal(skippedBy(await writePast(dir.file('past.db'), past)), 0)
  assert.deepEqual(readCalls(dir.file('past.db')), calls)
})

test('the slots of the past are told minute by minute, as its calls used them', async () => {
  using database = new DatabaseSync(dir.file('past.db'), { readOnly: true })
  const history = historyReader(database)
  const fromMs = endMs - 15 * dayMs
  const [use] = await history.slotUse([fromMs, endMs])
  const { minutes = 0, activeMax = 0, queuedMax = 0, atLimitMs = 0 } = use ?? {}
  assert.deepEqual([minutes, activeMax], [15 * 1440, 4])
  assert.ok(queuedMax > 1 && atLimitMs > 60_000, `${queuedMax} waited, ${atLimitMs} ms`)
  assert.deepEqual(await history.limits(fromMs, endMs), [{ atMs: fromMs, maxConcurrent: 4 }])
})

test('killed while the past is being written, the database is sound, and the rest can be added', async () => {
  await using dir = await makeTempDir()
  const db = dir.file('past.db')
  // A writer that has come far beyond where it is to be killed stands still, and waits for that.
  const script = `
    import { writePast } from ${JSON.stringify(new URL('../../src/cli/demo-past.ts', import.meta.url))}
    import { DatabaseSync } from 'node:sqlite'
    ${callsIn.toString()}
    setInterval(() => {
      if (callsIn(${JSON.stringify(db)}) >= Number(process.argv[1])) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
    }, 20)
    await writePast(${JSON.stringify(db)}, ${JSON.stringify(past)})
  `
  for (const least of [1, 2000, 6000]) {
    const args = ['--input-type=module', '-e', script, String(least + 2000)]
    const child = spawn(process.execPath, args, { stdio: 'inherit' })
    const ended = once(child, 'exit')
    const deadline = performance.now() + 60_000
    while (callsIn(db) < least && performance.now() < deadline) await delay(20)
    child.kill('SIGKILL')
    await ended
    const report = checkStore(db, { full: true })
    assert.ok(typeof report === 'object')
    const { integrity, hours, days } = report
    assert.deepEqual([...integrity, ...hours.wrongMs, ...days.wrongMs], [])
  }
  const before = callsIn(db)
  await writePast(db, past)
  assert.deepEqual(readCalls(db), whole)
  assert.ok(before >= 6000 && before < whole.length, `${before} calls before the last start`)
})

test('the demo has its past within seconds, and says what to try at addresses that answer', async () => {
  await using dir = await makeTempDir()
  await using demo = await startUpProcess({ directory: dir.path, args: [] }, 'demo')
  const { command, dashboard } = demo
  await command.waitForOutput(/Cancel a call in progress.*\n.*\/live/)
  const links = command.stdout.match(/http:\/\/\S+/g)?.filter((link) => link.startsWith(dashboard)) ?? []
  const paths = links.map((link) => link.slice(dashboard.length))
  assert.deepEqual(paths, [
    '',
    '/?range=7d',
    '/costs?range=7d&by=client',
    '/sessions?range=7d&client=demo-agent',
    '/live',
  ])
  for (const link of links) assert.equal((await fetch(link)).status, 200, link)
  assert.match(command.stdout, /the past fifteen days and the prices are simulated/)
  const ask = async (path: string): Promise<unknown> => (await fetch(dashboard + path)).json()
  const from = new Date(Date.now() - 14 * dayMs).toISOString()
  await eventually('the past', async () => {
    const { totals } = (await ask(`/api/overview?from=${from}&source=demo`)) as {
      totals?: { calls: number; cost_usd: number }
    }
    return totals !== undefined && totals.calls > 10_000 && totals.cost_usd > 5
  })
  const { sessions } = (await ask(`/api/sessions?from=${from}&client=demo-agent`)) as { sessions: unknown[] }
  assert.ok(sessions.length >= 50)
  assert.equal(command.stderr, '')
})

/** None where the database is still being made. */
function callsIn(db: string): number {
  try {
    using database = new DatabaseSync(db, { readOnly: true })
    return Number(database.prepare('SELECT count(*) AS calls FROM calls').get()?.['calls'])
  } catch {
    return 0
  }
}

function within(calls: readonly CallJson[], fromMs: number, toMs: number): readonly CallJson[] {
  return calls.filter(({ started_at: at }) => Date.parse(at) >= fromMs && Date.parse(at) < toMs)
}

/** The median of what was streamed. */
function firstToken(calls: readonly CallJson[]): number {
  const times = calls.flatMap(({ ttft_ms: ms }) => ms ?? []).toSorted((a, b) => a - b)
  return times[Math.floor(times.length / 2)] ?? Number.NaN
}

function skippedBy(result: Awaited<ReturnType<typeof writePast>>): number {
  assert.ok(typeof result === 'object')
  assert.deepEqual([result.problems, result.stopped], [[], null])
  return result.skipped
}
