import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { Overview } from '../../src/api/overview.ts'
import { idsPerMs, startedAtMs } from '../../src/call/call-id.ts'
import type { CallRecord } from '../../src/call/call-record.ts'
import { chatCall } from '../store/sample-call.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { type QueriedDashboard, nowMs, startQueried } from './query-database.ts'

const hourMs = 3_600_000
const minute = Math.floor(nowMs / 60_000)

/** Whether a duration within 1% of a limit lies before or after it is left open. */
const awayFromLimits = (ms: number): number =>
  [1000, 2000, 5000, 10_000].some((limit) => Math.abs(ms - limit) <= limit * 0.02) ? 3000 : ms

function sampleCalls(): readonly CallRecord[] {
  const random = seededRandom(3)
  return Array.from({ length: 600 }, (_, index): CallRecord => {
    const isChat = random() < 0.6
    const outcome = random() < 0.8 ? 'ok' : random() < 0.5 ? 'upstream_error' : 'interrupted'
    return {
      ...chatCall(Math.floor(nowMs - 1 - random() * 48 * hourMs) * idsPerMs + index),
      callType: isChat ? 'chat' : 'embedding',
      model: isChat ? 'big' : 'small',
      outcome,
      failureCode: outcome === 'upstream_error' ? 'upstream_http' : null,
      durationMs: isChat ? awayFromLimits(1000 + Math.round(random() * 9000)) : 60,
      costNanoUsd: isChat ? 5_000_000 : null,
    }
  })
}

/** The slowest of all, long before the others. */
const longAgo = { ...chatCall((nowMs - 20 * 24 * hourMs) * idsPerMs), durationMs: 600_000 }
const calls = [longAgo, ...sampleCalls()]
const within = (fromMs: number, toMs: number): readonly CallRecord[] =>
  calls.filter(({ id }) => startedAtMs(id) >= fromMs && startedAtMs(id) < toMs)
const day = within(nowMs - 24 * hourMs + 1000, nowMs + 1000)
const sum = (values: readonly (number | null)[]): number =>
  values.reduce<number>((all, one) => all + (one ?? 0), 0)

let queried: QueriedDashboard
before(async () => {
  queried = await startQueried({
    calls,
    minutes: [
      { minute: minute - 30, activeMax: 4, queuedMax: 2, atLimitMs: 30_000, admitted: 9, dropped: 0 },
      { minute: minute - 29, activeMax: 3, queuedMax: 0, atLimitMs: 0, admitted: 9, dropped: 0 },
    ],
    events: [
      { atMs: nowMs - 60 * 60_000, kind: 'start', detail: 'x' },
      { atMs: nowMs - 26 * hourMs, kind: 'stop', detail: null },
      { atMs: nowMs - 32 * 60_000, kind: 'start', detail: '{"max_concurrent":6}' },
      { atMs: nowMs - 30 * 60_000 + 9000, kind: 'config', detail: '{"max_concurrent":4}' },
      { atMs: nowMs - 29 * 60_000 - 1, kind: 'config', detail: '{"token_limit":9}' },
    ],
  })
})
after(() => queried[Symbol.asyncDispose]())

test('the last 24 hours, with the day before', async () => {
  const told = await queried.getJson<Overview>('/api/overview')
  assert.deepEqual(
    [told.from, told.to, told.bucket_s],
    ['2026-11-20T06:00:01.000Z', '2026-11-21T06:00:01.000Z', 900],
  )
  assert.equal(told.totals.calls, day.length)
  assert.equal(told.previous?.calls, within(nowMs - 48 * hourMs + 1000, nowMs - 24 * hourMs + 1000).length)
  const { start_s, ...columns } = told.buckets
  assert.equal(start_s.length, 97)
  for (const [name, column] of Object.entries(columns)) assert.equal(column.length, 97, name)
  for (const [index, start] of start_s.entries()) {
    const members = within(
      Math.max(start * 1000, Date.parse(told.from)),
      Math.min((start + 900) * 1000, Date.parse(told.to)),
    )
    assert.equal(columns.calls[index], members.length)
    const timed = members.filter(({ callType, outcome }) => callType === 'chat' && outcome === 'ok')
    assert.equal(columns.duration_n[index], timed.length)
    if (timed.length === 0) assert.equal(columns.duration_p50_ms[index], null)
  }
  assert.equal(sum(columns.errors), told.totals.errors)
})

