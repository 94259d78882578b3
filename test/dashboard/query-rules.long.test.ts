import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { formatCallId, idsPerMs, startedAtMs } from '../../src/call/call-id.ts'
import { callMeasures, curvePercentiles } from '../../src/call/call-question.ts'
import type { Curves, GroupFigures } from '../../src/call/figures.ts'
import type { CallJson, CallRecord } from '../../src/call/call-record.ts'
import { chatCall, sampleStartMs } from '../store/sample-call.ts'
import { fieldsOf } from '../support/fields-of.ts'
import { errorOf } from './dashboard-under-test.ts'
import { mixedCalls } from './mixed-calls.ts'
import { type QueriedDashboard, startQueried } from './query-database.ts'
import { assertAnswer, assertFigures, localName, selected } from './query-reference.ts'

const dayMs = 86_400_000
const hourMs = 3_600_000
/** Across the change of the clocks in Berlin on 25 October 2026. */
const firstMs = Date.UTC(2026, 9, 24, 20, 17)

const models = Array.from({ length: 25 }, (_, index) => `model-${index}`)

const calls = mixedCalls({ count: 400, seed: 7, fromMs: firstMs, days: 3, models })
const newestFirst = calls.toSorted((a, b) => b.id - a.id)

interface CallList {
  readonly calls: readonly CallJson[]
  readonly count: number
  readonly limit: number
  readonly next_cursor: string | null
  readonly summary: GroupFigures
  readonly available_models: readonly string[]
  readonly available_types: readonly string[]
}
type Group = GroupFigures & {
  readonly curves: Curves
  readonly key: string | number | null
  readonly keys: Readonly<Record<string, string | number | null>>
  readonly rest?: boolean
}
interface CallGroups {
  readonly group_by: string
  readonly groups: readonly Group[]
  readonly summary: GroupFigures
}

