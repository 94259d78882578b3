/** What any store must answer, whatever it stores calls in. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { storedFields } from '../../src/call/fields/call-fields.ts'
import type { CallFilter } from '../../src/call/call-filter.ts'
import { firstIdAt, formatCallId } from '../../src/call/call-id.ts'
import type { CallSort, StoreReader } from '../../src/call/call-reader.ts'
import { testSessions } from './any-store-sessions.ts'
import { chatCall, fullCall, idAt, sampleStartMs } from './sample-call.ts'
import { type OpenStore, fiveCalls, trace } from './store-content.ts'
import { fieldsOf } from '../support/fields-of.ts'

const milliseconds = (calls: readonly { started_at: string }[]): number[] =>
  calls.map((call) => Date.parse(call.started_at) - sampleStartMs)

const filters: readonly [CallFilter, number[]][] = [
  [{}, [5, 4, 3, 2, 1]],
  [{ fromMs: sampleStartMs + 2, toMs: sampleStartMs + 4 }, [3, 2]],
  [{ fromMs: sampleStartMs + 1.5 }, [5, 4, 3, 2]],
  [{ model: ['b'] }, [2]],
  [{ model: ['b', 'gpt-5.1-mini'] }, [5, 4, 2, 1]],
  [{ model: ["' OR 1 --"] }, []],
  [{ model: [] }, []],
  [{ call_type: ['embedding', 'other'] }, [4, 3]],
  [{ outcome: ['client_disconnected'] }, [5]],
  [{ failedOnly: true }, [4, 3, 1]],
  [{ failedOnly: false }, [5, 4, 3, 2, 1]],
  [{ failedOnly: true, model: ['gpt-5.1-mini'], toMs: sampleStartMs + 4 }, [1]],
  [{ failedOnly: true, outcome: ['ok', 'refused'] }, [3]],
  [{ status: [502, 200] }, [5, 4, 2, 1]],
  [{ client: ['openai-python'], endpoint: ['/v1/files'] }, []],
  [{ endpoint: ['/v1/files'] }, [3]],
  [{ failure_code: ['upstream_timeout'] }, [1]],
  [{ source: ['litellm'] }, [2]],
  [{ upstream_request_id: ['chatcmpl-b'] }, [2]],
  [{ upstream_request_id: ['chatcmpl-b'], fromMs: sampleStartMs + 3 }, []],
  [{ upstream_request_id: ['7', "' OR 1 --"] }, []],
  [{ source: ['helicone'], model: ['b'] }, []],
  [{ session: ['run'] }, [4, 2]],
  [{ session: ['run', 'another'], model: ['b'] }, [2]],
  [{ session: ['run'], fromMs: sampleStartMs + 3 }, [4]],
  [{ tag: ['env:prod'] }, [4, 2]],
  [{ tag: ['env:prod', 'env:dev'] }, [5, 4, 2]],
  [{ tag: ['env:prod', 'user:x'] }, [2]],
  [{ tag: ['env:prod', 'env:dev', 'user:x'], toMs: sampleStartMs + 5 }, [2]],
  [{ tag: ['env:pro'] }, []],
  [{ tag: ['env:prod', 'who:me'] }, []],
  [{ tag: ['env:prod'], session: ['run'], failedOnly: true }, [4]],
  [{ exactly: 'overloaded' }, [1]],
  [{ exactly: 'upstream_timeout' }, [1]],
  [{ exactly: formatCallId(idAt(3)) }, [3]],
  [{ exactly: formatCallId(idAt(3)), model: ['b'] }, []],
  [{ exactly: trace }, [5, 2]],
  [{ exactly: trace, model: ['b'] }, [2]],
  [{ exactly: trace, toMs: sampleStartMs + 5 }, [2]],
  [{ exactly: trace.replace('4', '5') }, []],
  [{ exactly: 'nothing of the kind' }, []],
  [{ min_ms: 0, max_ms: 8.008 }, [3, 1]],
  [{ min_ms: 8.009 }, [5, 4, 2]],
]

export function testStore(what: string, open: OpenStore): void {
  testSessions(what, open)
  for (const [filter, expected] of filters)
    test(`${what}: newest first: ${JSON.stringify(filter)}`, async () => {
      await using store = await open(fiveCalls)
      const { reader } = store
      assert.deepEqual(milliseconds(await reader.list(filter, { limit: 10 })), expected)
      const ended = await reader.endedSince(0, filter, 10)
      const inOrder = milliseconds(ended.calls).toSorted((a, b) => a - b)
      assert.deepEqual(inOrder, expected.toReversed())
      assert.equal(ended.lastSeq, 5)
      const edgesMs = [filter.fromMs ?? sampleStartMs, filter.toMs ?? sampleStartMs + 1000]
      const { summary } = await reader.aggregate({ filter, edgesMs, dimension: null })
      assert.equal(summary.calls, expected.length)
    })

  test(`${what}: the largest first, without those that have no value`, async () => {
    await using store = await open(fiveCalls)
    const { reader } = store
    const of = async (sort: CallSort, limit = 9): Promise<number[]> =>
      milliseconds(await reader.list({}, { limit, sort }))
    assert.equal((await of('duration')).at(-1), 3)
    assert.equal((await of('ttft')).length, 4)
    assert.deepEqual((await of('cost')).at(-1), 1)
    assert.deepEqual(await of('cost', 1), [5])
    const rising = async (sort: CallSort, limit = 9): Promise<number[]> =>
      milliseconds(await reader.list({}, { limit, sort, rising: true }))
    assert.deepEqual(await rising('started_at', 3), [1, 2, 3])
    assert.deepEqual(await rising('duration'), (await of('duration')).toReversed())
    assert.deepEqual(await rising('cost', 1), [1])
    assert.deepEqual(
      milliseconds(await reader.list({ failedOnly: true }, { limit: 9, sort: 'duration' })),
      [4, 1, 3],
    )
  })

  test(`${what}: one call, the choices of a filter, and how far calls reach`, async () => {
    await using store = await open(fiveCalls)
    const { reader } = store
    assert.equal((await reader.call(idAt(3)))?.endpoint, '/v1/files')
    assert.equal(await reader.call(idAt(9)), null)
    assert.deepEqual((await reader.choices()).models, ['b', 'gpt-5.1-mini'])
    assert.deepEqual(await reader.extent(), { firstMs: sampleStartMs + 1, lastMs: sampleStartMs + 5 })
  })

  test(`${what}: entries beyond the top are put together, also in each bucket`, async () => {
    await using store = await open(fiveCalls)
    const { reader } = store
    const edgesMs = [1, 3, 6].map((ms) => sampleStartMs + ms)
    const { groups } = await reader.aggregate({ filter: {}, edgesMs, dimension: 'model', top: 1 })
    assert.deepEqual(
      groups.map(({ bucket, value: entry, isRest, figures }) => [bucket, entry, isRest, figures.calls]),
      [
        [0, 'gpt-5.1-mini', false, 1],
        [0, null, true, 1],
        [1, 'gpt-5.1-mini', false, 2],
        [1, null, true, 1],
      ],
    )
  })

  test(`${what}: pages join without gap or overlap`, async () => {
    await using store = await open(fiveCalls)
    const { reader } = store
    assert.deepEqual(milliseconds(await reader.list({}, { limit: 2 })), [5, 4])
    assert.deepEqual(milliseconds(await reader.list({}, { limit: 2, beforeId: idAt(4) })), [3, 2])
    assert.deepEqual(milliseconds(await reader.list({}, { limit: 2, beforeId: idAt(2) })), [1])
  })

  test(`${what}: a follower gets each call once, in the order of their ends`, async () => {
    await using store = await open(fiveCalls)
    const { reader } = store
    const first = await reader.endedSince(0, {}, 2)
    assert.deepEqual(milliseconds(first.calls), [2, 1])
    const second = await reader.endedSince(first.lastSeq, {}, 9)
    assert.deepEqual(milliseconds(second.calls), [3, 5, 4])
    assert.deepEqual(await reader.endedSince(second.lastSeq, {}, 9), { calls: [], lastSeq: 5 })
    assert.equal(await reader.lastSeq(), 5)
    assert.deepEqual((await reader.endedSince(0, { model: ['b'] }, 9)).lastSeq, 5)
  })

  test(`${what}: calls are found by their ends, and by what was written last`, async () => {
    await using store = await open(fiveCalls)
    const all = { fromMs: 0, afterSeq: 9, most: 9, withinMs: 60_000 }
    const seqs = async (bounds: Partial<typeof all>): Promise<number[]> =>
      (await store.reader.endedWithin({ ...all, ...bounds })).map(({ seq }) => seq)
    const never = Number.MAX_SAFE_INTEGER
    assert.deepEqual(await seqs({}), [5, 4, 3, 2, 1])
    assert.deepEqual(await seqs({ most: 2 }), [5, 4])
    assert.deepEqual(await seqs({ fromMs: never }), [])
    assert.deepEqual(await seqs({ fromMs: never, afterSeq: 3 }), [5, 4])
    const [last] = await store.reader.endedWithin(all)
    const { model, isOk, isFailed, tokens } = last ?? assert.fail()
    assert.deepEqual([model, isOk, isFailed, tokens], ['gpt-5.1-mini', false, true, 1369])
  })

  test(`${what}: a full call comes back whole`, async () => {
    await using store = await open(fiveCalls)
    const { reader } = store
    const [call] = await reader.list({ outcome: ['upstream_error'] }, { limit: 1 })
    const full = fullCall(idAt(1))
    const stored = storedFields.map(({ name, record, kind }) => [
      name,
      kind === 'cost' ? Number(full[record]) / 1e9 : full[record],
    ])
    const { receiveMs, queueMs, retryWaitMs, ttftMs, tpotMs } = full
    assert.deepEqual(
      { ...call },
      {
        ...Object.fromEntries(stored),
        id: formatCallId(idAt(1)),
        started_at: '2026-11-21T04:00:00.001Z',
        failed: true,
        ttft_total_ms: Math.round((receiveMs! + queueMs! + retryWaitMs! + ttftMs!) * 1000) / 1000,
        output_tokens_per_s: 1000 / tpotMs!,
        input_tokens_per_s: (1000 * (full.inputTokens! - full.cachedInputTokens!)) / full.upstreamPromptMs!,
      },
    )
  })

  test(`${what}: what is not known is null, and zero stays zero`, async () => {
    await using store = await open(fiveCalls)
    const { reader } = store
    const [call] = await reader.list({ outcome: ['refused'] }, { limit: 1 })
    const { id, started_at, ...rest } = { ...call }
    assert.equal(id, formatCallId(idAt(3)))
    assert.equal(started_at, '2026-11-21T04:00:00.003Z')
    const known = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== null))
    assert.deepEqual(known, {
      call_type: 'other',
      endpoint: '/v1/files',
      method: 'GET',
      stream: false,
      instance: 'k3v9',
      outcome: 'refused',
      failed: true,
      attempts: 0,
      duration_ms: 0,
      usage_source: 'none',
      request_bytes: 0,
      response_bytes: 0,
    })
  })

  test(`${what}: what is asked in one instant is answered as of it, by everybody who asks meanwhile`, async () => {
    await using store = await open(fiveCalls)
    const { reader } = store
    const count = (): Promise<number> => reader.inReadTransaction(() => reader.lastSeq())
    assert.deepEqual(await reader.inReadTransaction(() => Promise.all([count(), count()])), [5, 5])
    assert.equal(await count(), 5)
    await assert.rejects(
      reader.inReadTransaction(() => Promise.reject(new RangeError('no answer'))),
      RangeError,
    )
    assert.equal(await count(), 5)
  })

  test(`${what}: models are counted by who answered`, async () => {
    await using store = await open(fiveCalls)
    const { models } = await store.reader.servedModels(sampleStartMs, sampleStartMs + 1000, 60_000)
    const told = models.map(({ model, calls }) => `${model} ${calls}`)
    // A call without usage, cost or search units has no price to look for.
    assert.deepEqual(told.toSorted(), ['b 1', 'gpt-5.1-mini 1', 'gpt-5.1-mini 2'])
  })

  test(`${what}: calls tell when they asked for a slot, what they waited, and how long they held it`, async () => {
    const held = { receiveMs: 2, queueMs: 10, durationMs: 112 }
    const never = { ...held, attempts: 0, durationMs: 12 }
    await using store = await open({
      calls: [
        { ...chatCall(idAt(1)), ...held },
        { ...chatCall(idAt(2)), ...never, failureCode: 'queue_timeout' },
        { ...chatCall(idAt(3)), ...never, outcome: 'client_disconnected' },
        { ...chatCall(idAt(4)), ...never, failureCode: 'client_budget_exceeded' },
        { ...chatCall(idAt(5)), ...held, upstreamName: 'b' },
        { ...chatCall(idAt(6)), ...held, method: 'GET' },
      ],
    })
    const range = { fromMs: sampleStartMs, toMs: sampleStartMs + 1000, most: 100, withinMs: 60_000 }
    const uses = await store.reader.slotUses({ ...range, upstreamName: 'default' })
    assert.equal(uses.fromMs, sampleStartMs)
    const told = [...uses.askedMs.keys()].map((at) => [
      (uses.askedMs[at] ?? 0) - sampleStartMs,
      uses.waitMs[at],
      uses.heldMs[at],
    ])
    assert.deepEqual(told, [
      [3, 10, 100],
      [4, 10, -1],
      [5, 10, -1],
    ])
    assert.equal((await store.reader.slotUses({ ...range, upstreamName: 'b' })).askedMs.length, 1)
  })

  test(`${what}: how many calls there are, and how many came lately`, async () => {
    await using store = await open(fiveCalls)
    const { recent, ...whole } = await store.reader.growth(0)
    assert.deepEqual(whole, { calls: 5, ever: 5, firstMs: sampleStartMs + 1 })
    assert.equal(recent, 5)
    assert.equal((await store.reader.growth(sampleStartMs + 6)).recent, 0)
  })

  test(`${what}: old calls that are added later did not come lately`, async () => {
    const { calls: newCalls } = fiveCalls
    const oldCalls = newCalls.map(({ id }) => chatCall(id - firstIdAt(30 * 86_400_000)))
    await using store = await open({ calls: [...newCalls, ...oldCalls] })
    const { calls, recent } = await store.reader.growth(sampleStartMs)
    assert.deepEqual([calls, recent], [10, 5])
  })

  test(`${what}: clients are counted with their keys`, async () => {
    await using store = await open(fiveCalls)
    const { fromMs, clients } = await store.reader.seenClients(sampleStartMs, sampleStartMs + 1000, 60_000)
    assert.equal(fromMs, sampleStartMs)
    const usual = clients.find(({ client }) => client === 'openai-python')
    assert.deepEqual(usual, {
      client: 'openai-python',
      key_fingerprint: 'a1b2c3d4',
      calls: usual?.calls,
      tokens: 1369 * (usual?.calls ?? 0),
      last_at: new Date(sampleStartMs + 5).toISOString(),
    })
    assert.equal(
      clients.reduce((sum, { calls }) => sum + calls, 0),
      5,
    )
    const none = await store.reader.seenClients(sampleStartMs + 6, sampleStartMs + 1000, 60_000)
    assert.deepEqual(none.clients, [])
  })

  test(`${what}: what gateways noted of themselves`, async () => {
    const minuteMs = 60_000
    const first = sampleStartMs / minuteMs
    const noted = { activeMax: 3, queuedMax: 1, atLimitMs: 10, admitted: 5, dropped: 0 }
    const limit = (most: number): string => JSON.stringify({ max_concurrent: most })
    await using store = await open({
      calls: [],
      minutes: [0, 1, 4].map((minute) => Object.assign({ minute: first + minute }, noted)),
      events: [
        { atMs: sampleStartMs, kind: 'start', detail: limit(4) },
        { atMs: sampleStartMs + 90_000, kind: 'config', detail: limit(8) },
        { atMs: sampleStartMs + 95_000, kind: 'stop', detail: null },
      ],
    })
    const { history } = store.reader
    const [both, none, last] = await history.slotUse(
      [0, 2, 4, 5].map((minute) => sampleStartMs + minute * minuteMs),
    )
    assert.deepEqual([both?.minutes, both?.activeMax, both?.atLimitMs], [2, 3, 20])
    assert.deepEqual([both?.firstMinute, both?.lastMinute, both?.isOne], [first, first + 1, true])
    assert.deepEqual([none?.minutes, last?.minutes], [0, 1])
    assert.deepEqual(await history.missingMinutes([first, first + 5]), [[first + 2, first + 4]])
    assert.deepEqual([await history.ranBefore(first), await history.ranBefore(first + 1)], [false, true])
    const [fromMs, toMs] = [sampleStartMs + 60_000, sampleStartMs + 120_000]
    const limits = await history.limits(fromMs, toMs)
    assert.deepEqual(fieldsOf(limits, 'maxConcurrent'), [4, 8])
    const events = await history.events(fromMs, toMs, 1)
    assert.deepEqual(fieldsOf(events, 'kind'), ['stop'])
  })

  test(`${what}: nothing was ever recorded`, async () => {
    await using store = await open({ calls: [] })
    await assertEmpty(store.reader)
  })
}

/** What a reader answers if there is no call, and no gateway ever ran. */
export async function assertEmpty(reader: StoreReader): Promise<void> {
  const edgesMs = [sampleStartMs, sampleStartMs + 1000]
  const { groups, summary } = await reader.aggregate({ filter: {}, edgesMs, dimension: 'model' })
  assert.deepEqual([groups, summary.calls, summary.duration_ms.p50], [[], 0, null])
  assert.deepEqual(await reader.list({}, { limit: 9 }), [])
  assert.deepEqual(await reader.endedSince(0, {}, 9), { calls: [], lastSeq: 0 })
  assert.deepEqual([await reader.call(1), await reader.extent(), await reader.lastSeq()], [null, null, 0])
  assert.deepEqual(await reader.choices(), { models: [], types: [] })
  const { history } = reader
  assert.deepEqual(fieldsOf(await history.slotUse(edgesMs), 'minutes'), [0])
  assert.deepEqual(await history.missingMinutes([0, 9]), [])
  assert.equal(await history.ranBefore(9), false)
  assert.deepEqual([await history.limits(0, 9), await history.events(0, 9, 9)], [[], []])
}