test('embeddings do not make chat look quick, unless they are asked for', async () => {
  const told = await queried.getJson<Overview>('/api/overview')
  assert.equal(told.chat_only, true)
  const chats = day.filter(({ callType, outcome }) => callType === 'chat' && outcome === 'ok')
  assert.equal(told.totals.duration_ms.n, chats.length)
  assert.ok((told.totals.duration_ms.p50 ?? 0) > 1000)
  assert.ok(told.slowest.every((call) => call.call_type === 'chat' && call.outcome === 'ok'))
  const embeddings = await queried.getJson<Overview>('/api/overview?call_type=embedding')
  assert.equal(embeddings.chat_only, false)
  assert.ok((embeddings.totals.duration_ms.max ?? 0) < 61)
  assert.equal(embeddings.slowest[0]?.call_type, 'embedding')
})

test('lists: the latest, the slowest by their duration, and only what failed', async () => {
  const told = await queried.getJson<Overview>('/api/overview')
  assert.deepEqual([told.latest.length, told.slowest.length, told.failed.length], [12, 10, 10])
  const durations = told.slowest.map((call) => call.duration_ms!)
  assert.deepEqual(
    durations,
    durations.toSorted((a, b) => b - a),
  )
  const slowestOf = (members: readonly CallRecord[]): readonly number[] =>
    members
      .filter(({ callType, outcome }) => callType === 'chat' && outcome === 'ok')
      .map((call) => call.durationMs)
      .sort((a, b) => b - a)
      .slice(0, 10)
  assert.deepEqual(durations, slowestOf(day))
  assert.ok(told.failed.every((call) => call.failed))
  const month = await queried.getJson<Overview>('/api/overview?from=2026-10-22T06:00:00Z')
  // The month before saw no recording, and compares with nothing.
  assert.equal(month.previous, null)
  assert.equal(Date.parse(month.recorded_from!), startedAtMs(longAgo.id))
  assert.deepEqual(
    month.slowest.map((call) => call.duration_ms),
    slowestOf(calls),
  )
})

test('of failed calls alone, times are theirs, of every type', async () => {
  const overview = await queried.getJson<Overview>('/api/overview?errors_only=1')
  const failed = day.filter(({ outcome }) => outcome !== 'ok')
  const { duration_ms: duration, output_tokens_per_s: speed } = overview.totals
  assert.deepEqual([overview.timed, overview.chat_only], ['failed', false])
  assert.deepEqual(
    [overview.totals.calls, duration.n, speed.n],
    [failed.length, failed.length, failed.length],
  )
  const slowest = Math.max(...failed.map(({ durationMs }) => durationMs ?? 0))
  assert.equal(duration.max, slowest)
  assert.equal(overview.slowest[0]?.duration_ms, slowest)
  assert.ok(overview.slowest.every((call) => call.failed))
  assert.equal(sum(overview.buckets.duration_n), failed.length)
  assert.equal(sum(overview.heat.counts.flat()), failed.length)
  assert.ok((overview.previous?.duration_ms.n ?? 0) > 0)
  const { timed } = await queried.getJson<Overview>('/api/overview')
  assert.equal(timed, 'ok')
})

test('a few calls are told one by one, many are not', async () => {
  assert.equal((await queried.getJson<Overview>('/api/overview')).singles, null)
  const few = await queried.getJson<Overview>(
    `/api/overview?from=${new Date(nowMs - 2 * hourMs).toISOString()}`,
  )
  const timed = within(nowMs - 2 * hourMs, nowMs + 1000).filter(
    ({ callType, outcome }) => callType === 'chat' && outcome === 'ok',
  )
  assert.ok(timed.length > 0)
  const { start_s, duration_n } = few.buckets
  assert.deepEqual(
    few.singles?.duration_ms.map((each) => each.length),
    duration_n,
  )
  for (const [index, each] of (few.singles?.duration_ms ?? []).entries()) {
    const startMs = start_s[index]! * 1000
    const expected = new Set(
      timed.filter(({ id }) => startedAtMs(id) >= startMs).map((call) => call.durationMs),
    )
    for (const value of each) assert.ok(expected.has(value))
  }
  const rising = (values: readonly number[]): readonly number[] =>
    values.toSorted((one, other) => one - other)
  assert.deepEqual(
    rising(few.singles?.duration_ms.flat() ?? []),
    rising(timed.map(({ durationMs }) => durationMs ?? 0)),
  )
})

test('models and failures add up', async () => {
  const told = await queried.getJson<Overview>('/api/overview')
  assert.deepEqual(new Set(told.models!.map((model) => model.model)), new Set(['big', 'small']))
  assert.equal(sum(told.models!.map((model) => model.calls)), day.length)
  assert.equal(told.models!.find((model) => model.model === 'small')?.cost_usd, null)
  assert.equal(sum(told.failures!.map((failure) => failure.calls)), told.totals.errors)
  assert.deepEqual(
    new Set(told.failures!.map((failure) => failure.failure_code)),
    new Set(['upstream_http', null]),
  )
})

