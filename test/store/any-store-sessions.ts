/** What any store must answer about sessions. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CallFilter } from '../../src/call/call-filter.ts'
import type { CallDimension } from '../../src/call/call-question.ts'
import type { SessionPage, SessionSort } from '../../src/call/call-session.ts'
import { formatCallId } from '../../src/call/call-id.ts'
import { bareCall, chatCall, idAt, sampleStartMs } from './sample-call.ts'
import type { OpenStore, StoreContent } from './store-content.ts'
import { fieldsOf } from '../support/fields-of.ts'

const run = 'run 1’; DROP TABLE calls --'
/** Calls of three sessions, and one of none. */
const sessionCalls: StoreContent = {
  calls: [
    { ...chatCall(idAt(0)), session: run, sessionSource: 'session_id', durationMs: 10, toolCalls: 2 },
    { ...chatCall(idAt(5)), session: run, durationMs: 2, client: 'pi', model: 'b', costNanoUsd: null },
    { ...chatCall(idAt(6)), session: null },
    { ...bareCall(idAt(20)), session: run, durationMs: 4.5, outcome: 'refused', client: null },
    { ...chatCall(idAt(7)), session: 'run 2', model: 'c', toolCalls: null },
    { ...bareCall(idAt(30)), session: 'Täst/%_?&', model: null, outcome: 'ok' },
  ],
}

const sessionFilters: readonly [
  filter: CallFilter,
  search: string | undefined,
  expected: readonly string[],
][] = [
  [{}, undefined, ['Täst/%_?&', run, 'run 2']],
  [{ fromMs: sampleStartMs + 20 }, undefined, ['Täst/%_?&', run]],
  [{ toMs: sampleStartMs + 8 }, undefined, ['run 2', run]],
  [{ toMs: sampleStartMs }, undefined, []],
  [{ model: ['b'] }, undefined, [run]],
  [{ model: ['c', 'b'] }, undefined, ['run 2', run]],
  [{ client: ['pi'], model: ['c'] }, undefined, []],
  [{ failedOnly: true }, undefined, [run]],
  [{ session: ['run 2', 'none'] }, undefined, ['run 2']],
  [{ session: [run, 'run 2'], model: ['b'] }, undefined, [run]],
  [{ session: ['none'] }, undefined, []],
  [{}, 'RUN', [run, 'run 2']],
  [{}, 'run 2', ['run 2']],
  [{}, '%_', ['Täst/%_?&']],
  [{}, '%', ['Täst/%_?&']],
  [{ session: [run] }, 'run 2', []],
  [{ model: ['b'] }, 'run', [run]],
  [{}, formatCallId(idAt(5)), [run]],
  [{}, formatCallId(idAt(6)), []],
  [{}, 'nothing of the kind', []],
]