describe('GET /api/query', () => {
  let queried: QueriedDashboard
  before(async () => {
    queried = await startQueried({ calls })
  })
  after(() => queried[Symbol.asyncDispose]())

  test('lists all calls, newest first, with what there is to choose from', async () => {
    const answer = await queried.getJson<CallList>('/api/query')
    assert.deepEqual(Object.keys(answer), [
      'calls',
      'count',
      'limit',
      'next_cursor',
      'summary',
      'available_models',
      'available_types',
    ])
    assert.deepEqual(
      fieldsOf(answer.calls, 'id'),
      newestFirst.map((call) => formatCallId(call.id)),
    )
    assert.deepEqual([answer.count, answer.limit, answer.next_cursor], [400, 1000, null])
    assertFigures(answer.summary, calls, 'summary')
    const known = new Set(calls.map((call) => call.model).filter((model) => model !== null))
    assert.deepEqual(answer.available_models, [...known].sort())
    assert.ok(answer.available_types.includes('chat') && answer.available_types.includes('rerank'))
    assert.deepEqual(await queried.getJson('/api/stats'), answer)
  })

  test('from is inclusive, to exclusive, with any offset', async () => {
    const [newest, , third] = newestFirst as [CallRecord, CallRecord, CallRecord]
    const text = (call: CallRecord): string => new Date(startedAtMs(call.id)).toISOString()
    const range = `from=${text(third)}&to=${text(newest)}`
    const answer = await queried.getJson<CallList>(`/api/query?${range}`)
    assert.deepEqual(
      fieldsOf(answer.calls, 'id'),
      newestFirst.slice(1, 3).map((call) => formatCallId(call.id)),
    )
    const inBerlin = new Date(startedAtMs(third.id) + hourMs).toISOString().replace('Z', '+01:00')
    for (const from of [inBerlin, encodeURIComponent(inBerlin)]) {
      assert.equal((await queried.getJson<CallList>(`/api/query?from=${from}`)).count, 3)
    }
  })

  test('a time without an offset, as a day, is local in tz, and UTC without one', async () => {
    const [newest] = newestFirst as [CallRecord]
    const text = new Date(startedAtMs(newest.id)).toISOString().slice(0, -1)
    const countFrom = async (query: string): Promise<number> =>
      (await queried.getJson<CallList>(`/api/query?${query}`)).count
    assert.equal(await countFrom(`from=${text}`), 1)
    assert.equal(await countFrom(`from=${text}000`), 1, 'as isoformat of Python writes it')
    const inBerlin = new Date(startedAtMs(newest.id) + hourMs).toISOString().slice(0, -1)
    assert.equal(await countFrom(`from=${inBerlin}&tz=Europe/Berlin`), 1)
    const day = text.slice(0, 10)
    for (const [tz, start] of [
      ['UTC', `${day}T00:00:00Z`],
      ['Europe/Berlin', `${day}T00:00:00%2B01:00`],
      ['America/Bogota', `${day}T00:00:00-05:00`],
    ]) {
      assert.equal(await countFrom(`from=${day}&tz=${tz}`), await countFrom(`from=${start}`), tz)
      assert.equal(await countFrom(`to=${day}&tz=${tz}`), await countFrom(`to=${start}`), tz)
    }
  })

  test('an unknown model is an empty list', async () => {
    const answer = await queried.getJson<CallList>(`/api/query?model=${encodeURIComponent("' OR 1=1 --")}`)
    assert.deepEqual([answer.calls, answer.count, answer.summary.calls], [[], 0, 0])
    assert.ok(answer.available_models.length > 0)
    const groups = await queried.getJson<CallGroups>('/api/query?model=nothing&group_by=hour')
    assert.deepEqual(groups.groups, [])
  })

  test('pages join without gap or overlap, and the last one says so', async () => {
    const seen: string[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const rest: string = cursor === '' ? '' : `&cursor=${cursor}`
      const answer: CallList = await queried.getJson(`/api/query?limit=57&errors_only=1${rest}`)
      seen.push(...answer.calls.map((call) => call.id))
      assert.equal(answer.count, answer.calls.length)
      cursor = answer.next_cursor
    }
    const failed = selected(newestFirst, new URLSearchParams('errors_only=true'))
    assert.deepEqual(
      seen,
      failed.map((call) => formatCallId(call.id)),
    )
  })

  test('sorted lists hold the largest, without what has no value', async () => {
    const sorts = [
      ['duration', (call: CallRecord): number | null => call.durationMs],
      ['ttft', (call: CallRecord): number | null => call.ttftMs],
      ['cost', (call: CallRecord): number | null => call.costNanoUsd],
    ] as const
    for (const [sort, of] of sorts) {
      const answer = await queried.getJson<CallList>(`/api/query?sort=${sort}`)
      const byId = new Map(calls.map((call) => [formatCallId(call.id), call]))
      const expected = calls
        .map(of)
        .filter((value) => value !== null)
        .sort((a, b) => b - a)
      assert.deepEqual(
        answer.calls.map((call) => of(byId.get(call.id)!)),
        expected.slice(0, 100),
        sort,
      )
      assert.deepEqual([answer.limit, answer.next_cursor], [100, null])
    }
  })

  test('hours and days without a call are there, from the first call selected to the end of the range', async () => {
    const [early, late] = [newestFirst.at(-1)!, newestFirst[0]!]
    const days = await queried.getJson<CallGroups>('/api/query?group_by=day&from=2026-01-01T00:00:00Z')
    const keys = days.groups.map((group) => group.key)
    assert.equal(keys[0], localName(startedAtMs(early.id), 'day', 'UTC'))
    // Now is 21 November.
    assert.equal(keys.at(-1), '2026-11-21')
    assert.equal(days.groups.length, 29)
    assertFigures(days.groups.at(-1)!, [], 'an empty day')
    const to = new Date(startedAtMs(late.id) + 1).toISOString()
    const hours = await queried.getJson<CallGroups>(`/api/query?group_by=hour&to=${to}&tz=Europe/Berlin`)
    assert.ok(hours.groups.some((group) => group.calls === 0))
    const names = hours.groups.map((group) => String(group.key))
    assert.ok(names.includes('2026-10-25T02:00:00+02:00') && names.includes('2026-10-25T02:00:00+01:00'))
    assert.deepEqual(
      names,
      names.toSorted((a, b) => Date.parse(a) - Date.parse(b)),
    )
  })

  test('measures=none leaves times and speeds out, and changes no sum', async () => {
    for (const key of ['model', 'day', 'day,model']) {
      const whole = await queried.getJson<CallGroups>(`/api/query?group_by=${key}`)
      const sums = await queried.getJson<CallGroups>(`/api/query?group_by=${key}&measures=none`)
      const without = (one: object): object =>
        Object.fromEntries(
          Object.entries(one).filter(([name]) => !(callMeasures as readonly string[]).includes(name)),
        )
      assert.deepEqual(sums.groups, whole.groups.map(without))
      assert.deepEqual(sums.summary, without(whole.summary))
    }
  })

  test('measures=curves tells the same percentiles, and those between them', async () => {
    const { groups } = await queried.getJson<CallGroups>('/api/query?group_by=model&measures=curves')
    let compared = 0
    for (const group of groups) {
      for (const name of ['duration_ms', 'ttft_ms', 'output_tokens_per_s'] as const) {
        const curve = group.curves[name]
        const { n, p50, p90, p95, p99 } = group[name]
        assert.equal(curve.length, n === 0 ? 0 : curvePercentiles.length)
        if (n === 0) continue
        assert.deepEqual(
          [50, 90, 95, 99].map((percent) => curve[(curvePercentiles as readonly number[]).indexOf(percent)]),
          [p50, p90, p95, p99],
        )
        assert.deepEqual(
          curve,
          curve.toSorted((a, b) => a - b),
        )
        compared++
      }
    }
    assert.ok(compared > 20)
  })

  test('two keys tell the first twenty of a dimension apart, and the others together', async () => {
    const { groups, group_by } = await queried.getJson<CallGroups>('/api/query?group_by=model,day')
    assert.equal(group_by, 'day,model')
    const named = new Set(groups.filter((group) => group.rest !== true).map((group) => group.keys['model']))
    assert.equal(named.size, 20)
    assert.deepEqual(Object.keys(groups[0]!).slice(0, 1), ['keys'])
    const days = new Set(groups.map((group) => group.keys['day']))
    for (const day of days) {
      const ofDay = calls.filter((call) => localName(startedAtMs(call.id), 'day', 'UTC') === day)
      for (const group of groups.filter((one) => one.keys['day'] === day)) {
        const members = ofDay.filter((call) =>
          group.rest === true ? !named.has(call.model) : call.model === group.keys['model'],
        )
        if (group.rest === true) assert.equal(group.keys['model'], 'other')
        assertFigures(group, members, JSON.stringify(group.keys))
      }
      const told = groups.filter((one) => one.keys['day'] === day).reduce((sum, one) => sum + one.calls, 0)
      assert.equal(told, ofDay.length)
    }
  })

  test('too many groups are refused with a coarser key', async () => {
    const range = 'from=2026-10-24T00:00:00Z&to=2026-11-20T00:00:00Z'
    const answer = await queried.get(`/api/query?group_by=minute&${range}`)
    assert.deepEqual([answer.status, errorOf(answer).code], [400, 'too_many_groups'])
    assert.match(errorOf(answer).message, /5000 groups; ask for group_by=hour/)
    assert.equal((await queried.get(`/api/query?group_by=hour&${range}`)).status, 200)
  })

  test('one call, by its id', async () => {
    const call = calls[5]!
    const told = await queried.getJson<CallJson>(`/api/calls/${formatCallId(call.id)}`)
    assert.deepEqual(
      [told.id, told.model, told.duration_ms],
      [formatCallId(call.id), call.model, call.durationMs],
    )
    const found = await queried.getJson<CallList>(`/api/query?q=${formatCallId(call.id)}`)
    assert.deepEqual(
      found.calls.map((each) => ({ ...each, cost_parts: null })),
      [told],
    )
    assert.equal(found.summary.calls, 1, 'the summary is of that call alone')
    const missing = await queried.get('/api/calls/00000000000')
    assert.deepEqual([missing.status, errorOf(missing).code], [404, 'call_not_found'])
    for (const id of ['x', '0000000000', '000000000000', 'zzzzzzzzzzz', 'ABCDEFGHJKM', '0000000000%2f']) {
      const bad = await queried.get(`/api/calls/${id}`)
      assert.deepEqual([bad.status, errorOf(bad).code], [400, 'invalid_parameter'], id)
    }
  })

  test('error codes are searched for exactly', async () => {
    const { count } = await queried.getJson<CallList>('/api/query?q=stream_truncated')
    assert.equal(count, calls.filter((call) => call.failureCode === 'stream_truncated').length)
    assert.equal((await queried.getJson<CallList>('/api/query?q=stream_trunc')).count, 0)
  })

  test('CSV has a line of names, NDJSON an object a line, and both say where the next page begins', async () => {
    const csv = await queried.get('/api/query?format=csv&limit=3')
    assert.equal(csv.header('content-type'), 'text/csv; charset=utf-8; header=present')
    const lines = csv.body.toString().split('\r\n')
    assert.equal(lines.length, 5)
    assert.match(lines[0]!, /^id,started_at,call_type,endpoint,/)
    assert.ok(lines[1]!.startsWith(`${formatCallId(newestFirst[0]!.id)},`))
    const third = formatCallId(newestFirst[2]!.id)
    assert.equal(csv.header('x-tokenweir-next-cursor'), third)
    const ndjson = await queried.get('/api/query?format=ndjson&limit=3')
    assert.equal(ndjson.header('content-type'), 'application/x-ndjson; charset=utf-8')
    const objects = ndjson.body
      .toString()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as CallJson)
    assert.deepEqual(objects, (await queried.getJson<CallList>('/api/query?limit=3')).calls)
    const groups = await queried.get('/api/query?format=csv&group_by=day,call_type')
    const [names = '', first = ''] = groups.body.toString().split('\r\n')
    assert.match(
      names,
      /^day,call_type,calls,errors,error_rate,.*,duration_ms_n,duration_ms_avg,.*,output_tokens_per_s_max$/,
    )
    assert.match(first, /^2026-10-24,/)
    assert.equal(names.split(',').length, first.split(',').length)
  })

  test('who has the answer already is told so, and a packed one is the same', async () => {
    const plain = await queried.get('/api/query')
    const etag = plain.header('etag')!
    assert.match(etag, /^"[\w-]{22}"$/)
    assert.deepEqual(
      [plain.header('cache-control'), plain.header('vary'), plain.header('content-encoding')],
      ['private, no-cache', 'Accept-Encoding', undefined],
    )
    const { gunzipSync, brotliDecompressSync } = await import('node:zlib')
    for (const [coding, unpack] of [
      ['gzip', gunzipSync],
      ['br', brotliDecompressSync],
    ] as const) {
      const packed = await queried.get('/api/query', { 'accept-encoding': coding })
      assert.equal(packed.header('content-encoding'), coding)
      assert.ok(packed.body.length < plain.body.length / 5)
      assert.deepEqual(unpack(packed.body), plain.body)
      assert.notEqual(packed.header('etag'), etag)
      const again = await queried.get('/api/query', { 'if-none-match': `"x", ${packed.header('etag')}` })
      assert.deepEqual([again.status, again.body.length], [304, 0])
    }
    assert.equal((await queried.get('/api/query', { 'if-none-match': `W/${etag}` })).status, 304)
    assert.equal((await queried.get('/api/query', { 'if-none-match': '"x"' })).status, 200)
    assert.equal((await queried.dashboard.ask('HEAD', '/api/query')).header('etag'), etag)
  })

  test('each filter and each key is told of the calls that it means', async () => {
    const week = `to=${new Date(firstMs + 3 * dayMs + hourMs).toISOString()}`
    const questions: readonly string[] = [
      `from=${new Date(firstMs + hourMs + 1).toISOString()}&to=${new Date(firstMs + dayMs).toISOString()}`,
      'model=model-0&model=model-2&model=nothing',
      'call_type=chat&call_type=props',
      'outcome=ok&outcome=client_disconnected',
      'failure_code=stream_truncated',
      'status=429&status=499',
      'client=curl&client=nobody&endpoint=/v1/embeddings',
      'session=run+1&session=%27;+DROP+TABLE+calls+--&session=none',
      'tag=env:prod&tag=env:dev&tag=user:b',
      'errors_only=1&min_ms=500&max_ms=9000',
      'errors_only=false&max_ms=3000',
      'group_by=hour&tz=Australia/Lord_Howe&model=model-0',
      'group_by=day&tz=Asia/Kathmandu&outcome=ok',
      ...['model', 'call_type', 'outcome', 'status', 'client', 'endpoint', 'failure_code'].map(
        (key) => `group_by=${key}&tz=Europe/Berlin`,
      ),
      ...['hour,call_type', 'day,outcome', 'day,client'].map((keys) => `group_by=${keys}&tz=Asia/Kolkata`),
      ...['session', 'tag:env', 'day,session', 'hour,tag:env'].map((keys) => `group_by=${keys}&${week}`),
    ]
    for (const question of questions) {
      assertAnswer(await queried.getJson(`/api/query?${question}`), newestFirst, question)
    }
    assert.deepEqual([queried.faults, queried.dashboard.faults], [[], []])
  })
})

test('a formula in a name is text in CSV', async () => {
  await using queried = await startQueried({
    calls: [
      {
        ...chatCall(sampleStartMs * idsPerMs),
        model: '=cmd|"/c calc"!A1',
        client: '@evil',
        errorMessage: 'a\nb',
      },
    ],
  })
  const csv = (await queried.get('/api/query?format=csv')).body.toString()
  assert.ok(csv.includes(`"'=cmd|""/c calc""!A1"`))
  assert.ok(csv.includes(",'@evil,"))
  assert.ok(csv.includes('"a\nb"'))
})
