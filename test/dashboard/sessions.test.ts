import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Sessions } from '../../src/api/sessions.ts'
import { formatCallId } from '../../src/call/call-id.ts'
import type { CallRecord } from '../../src/call/call-record.ts'
import type { CallGroups, CallList } from '../../src/api/calls.ts'
import { chatCall, idAt } from '../store/sample-call.ts'
import { errorOf } from './dashboard-under-test.ts'
import { nowMs, type QueriedDashboard, startQueried } from './query-database.ts'
import { fieldsOf } from '../support/fields-of.ts'

const dayMs = 86_400_000

/** Names as clients could make them up: all go through an address and come back as they are. */
const oddNames: readonly string[] = [
  "'; DROP TABLE calls; --",
  '" OR ""="',
  '%',
  '%25_\\',
  'a b+c&d=e#f?g/h',
  '../../etc/passwd',
  '<script>alert(1)</script>',
  '[REDACTED]',
  '😀 مرحبا \u202e',
  '\u0001\t\u007f',
  'null',
  '__proto__',
  'tag:session',
  '0'.repeat(200),
]
const long = 'a long run'

const calls: readonly CallRecord[] = [
  ...oddNames.map((session, index) => ({ ...chatCall(idAt(index)), session })),
  ...Array.from({ length: 10_000 }, (_, index) => ({
    ...chatCall(idAt(1000 + index)),
    session: long,
    durationMs: 0.5,
  })),
  { ...chatCall(idAt(-8 * dayMs)), session: 'long ago' },
]

const of = (name: string): string => `session=${encodeURIComponent(name)}`

