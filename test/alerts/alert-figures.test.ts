/** What the rules are told of a real database, by the real process that reads it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../../src/call/clock.ts'
import { idsPerMs } from '../../src/call/call-id.ts'
import type { CallRecord } from '../../src/call/call-record.ts'
import type { AlertSums } from '../../src/query/alerts-answer.ts'
import { QueryProcess } from '../../src/query/query-process.ts'
import { spawnQuery } from '../../src/query/spawn-query.ts'
import { writeDatabase } from '../dashboard/query-database.ts'
import { chatCall } from '../store/sample-call.ts'
import { fieldsOf } from '../support/fields-of.ts'
import { makeTempDir } from '../support/temp-dir.ts'

const nowMs = Date.UTC(2026, 10, 21, 6)
const minuteMs = 60_000
let next = 0

/** A call that ended so many minutes ago. */
function call(endedMinutesAgo: number, change: Partial<CallRecord> = {}): CallRecord {
  const durationMs = change.durationMs ?? 1000
  const startMs = nowMs - endedMinutesAgo * minuteMs - durationMs
  return { ...chatCall(Math.floor(startMs) * idsPerMs + next++), session: null, durationMs, ...change }
}

function many(count: number, make: (index: number) => CallRecord): readonly CallRecord[] {
  return Array.from({ length: count }, (_, index) => make(index))
}

/** Asks the process, first with nothing known and then for what came since. */
async function figuresOf(
  calls: readonly CallRecord[],
  later: readonly CallRecord[] = [],
): Promise<readonly [AlertSums, AlertSums]> {
  await using dir = await makeTempDir()
  const path = dir.file('calls.db')
  writeDatabase(path, { calls })
  const clock = { ...systemClock, wallTime: () => nowMs }
  const queries = new QueryProcess({
    clock,
    deadlineMs: 60_000,
    spawn: spawnQuery(path, { ...process.env, TZ: 'Asia/Tokyo' }),
    onFault: assert.ifError,
  })
  const ask = async (afterSeq: number | null): Promise<AlertSums> => {
    const outcome = await queries.ask({ kind: 'alerts', afterSeq })
    assert.ok(outcome.kind === 'answer', JSON.stringify(outcome))
    return JSON.parse(Buffer.from(outcome.body).toString()) as AlertSums
  }
  try {
    const first = await ask(null)
    if (later.length > 0) writeDatabase(path, { calls: later })
    return [first, await ask(first.last_seq)]
  } finally {
    queries.close()
  }
}

test('the last five minutes are by the ends of calls: what timed out began long before', async () => {
  const failed = { outcome: 'upstream_error', durationMs: 20 * minuteMs, queueMs: 40_000 } as const
  const [{ window, last_seq }] = await figuresOf([
    ...many(6, () => call(6, { outcome: 'upstream_error' })),
    ...many(18, (index) => call(4, { queueMs: index })),
    ...many(2, () => call(1, failed)),
    call(1, { outcome: 'client_disconnected', queueMs: null }),
  ])
  assert.equal(last_seq, 27)
  assert.deepEqual(window, { calls: 21, failed: 2, answered: 20, queue: { n: 20, p95_ms: 40_000 } })
})

test('calls of an hour by which the clock was set back are not of the last minutes', async () => {
  const ahead = many(60, (minute) =>
    call(-minute - 2, { outcome: 'upstream_error', session: 'run', totalTokens: 1000 }),
  )
  const now = many(20, () => call(1, { session: 'run', totalTokens: 10 }))
  const otherMachine = call(-0.5, { session: 'run', totalTokens: 10 })
  for (const { window, tokens } of await figuresOf([...ahead, ...now, otherMachine])) {
    assert.deepEqual([window.calls, window.failed], [21, 0])
    assert.deepEqual(tokens, [{ by: 'session', name: 'run', tokens: 210 }])
  }
})

test('while an import or a first copy writes old calls, those of the last minutes are seen all the same', async () => {
  const failed = { outcome: 'upstream_error', durationMs: 20 * minuteMs, queueMs: 40_000 } as const
  const old = (): readonly CallRecord[] => many(2500, () => call(60, { outcome: 'upstream_error' }))
  const recent = [...many(18, () => call(1)), ...many(4, () => call(1, failed))]
  for (const figures of await figuresOf([...recent, ...old()], old())) {
    const { calls, failed: howMany } = figures.window
    assert.deepEqual([calls, howMany], [22, 4])
  }
})

