/** What a reader says of many calls, against the same counted one by one, in zones that are off UTC by all sorts of times. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { idsPerMs, startedAtMs } from '../../src/call/call-id.ts'
import type { CallAnswer, CallDimension, CallQuestion } from '../../src/call/call-question.ts'
import type { CallFilter } from '../../src/call/call-filter.ts'
import type { CallRecord } from '../../src/call/call-record.ts'
import { isFailed } from '../../src/call/outcome.ts'
import { openCallReader } from '../../src/store/read/call-query.ts'
import { openForWriting } from '../../src/store/sqlite/open-store.ts'
import { Summing } from '../../src/store/rollup/summing.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { assertFigures, entryOf, hasTags } from '../dashboard/query-reference.ts'
import { chatCall } from './sample-call.ts'
import { writeCalls } from './write-calls.ts'

const hourMs = 3_600_000
const quarterMs = 900_000
const rangeMs = 5 * 24 * hourMs

/** Two days before a change of the clocks, where there is one. */
const places: readonly (readonly [zone: string, startMs: number])[] = [
  ['Asia/Kolkata', Date.UTC(2026, 10, 1)],
  ['Asia/Kathmandu', Date.UTC(2026, 10, 1)],
  ['Australia/Lord_Howe', Date.UTC(2026, 9, 1)],
  ['Australia/Lord_Howe', Date.UTC(2027, 3, 2)],
  ['Europe/Berlin', Date.UTC(2026, 9, 23)],
  ['Europe/Berlin', Date.UTC(2027, 2, 26)],
]

/** The instants at which the clocks of a zone show a new day, or a new hour. */
function edgesIn(zone: string, startMs: number, unit: 'day' | 'hour'): number[] {
  const format = new Intl.DateTimeFormat('en', {
    timeZone: zone,
    day: 'numeric',
    ...(unit === 'hour' && { hour: 'numeric' }),
  })
  const edges: number[] = []
  for (let at = startMs; at <= startMs + rangeMs; at += quarterMs) {
    if (format.format(at) !== format.format(at - quarterMs)) edges.push(at)
  }
  return edges
}

const edgeLists = places.flatMap(([zone, startMs]) =>
  (['day', 'hour'] as const).map((unit) => ({ startMs, edgesMs: edgesIn(zone, startMs, unit) })),
)

interface Made {
  readonly offsetMs: number
  readonly type: 'chat' | 'embedding'
  readonly model: string | null
  readonly outcome: 'ok' | 'client_disconnected' | 'upstream_error' | 'refused'
  readonly status: number | null
  readonly client: string | null
  readonly endpoint: string
  readonly session: string | null
  readonly upstream_name: string | null
  readonly env: string | null
  readonly durationMs: number
  readonly tpotMs: number | null
  readonly costNanoUsd: number | null
  readonly tokens: number | null
}

const made: fc.Arbitrary<Made> = fc.record({
  // Some long before the others, so that they come late.
  offsetMs: fc.integer({ min: -hourMs, max: rangeMs + hourMs }),
  type: fc.constantFrom('chat', 'embedding'),
  model: fc.constantFrom('a', 'b', 'c', null),
  outcome: fc.constantFrom('ok', 'ok', 'ok', 'client_disconnected', 'upstream_error', 'refused'),
  status: fc.constantFrom(200, 429, null),
  client: fc.constantFrom('x', 'y', null),
  endpoint: fc.constantFrom('/v1/chat/completions', '/v1/embeddings'),
  session: fc.constantFrom('run 1', 'run 2', null),
  upstream_name: fc.constantFrom('default', 'local', null),
  env: fc.constantFrom('a', 'b:c', null),
  durationMs: fc.integer({ min: 1, max: 100_000 }),
  tpotMs: fc.option(fc.integer({ min: 0, max: 500 }), { nil: null }),
  costNanoUsd: fc.option(fc.nat(1e9), { nil: null }),
  tokens: fc.option(fc.nat(5000), { nil: null }),
})

const filters: fc.Arbitrary<CallFilter> = fc.oneof(
  fc.constant({}),
  fc.record(
    {
      model: fc.constantFrom(['a'], ['a', 'c'], ['nobody asked for this'], []),
      call_type: fc.constantFrom(['chat'] as const, ['rerank'] as const),
      outcome: fc.constantFrom(['ok'] as const, ['ok', 'refused'] as const),
      failedOnly: fc.boolean(),
      failure_code: fc.constantFrom(['upstream_http'], ['queue_full', 'upstream_http']),
      status: fc.constantFrom([429], [200, 500]),
      client: fc.constantFrom(['x'], ['x', 'y']),
      endpoint: fc.constantFrom(['/v1/embeddings']),
      session: fc.constantFrom(['run 1'], ['run 1', 'run 2', 'run 3']),
      upstream_name: fc.constantFrom(['local'], ['local', 'nowhere']),
      tag: fc.constantFrom(['env:a'], ['env:a', 'env:b:c'], ['all:1', 'env:b:c'], ['all:2']),
      min_ms: fc.integer({ min: 0, max: 60_000 }),
      max_ms: fc.integer({ min: 20_000, max: 100_000 }),
      exactly: fc.constantFrom('upstream_http', 'not a code'),
    },
    { requiredKeys: [] },
  ),
)