describe('sessions', () => {
  let queried: QueriedDashboard
  before(async () => {
    queried = await startQueried({ calls })
  })
  after(() => queried[Symbol.asyncDispose]())

  test('page after page, each is told once, the newest first', async () => {
    const seen: string[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const { sessions, next_cursor, folded_until }: Sessions = await queried.getJson(
        `/api/sessions?limit=4${cursor === '' ? '' : `&cursor=${cursor}`}`,
      )
      assert.equal(folded_until, null)
      assert.ok(sessions.length <= 4)
      seen.push(...sessions.map(({ session }) => session))
      cursor = next_cursor
    }
    assert.deepEqual(seen, [long, ...oddNames.toReversed(), 'long ago'])
  })

  for (const name of oddNames)
    test(`found by its name: ${JSON.stringify(name).slice(0, 40)}`, async () => {
      const { sessions } = await queried.getJson<Sessions>(`/api/sessions?${of(name)}`)
      assert.deepEqual(fieldsOf(sessions, 'session', 'calls'), [[name, 1]])
      const list = await queried.getJson<CallList>(`/api/query?${of(name)}`)
      assert.deepEqual(fieldsOf(list.calls, 'session'), [name])
      assert.equal(list.summary.calls, 1)
      const searched = await queried.getJson<Sessions>(`/api/sessions?q=${encodeURIComponent(name)}`)
      assert.deepEqual(fieldsOf(searched.sessions, 'session'), [name])
    })

  test('what nobody named is empty, and many names are as good as one', async () => {
    assert.deepEqual(await queried.getJson<Sessions>('/api/sessions?session=nobody'), {
      sessions: [],
      next_cursor: null,
      folded_until: null,
    })
    assert.equal((await queried.getJson<CallList>('/api/query?session=nobody')).count, 0)
    const many = Array.from({ length: 1000 }, (_, index) => `session=${index}`).join('&')
    assert.equal((await queried.getJson<CallList>(`/api/query?${many}&${of('null')}`)).count, 1)
    const { sessions } = await queried.getJson<Sessions>(`/api/sessions?${many}&${of('%')}&${of('null')}`)
    assert.deepEqual(fieldsOf(sessions, 'session'), ['null', '%'])
  })

  test('ten thousand calls of one session are a session, and pages of calls', async () => {
    const { sessions } = await queried.getJson<Sessions>('/api/sessions?limit=1')
    const [session] = sessions
    assert.deepEqual(
      [session?.session, session?.calls, session?.wall_ms, session?.in_calls_ms, session?.between_ms],
      [long, 10_000, 9999.5, 5000, 4999.5],
    )
    const list = await queried.getJson<CallList>(`/api/query?${of(long)}`)
    assert.deepEqual([list.count, list.summary.calls], [1000, 10_000])
    const last = await queried.getJson<CallList>(
      `/api/query?${of(long)}&limit=10&cursor=${formatCallId(idAt(1005))}`,
    )
    assert.deepEqual([last.count, last.next_cursor], [5, null])
  })

  test('a cursor of another question is an instant like any other', async () => {
    const cursor = formatCallId(idAt(3))
    const { sessions } = await queried.getJson<Sessions>(`/api/sessions?cursor=${cursor}&limit=2`)
    assert.deepEqual(fieldsOf(sessions, 'session'), [oddNames[2], oddNames[1]])
    const none = await queried.getJson<Sessions>('/api/sessions?cursor=00000000000')
    assert.deepEqual(none.sessions, [])
  })

  test('sorted by a total there is one page, of the largest or the smallest', async () => {
    const sorted = async (query: string): Promise<Sessions> =>
      queried.getJson<Sessions>(`/api/sessions?limit=2&sort=calls${query}`)
    const { sessions, next_cursor } = await sorted('')
    assert.deepEqual([sessions[0]?.session, next_cursor], [long, null])
    const counts = (await sorted('&rising=true')).sessions.map(({ calls }) => calls)
    assert.deepEqual(counts, [1, 1])
  })

  test('what is asked wrongly is refused in words', async () => {
    for (const [query, param] of [
      ['limit=0', 'limit'],
      ['limit=1001', 'limit'],
      ['cursor=x', 'cursor'],
      ['group_by=model', 'group_by'],
      ['session=', 'session'],
      ['sort=ttft', 'sort'],
      ['sort=cost&cursor=00000000000', 'cursor'],
      ['rising=true&limit=101', 'limit'],
    ]) {
      const answer = await queried.get(`/api/sessions?${query}`)
      assert.deepEqual(
        [answer.status, Object.entries(errorOf(answer)).flat().includes(param)],
        [400, true],
        query,
      )
    }
  })

  test('CSV has a line of names, NDJSON an object a line, and both say where the next page begins', async () => {
    const { sessions, next_cursor } = await queried.getJson<Sessions>('/api/sessions?limit=3')
    const csv = await queried.get('/api/sessions?limit=3&format=csv')
    assert.equal(csv.header('x-tokenweir-next-cursor'), next_cursor)
    const [names = '', first = ''] = csv.body.toString().split('\r\n')
    assert.deepEqual(names.split(',').toSorted(), Object.keys(sessions[0] ?? {}).toSorted())
    assert.match(first, /^a long run,,openai-python,gpt-5.1-mini,2026-11-21T/)
    const ndjson = await queried.get('/api/sessions?limit=3&format=ndjson')
    assert.deepEqual(
      ndjson.body
        .toString()
        .trimEnd()
        .split('\n')
        .map((line): unknown => JSON.parse(line)),
      sessions,
    )
  })

  test('groups by session reach over seven days at most', async () => {
    const from = new Date(nowMs - 7 * dayMs).toISOString()
    const week = await queried.getJson<CallGroups>(`/api/query?group_by=session&from=${from}`)
    assert.equal(week.summary.calls, calls.length - 1)
    assert.deepEqual(week.groups[0], { key: long, ...week.groups[0] })
    for (const key of ['session', 'day,session']) {
      const answer = await queried.get(`/api/query?group_by=${key}`)
      const { code, message } = errorOf(answer)
      assert.deepEqual([answer.status, code], [400, 'too_many_groups'], key)
      assert.match(message, /over seven days at most, as each call is read; ask for a shorter range/)
    }
  })

  test('the database is whole, and nothing went wrong', async () => {
    assert.equal((await queried.getJson<CallList>('/api/query?limit=1')).summary.calls, calls.length)
    assert.deepEqual([queried.faults, queried.dashboard.faults], [[], []])
  })
})