test('slots and events of the range', async () => {
  const told = await queried.getJson<Overview>(
    '/api/overview?from=2026-11-21T05:00:00Z&to=2026-11-21T06:00:00Z',
  )
  const { slots } = told
  assert.equal(slots.bucket_s, 60)
  const at = slots.start_s.indexOf((minute - 30) * 60)
  assert.deepEqual(slots.active_max.slice(at - 1, at + 3), [null, 4, 3, null])
  assert.deepEqual(slots.queued_max.slice(at, at + 2), [2, 0])
  assert.deepEqual(slots.at_limit_share.slice(at, at + 2), [0.5, 0])
  assert.equal(slots.at_limit_share_total, 0.25)
  assert.deepEqual(slots.limit.slice(at - 1, at + 3), [null, 6, 4, null], 'the highest that held')
  assert.deepEqual(slots.gaps, [{ from_s: (minute - 28) * 60, to_s: minute * 60 }])
  assert.deepEqual(told.events[0], {
    at: '2026-11-21T05:00:00.000Z',
    instance: 'k3v9',
    kind: 'start',
    detail: 'x',
  })
  assert.equal(told.events.length, 4)
})

/** Calls by brute force: each bucket's, between the limits. */
function heatOf(told: Overview, members: readonly CallRecord[]): readonly (readonly number[])[] {
  const { start_s } = told.buckets
  const { limits_ms } = told.heat
  return start_s.map((start, bucket) => {
    const fromMs = Math.max(start * 1000, Date.parse(told.from))
    const toMs = Math.min((start_s[bucket + 1] ?? Number.POSITIVE_INFINITY) * 1000, Date.parse(told.to))
    const own = members.filter(({ id }) => startedAtMs(id) >= fromMs && startedAtMs(id) < toMs)
    const counts = limits_ms.slice(1).map((limit, bin) => {
      const isWithin = ({ durationMs }: CallRecord): boolean =>
        durationMs >= limits_ms[bin]! && durationMs < limit
      return own.filter(isWithin).length
    })
    return counts.slice(0, counts.findLastIndex((count) => count > 0) + 1)
  })
}

test('the heat map counts each call that went well in its bucket of time and duration', async () => {
  const isOk = ({ outcome }: CallRecord): boolean => outcome === 'ok'
  for (const range of ['', '?from=2026-11-19T06:00:00Z&to=2026-11-21T06:00:01Z', '?call_type=embedding']) {
    const told = await queried.getJson<Overview>(`/api/overview${range}`)
    const type = told.chat_only ? 'chat' : 'embedding'
    const members = calls.filter((call) => isOk(call) && call.callType === type)
    assert.deepEqual(told.heat.limits_ms, told.chat_only ? [1000, 2000, 5000, 10_000] : [50, 100])
    assert.deepEqual(told.heat.counts, heatOf(told, members), range)
    assert.deepEqual(told.heat.counts.map(sum), told.buckets.duration_n)
  }
  const none = await queried.getJson<Overview>('/api/overview?model=nobody')
  assert.deepEqual([none.heat.limits_ms, sum(none.heat.counts.map(sum))], [[], 0])
})

test('hours and days are local ones, whatever the range', async () => {
  const query = 'from=2026-10-20T00:00:00Z&tz=Europe/Berlin'
  const told = await queried.getJson<Overview>(`/api/overview?${query}`)
  assert.equal(told.bucket_s, 86_400)
  assert.equal(new Date(told.buckets.start_s[0]! * 1000).toISOString(), '2026-10-19T22:00:00.000Z')
  assert.equal(new Date(told.buckets.start_s.at(-1)! * 1000).toISOString(), '2026-11-20T23:00:00.000Z')
  for (const range of [
    'from=0001-01-01T00:00:00Z',
    'to=9999-01-01T00:00:00Z',
    'from=9000-01-01T00:00:00Z&to=9999-01-01T00:00:00Z',
    'to=0001-01-01T00:00:00Z',
  ]) {
    const extreme = await queried.getJson<Overview>(`/api/overview?${range}`)
    assert.ok(extreme.buckets.start_s.length <= 102, range)
  }
})

test('it is small', async () => {
  const { body } = await queried.get('/api/overview')
  assert.ok(body.length < 40_000, `${body.length} bytes`)
  assert.ok(gzipSync(body).length < 12_000)
  assert.deepEqual([queried.faults, queried.dashboard.faults], [[], []])
})
