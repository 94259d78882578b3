import assert from 'node:assert/strict'
import type { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { chatCall, sampleStartMs } from '../../../test/store/sample-call.ts'
import { makeTempDir } from '../../../test/support/temp-dir.ts'
import { idsPerMs } from '../../call/call-id.ts'
import { quantileOf } from '../../lib/histogram.ts'
import { callTypeCodes, outcomeCodes } from '../../call/fields/call-fields.ts'
import type { StoredCall } from '../../call/call-record.ts'
import type { IdFilter } from './call-condition.ts'
import { CallWriter } from '../write/call-writer.ts'
import type { SumGroup } from './sums-by-group.ts'
import { SumReader } from './sum-reader.ts'
import { openForWriting } from '../sqlite/open-store.ts'
import { BatchEncoder, Dictionary } from '../write/record-batch.ts'
import { Summing } from '../rollup/summing.ts'
import { CallSums, sumColumns } from '../rollup/call-sums.ts'
import { quarterMs } from '../rollup/time-plan.ts'
import type { FieldDimension } from '../../call/call-question.ts'
import { draws } from '../../../test/support/draws.ts'

const spanMs = 9 * 24 * 3_600_000

interface Made {
  readonly atMs: number
  readonly type: 'chat' | 'embedding'
  readonly model: string | null
  readonly outcome: 'ok' | 'client_disconnected' | 'upstream_error'
  readonly status: number
  readonly client: string | null
  readonly durationMs: number
  readonly tokens: number | null
}

const made: fc.Arbitrary<Made> = fc.record({
  atMs: fc.integer({ min: sampleStartMs, max: sampleStartMs + spanMs }),
  type: fc.constantFrom('chat', 'embedding'),
  model: fc.constantFrom('a', 'b', null),
  outcome: fc.constantFrom('ok', 'ok', 'ok', 'client_disconnected', 'upstream_error'),
  status: fc.constantFrom(200, 429, 500),
  client: fc.constantFrom('x', 'y', null),
  durationMs: fc.integer({ min: 1, max: 100_000 }),
  tokens: fc.option(fc.nat(5000), { nil: null }),
})

function callOf(each: Made, index: number): StoredCall {
  return {
    ...chatCall(each.atMs * idsPerMs + (index % idsPerMs)),
    callType: each.type,
    model: each.model,
    outcome: each.outcome,
    failureCode: each.outcome === 'upstream_error' ? 'upstream_http' : null,
    status: each.status,
    client: each.client,
    durationMs: each.durationMs,
    queueMs: 0,
    inputTokens: each.tokens,
    usageSource: each.tokens === null ? 'none' : 'usage',
  }
}

/** What a reader without rollups would say. */
function expectedOf(
  calls: readonly Made[],
  edgesMs: readonly number[],
  by: (call: Made) => unknown,
): Map<string, { calls: number; errors: number; tokens: number; durations: number[] }> {
  const groups = new Map<string, { calls: number; errors: number; tokens: number; durations: number[] }>()
  for (const call of calls) {
    const bucket = edgesMs.findLastIndex((edge) => edge <= call.atMs)
    if (bucket < 0 || bucket === edgesMs.length - 1) continue
    const name = `${bucket} ${String(by(call))}`
    const group = groups.get(name) ?? { calls: 0, errors: 0, tokens: 0, durations: [] }
    groups.set(name, group)
    group.calls++
    if (call.outcome === 'upstream_error') group.errors++
    group.tokens += call.tokens ?? 0
    if (call.outcome === 'ok') group.durations.push(call.durationMs)
  }
  return groups
}

function assertSame(
  groups: readonly SumGroup[],
  nameOf: (entry: number | null) => string,
  expected: ReturnType<typeof expectedOf>,
): void {
  const actual = new Map(groups.map((group) => [`${group.bucket} ${nameOf(group.value)}`, group.sums]))
  assert.deepEqual([...actual.keys()].sort(), [...expected.keys()].sort())
  for (const [name, { calls, errors, tokens, durations }] of expected) {
    const figures = new CallSums()
    actual.get(name)!.addTo(figures)
    assert.equal(figures.sum('calls'), calls)
    assert.equal(figures.sum('errors'), errors)
    assert.equal(figures.sum('input_tokens'), tokens)
    const distribution = figures.distributions.duration_us
    assert.equal(distribution.count, durations.length)
    assert.equal(
      distribution.sum,
      durations.reduce((sum, ms) => sum + ms * 1000, 0),
    )
    if (durations.length === 0) continue
    assert.equal(distribution.max, Math.max(...durations) * 1000)
    const sorted = durations.toSorted((a, b) => a - b)
    const exact = quantileOf(sorted.length, 0.95, (rank) => sorted[rank] ?? 0)! * 1000
    const estimate = distribution.histogram.percentile(0.95)!
    assert.ok(Math.abs(estimate - exact) <= exact * 0.01, `${estimate} is not within 1% of ${exact}`)
  }
}

async function withDatabase(work: (database: DatabaseSync) => void): Promise<void> {
  await using dir = await makeTempDir()
  const database = openForWriting(dir.file('calls.db'))
  try {
    work(database)
  } finally {
    database.close()
  }
}

test('whatever was rolled forward, and whenever, an answer is what the calls say', async () => {
  const instant = fc.integer({ min: sampleStartMs - quarterMs, max: sampleStartMs + spanMs + quarterMs })
  const property = fc.asyncProperty(
    fc.array(made, { maxLength: 120, size: 'max' }),
    fc.array(instant, { minLength: 2, maxLength: 6 }),
    fc.array(fc.record({ written: fc.nat(60), limit: fc.integer({ min: 1, max: 40 }), nowMs: instant }), {
      maxLength: 5,
    }),
    fc.constantFrom<FieldDimension | null>(null, 'call_type', 'model', 'outcome', 'client', 'status'),
    async (calls, instants, steps, dimension) => {
      await withDatabase((database) => {
        const words = new Dictionary()
        const encoder = new BatchEncoder()
        const writer = new CallWriter(database, words)
        const forward = new Summing(database)
        let next = 0
        const write = (count: number): void => {
          const batch = encoder.encode(
            calls.slice(next, next + count).map((call, i) => callOf(call, next + i)),
          )
          next = Math.min(calls.length, next + count)
          words.accept(batch)
          writer.write(batch)
        }
        for (const { written, limit, nowMs } of steps) {
          if (written > 0 && next < calls.length) write(written)
          forward.step(nowMs, limit)
          forward.step(nowMs, limit)
        }
        if (next < calls.length) write(calls.length - next)
        const edgesMs = [...new Set(instants)].toSorted((a, b) => a - b)
        if (edgesMs.length < 2) return

        const idsOf = (table: string): Map<number | null, string> =>
          new Map(
            database
              .prepare(`SELECT id, text FROM ${table}`)
              .all()
              .map((row) => [Number(row['id']), String(row['text'])]),
          )
        const texts = { model: idsOf('models'), client: idsOf('clients') }
        const nameOf = (entry: number | null): string => {
          if (dimension === 'model' || dimension === 'client') return texts[dimension].get(entry) ?? 'null'
          if (dimension === 'call_type')
            return String(Object.entries(callTypeCodes).find(([, id]) => id === entry)?.[0])
          if (dimension === 'outcome')
            return String(Object.entries(outcomeCodes).find(([, id]) => id === entry)?.[0])
          return String(entry)
        }
        const by = (call: Made): unknown =>
          dimension === null ? null : dimension === 'call_type' ? call.type : call[dimension as keyof Made]
        const reader = new SumReader(database)
        assertSame(
          reader.ask([{ edgesMs, filter: {}, dimension }])[0]!,
          nameOf,
          expectedOf(calls, edgesMs, by),
        )
        const onlyChat = { call_type: new Set([callTypeCodes.chat]) }
        assertSame(
          reader.ask([{ edgesMs, filter: onlyChat, dimension }])[0]!,
          nameOf,
          expectedOf(
            calls.filter((call) => call.type === 'chat'),
            edgesMs,
            by,
          ),
        )
      })
    },
  )
  await fc.assert(property, { numRuns: draws(100) })
})

test('clients and models together, and half hours, are what the calls say', async () => {
  const halfMs = 2 * quarterMs
  const startMs = Math.floor(sampleStartMs / (4 * quarterMs)) * 4 * quarterMs
  const halves = 30
  const instantMs = fc.nat(halves * halfMs).map((after) => startMs + after)
  const halfHour = fc.nat(halves).map((half) => startMs + half * halfMs)
  const edgesOf = (edge: fc.Arbitrary<number>): fc.Arbitrary<number[]> =>
    fc.array(edge, { minLength: 2, maxLength: 12, size: 'max' })
  const property = fc.asyncProperty(
    fc.array(
      made.chain((call) => instantMs.map((atMs) => Object.assign(call, { atMs }))),
      { maxLength: 60, size: 'max' },
    ),
    fc.nat(60),
    fc.oneof(edgesOf(halfHour), edgesOf(instantMs)),
    instantMs,
    fc.nat(300),
    async (calls, written, edges, nowMs, steps) => {
      await withDatabase((database) => {
        const words = new Dictionary()
        const encoder = new BatchEncoder()
        const writer = new CallWriter(database, words)
        const forward = new Summing(database)
        const write = (from: number, past: number): void => {
          const batch = encoder.encode(calls.slice(from, past).map((call, i) => callOf(call, from + i)))
          words.accept(batch)
          writer.write(batch)
        }
        const rollAll = (untilMs: number): void => {
          while (forward.step(untilMs, 40));
        }
        if (written > 0) write(0, written)
        // Hours are made of quarters that are there, in a few steps or in all of them, before calls come late.
        rollAll(startMs)
        for (let step = 0; step < steps; step++) forward.step(nowMs, 7)
        if (written < calls.length) write(written, calls.length)
        rollAll(nowMs)
        const edgesMs = [...new Set(edges)].toSorted((a, b) => a - b)
        if (edgesMs.length < 2) return
        const idsOf = (table: string): ReadonlyMap<string, number> =>
          new Map(
            database
              .prepare(`SELECT id, text FROM ${table}`)
              .all()
              .map((row) => [String(row['text']), Number(row['id'])]),
          )
        const [models, clients] = [idsOf('models'), idsOf('clients')]
        const nameIn = (ids: ReadonlyMap<string, number>, entry: number | null): string =>
          [...ids].find(([, id]) => id === entry)?.[0] ?? 'null'
        const ask = (filter: IdFilter, dimension: FieldDimension | null): readonly SumGroup[] =>
          new SumReader(database).ask([{ edgesMs, filter, dimension }])[0]!
        assertSame(
          ask({}, null),
          String,
          expectedOf(calls, edgesMs, () => null),
        )
        const sumsOf = (isSumsOnly: boolean): unknown =>
          new SumReader(database)
            .ask([{ edgesMs, filter: {}, dimension: 'model', ...(isSumsOnly && { isSumsOnly }) }])[0]!
            .map(({ bucket, value: entry, sums: figures }) => ({
              bucket,
              entry,
              sums: sumColumns.map((column) => figures.sum(column)),
            }))
        assert.deepEqual(sumsOf(true), sumsOf(false))
        const ofClient = { client: new Set([clients.get('x') ?? -5]) }
        const callsOfClient = calls.filter(({ client }) => client === 'x')
        assertSame(
          ask(ofClient, 'model'),
          (entry) => nameIn(models, entry),
          expectedOf(callsOfClient, edgesMs, ({ model }) => model),
        )
        const chatOfModel = {
          model: new Set([models.get('b') ?? -5]),
          call_type: new Set([callTypeCodes.chat]),
        }
        assertSame(
          ask(chatOfModel, 'client'),
          (entry) => nameIn(clients, entry),
          expectedOf(
            calls.filter(({ model, type }) => model === 'b' && type === 'chat'),
            edgesMs,
            ({ client }) => client,
          ),
        )
      })
    },
  )
  await fc.assert(property, { numRuns: draws(60) })
})

test('quarter hours of a call type, to the middle of the newest one, need no call', async () => {
  await withDatabase((database) => {
    const startMs = Math.ceil(sampleStartMs / quarterMs) * quarterMs
    const calls = fc.sample(made, { numRuns: 40, seed: 1 }).map((call, i) => {
      const atMs = startMs + Math.floor((i * quarterMs) / 10)
      return Object.assign(call, { atMs })
    })
    const words = new Dictionary()
    const batch = new BatchEncoder().encode(calls.map(callOf))
    words.accept(batch)
    new CallWriter(database, words).write(batch)
    const forward = new Summing(database)
    while (forward.step(startMs, 1000));
    database.exec('DELETE FROM calls')
    const edgesMs = [0, 1, 2, 3, 3.95].map((quarters) => startMs + quarters * quarterMs)
    const filter = { call_type: new Set([callTypeCodes.chat]) }
    assertSame(
      new SumReader(database).ask([{ edgesMs, filter, dimension: null }])[0]!,
      String,
      expectedOf(
        calls.filter(({ type }) => type === 'chat'),
        edgesMs,
        () => null,
      ),
    )
  })
})