export function testSessions(what: string, open: OpenStore): void {
  for (const [filter, search, expected] of sessionFilters)
    test(`${what}: sessions, page after page: ${JSON.stringify([filter, search])}`, async () => {
      await using store = await open(sessionCalls)
      const found: string[] = []
      let beforeId: number | undefined
      do {
        const page = {
          limit: 1,
          ...(beforeId !== undefined && { beforeId }),
          ...(search !== undefined && { search }),
        }
        const { sessions, nextBeforeId } = await store.reader.sessions(filter, page)
        found.push(...sessions.map(({ session }) => session))
        beforeId = nextBeforeId ?? undefined
      } while (beforeId !== undefined)
      assert.deepEqual(found, expected)
      const whole = await store.reader.sessions(filter, {
        limit: 100,
        ...(search !== undefined && { search }),
      })
      assert.deepEqual(fieldsOf(whole.sessions, 'session'), expected)
      assert.equal(whole.nextBeforeId, null)
    })

  test(`${what}: sessions are sorted by what each comes to as a whole, what is not known last`, async () => {
    await using store = await open(sessionCalls)
    const odd = 'Täst/%_?&'
    const sorted = async (page: Partial<SessionPage>, filter: CallFilter = {}): Promise<unknown[]> => {
      const { sessions, nextBeforeId } = await store.reader.sessions(filter, { limit: 9, ...page })
      assert.equal(nextBeforeId, null)
      return sessions.map(({ session }) => session)
    }
    const orders: readonly [sort: SessionSort, falling: readonly string[], rising: readonly string[]][] = [
      ['last_at', [odd, run, 'run 2'], ['run 2', run, odd]],
      ['calls', [run, odd, 'run 2'], [odd, 'run 2', run]],
      ['tokens', [run, 'run 2', odd], ['run 2', run, odd]],
      ['cost', [run, 'run 2', odd], [run, 'run 2', odd]],
      ['duration', ['run 2', run, odd], [odd, run, 'run 2']],
    ]
    for (const [sort, falling, rising] of orders) {
      assert.deepEqual(await sorted({ sort }), falling, sort)
      assert.deepEqual(await sorted({ sort, rising: true }), rising, `${sort}, rising`)
    }
    // Of one call of a session that was asked for, all of the session counts.
    assert.deepEqual(await sorted({ sort: 'calls', limit: 1 }, { model: ['b', 'c'] }), [run])
    assert.deepEqual(await sorted({ sort: 'tokens' }, { failedOnly: true }), [run])
    assert.deepEqual(await sorted({ sort: 'calls', rising: true }, { session: ['run 2', run] }), [
      'run 2',
      run,
    ])
    assert.deepEqual(await sorted({ sort: 'calls', search: 'RUN' }), [run, 'run 2'])
    assert.deepEqual(await sorted({ sort: 'cost' }, { fromMs: sampleStartMs + 30 }), [odd])
    assert.deepEqual(await sorted({ sort: 'cost' }, { toMs: sampleStartMs }), [])
  })

  test(`${what}: a session is told as a whole, whichever of its calls was asked for`, async () => {
    await using store = await open(sessionCalls)
    const { sessions } = await store.reader.sessions({ model: ['b'] }, { limit: 1 })
    assert.deepEqual(sessions, [
      {
        session: run,
        session_source: 'session_id',
        client: 'pi',
        models: ['gpt-5.1-mini', 'b'],
        first_at: new Date(sampleStartMs).toISOString(),
        last_at: new Date(sampleStartMs + 20).toISOString(),
        calls: 3,
        errors: 1,
        input_tokens: 2408,
        output_tokens: 330,
        cached_input_tokens: 2048,
        cached_share: 2048 / 2408,
        reasoning_tokens: 0,
        tool_calls: 2,
        cost_usd: 0.0004125,
        unpriced_calls: 1,
        cache_saved_usd: null,
        wall_ms: 24.5,
        in_calls_ms: 14.5,
        between_ms: 10,
      },
    ])
    const [other] = (await store.reader.sessions({ session: ['Täst/%_?&'] }, { limit: 1 })).sessions
    assert.deepEqual([other?.cost_usd, other?.cached_share, other?.models], [null, null, []])
  })

  test(`${what}: sessions and values of a tag beyond the top are put together; calls without one stay apart`, async () => {
    await using store = await open({
      calls: [
        ['a', 'env:x'],
        ['b', 'env:x,who:me'],
        ['b', null],
        ['c', 'env:y'],
        [null, 'who:me,env:z'],
      ].map(([session = null, tags = null], index) =>
        Object.assign(chatCall(idAt(index)), { session, tags }),
      ),
    })
    const edgesMs = [sampleStartMs, sampleStartMs + 2, sampleStartMs + 9]
    const told = async (dimension: CallDimension, filter: CallFilter = {}): Promise<unknown[]> => {
      const { groups, summary } = await store.reader.aggregate({ filter, edgesMs, dimension, top: 1 })
      const calls = groups.reduce((sum, { figures }) => sum + figures.calls, 0)
      assert.equal(calls, summary.calls)
      return groups.map(({ bucket, value: entry, isRest, figures }) => [bucket, entry, isRest, figures.calls])
    }
    assert.deepEqual(await told('session'), [
      [0, 'b', false, 1],
      [0, null, true, 1],
      [1, 'b', false, 1],
      [1, null, false, 1],
      [1, null, true, 1],
    ])
    assert.deepEqual(await told('tag:env'), [
      [0, 'x', false, 2],
      [1, null, false, 1],
      [1, null, true, 2],
    ])
    assert.deepEqual(await told('tag:who', { tag: ['env:x', 'env:z', 'who:me'] }), [
      [0, 'me', false, 1],
      [1, 'me', false, 1],
    ])
    assert.deepEqual(await told('tags'), [
      [0, 'env:x', false, 1],
      [0, null, true, 1],
      [1, null, false, 1],
      [1, null, true, 2],
    ])
    assert.deepEqual(await told('tag:none'), [
      [0, null, false, 2],
      [1, null, false, 3],
    ])
  })
}