test('tokens go to the session, or to the client of calls without one; prices count elsewhere alone', async () => {
  const unpriced = { costNanoUsd: null, priceKey: null, priceSource: null }
  const [{ tokens, unpriced: models }] = await figuresOf([
    ...many(3, () => call(2, { session: 'run', client: 'agent', totalTokens: 100 })),
    ...many(2, () => call(2, { client: 'agent', totalTokens: 7 })),
    call(9, { session: 'run', totalTokens: 1000 }),
    ...many(4, () => call(2, { ...unpriced, client: null, model: 'new' })),
    call(2, { ...unpriced, client: null, upstream: '127.0.0.1:11434', model: 'local' }),
    call(2, { ...unpriced, client: null, usageSource: 'none', model: 'refused' }),
  ])
  assert.deepEqual(tokens, [
    { by: 'session', name: 'run', tokens: 300 },
    { by: 'client', name: 'agent', tokens: 14 },
  ])
  assert.deepEqual(models, [{ model: 'new', calls: 4 }])
})

test('a session is told whole at first, and then by what was added', async () => {
  const dollar = { session: 'run', costNanoUsd: 1e9 }
  const [first, second] = await figuresOf(
    [...many(3, () => call(600, dollar)), call(25 * 60, dollar), call(1, dollar)],
    [call(0, { ...dollar, costNanoUsd: 5e8 }), call(0, { ...dollar, session: 'other' })],
  )
  assert.deepEqual(fieldsOf(first.sessions, 'session', 'cost_usd'), [['run', 4]])
  assert.deepEqual(
    second.sessions
      .map(({ session, cost_usd }) => [session, cost_usd])
      .toSorted(([one = ''], [other = '']) => String(one).localeCompare(String(other))),
    [
      ['other', 1],
      ['run', 0.5],
    ],
  )
  const [{ ended_ms }] = first.sessions as [AlertSums['sessions'][number]]
  assert.ok(Math.abs(ended_ms - (nowMs - minuteMs)) < 1000)
})

test('first tokens of a model are told beside those of the week before', async () => {
  const slow = many(20, (index) => call(3, { model: 'a', ttftMs: 3000 + index }))
  const before = many(200, (index) => call(60 * 24 * (1 + (index % 6)), { model: 'a', ttftMs: 1000 }))
  const few = many(19, () => call(3, { model: 'b', ttftMs: 9000 }))
  const [{ ttft }] = await figuresOf([...before, ...slow, ...few])
  const [{ model, p95_ms, usual }] = ttft as [AlertSums['ttft'][number]]
  assert.deepEqual([ttft.length, model, p95_ms, usual.n], [1, 'a', 3018.05, 200])
  assert.ok(Math.abs(usual.p95_ms - 1000) <= 10, String(usual.p95_ms))
})

test('the day has its sums by hours', async () => {
  const priced = { inputTokens: 6, outputTokens: 4, totalTokens: 10, costNanoUsd: 2e9 }
  const [{ day }] = await figuresOf([
    call(10, priced),
    call(90, priced),
    call(20 * 60, priced),
    call(25 * 60, priced),
  ])
  assert.equal(day.cost_usd, 6)
  assert.equal(day.tokens_by_hour.length, 24)
  assert.deepEqual([day.tokens_by_hour.at(-1), day.tokens_by_hour.at(-2)], [10, 10])
  assert.equal(
    day.tokens_by_hour.reduce((sum, tokens) => sum + tokens, 0),
    30,
  )
})

test('the month begins where the dashboard is', async () => {
  const priced = { costNanoUsd: 2e9 }
  // In Tokyo, the 20th day before, at 15:00 UTC.
  const beginMinutesAgo = (20 * 24 + 15) * 60
  const [{ month }] = await figuresOf([
    call(1, priced),
    call(beginMinutesAgo - 30, priced),
    call(beginMinutesAgo + 30, priced),
  ])
  assert.deepEqual(month, { cost_usd: 4 })
})