function passes(call: CallRecord, filter: CallFilter): boolean {
  const within = <Value>(list: readonly Value[] | undefined, value: Value | null): boolean =>
    list === undefined || (value !== null && list.includes(value))
  return (
    within(filter.model, call.model) &&
    within(filter.call_type, call.callType) &&
    within(filter.outcome, call.outcome) &&
    (filter.failedOnly !== true || isFailed(call.outcome)) &&
    within(filter.failure_code, call.failureCode) &&
    within(filter.status, call.status) &&
    within(filter.client, call.client) &&
    within(filter.endpoint, call.endpoint) &&
    within(filter.session, call.session) &&
    within(filter.upstream_name, call.upstreamName) &&
    hasTags(call, filter.tag ?? []) &&
    call.durationMs >= (filter.min_ms ?? 0) &&
    call.durationMs <= (filter.max_ms ?? Infinity) &&
    (filter.exactly === undefined || call.failureCode === filter.exactly)
  )
}

/** The same answer, by counting. */
function expectedOf(calls: readonly CallRecord[], question: CallQuestion): Map<string, CallRecord[]> {
  const groups = new Map<string, CallRecord[]>()
  for (const call of calls) {
    const bucket = question.edgesMs.findLastIndex((edge) => edge <= startedAtMs(call.id))
    if (bucket < 0 || bucket === question.edgesMs.length - 1 || !passes(call, question.filter)) continue
    const entry = question.dimension === null ? null : entryOf(call, question.dimension)
    const name = JSON.stringify([bucket, entry])
    groups.set(name, [...(groups.get(name) ?? []), call])
  }
  return groups
}

const dimensions = [
  null,
  'model',
  'call_type',
  'outcome',
  'status',
  'client',
  'endpoint',
  'failure_code',
  'session',
  'upstream_name',
  'tag:env',
] as const

test('sums are exact and percentiles within 1%, in every zone, whatever was rolled forward', async () => {
  const property = fc.asyncProperty(
    fc.array(made, { maxLength: 150, size: 'max' }),
    fc.constantFrom(...edgeLists),
    fc.record({ filter: filters, dimension: fc.constantFrom(...dimensions), isRagged: fc.boolean() }),
    fc.array(
      fc.record({
        written: fc.nat(80),
        rolled: fc.nat(4),
        limit: fc.integer({ min: 1, max: 60 }),
        atMs: fc.nat(rangeMs),
      }),
      { maxLength: 8 },
    ),
    fc.constantFrom(2, 5, 1000),
    async (all, { startMs, edgesMs }, { filter, dimension, isRagged }, steps, keyLimit) => {
      await using dir = await makeTempDir()
      const path = dir.file('calls.db')
      const calls = all.map((each, index) => storedCall(each, startMs, index))
      // Two writers on one file take turns: either may roll forward what the other has written.
      const databases = [openForWriting(path), openForWriting(path)]
      const rolls = databases.map((database) => new Summing(database, keyLimit))
      let next = 0
      const write = (count: number): void => {
        writeCalls(databases[0]!, calls.slice(next, next + count))
        next += count
      }
      for (const [index, { written, rolled, limit, atMs }] of steps.entries()) {
        write(written)
        for (let i = 0; i < rolled; i++) rolls[(index + i) % 2]!.step(startMs + atMs, limit)
      }
      write(calls.length)

      const edges = isRagged
        ? edgesMs.map((edge, index) => edge + ((index * 7_654_321) % quarterMs))
        : edgesMs
      const question: CallQuestion = { filter, edgesMs: edges, dimension }
      const reader = openCallReader(path)
      assert.ok(typeof reader !== 'string')
      try {
        const answer = await reader.aggregate(question)
        const expected = expectedOf(calls, question)
        assertSame(answer, expected, dimension)
      } finally {
        reader.close()
        for (const database of databases) database.close()
      }
    },
  )
  await fc.assert(property, { numRuns: 200 })
})

function assertSame(
  { groups, summary }: CallAnswer,
  expected: ReadonlyMap<string, readonly CallRecord[]>,
  dimension: CallDimension | null,
): void {
  const shown = new Map(groups.map((group) => [JSON.stringify([group.bucket, group.value]), group.figures]))
  // Calls without a failure code are in no group of it.
  const inGroups = [...expected].filter(([name]) => dimension !== 'failure_code' || !name.endsWith(',null]'))
  assert.deepEqual([...shown.keys()].sort(), inGroups.map(([name]) => name).sort(), `by ${dimension}`)
  for (const [name, calls] of inGroups) assertFigures(shown.get(name)!, calls, name)
  assertFigures(summary, [...expected.values()].flat(), 'summary')
  const order = groups.map(({ bucket, figures }) => bucket * 1e6 - figures.calls)
  assert.deepEqual(
    order,
    order.toSorted((a, b) => a - b),
  )
}

function storedCall(each: Made, startMs: number, index: number): CallRecord {
  return {
    ...chatCall((startMs + each.offsetMs) * idsPerMs + (index % idsPerMs)),
    callType: each.type,
    model: each.model,
    outcome: each.outcome,
    failureCode:
      each.outcome === 'upstream_error' ? 'upstream_http' : each.outcome === 'refused' ? 'queue_full' : null,
    upstreamName: each.upstream_name,
    status: each.status,
    client: each.client,
    endpoint: each.endpoint,
    session: each.session,
    tags: each.env === null ? (each.tokens === null ? null : 'all:1') : `all:1,env:${each.env},env:z`,
    durationMs: each.durationMs,
    tpotMs: each.tpotMs,
    costNanoUsd: each.costNanoUsd,
    inputTokens: each.tokens,
    cachedInputTokens: each.tokens === null ? null : each.tokens >> 1,
    usageSource: each.tokens === null ? ('none' as const) : ('usage' as const),
  }
}
