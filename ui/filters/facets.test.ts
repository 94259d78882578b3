import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultAddress } from '../data/page-address.ts'
import {
  type Facet,
  changeTo,
  chosenOf,
  facetPath,
  facetsOf,
  facets,
  listedValues,
  readFacet,
} from './facets.ts'

const all = Object.keys(facets) as Facet[]
const filtered = {
  ...defaultAddress,
  range: { last: null, fromMs: 0, toMs: 60_000 },
  models: ['gpt'],
  callTypes: ['chat'],
  outcomes: ['ok'],
  clients: ['codex'],
  upstreams: ['claude'],
  tags: ['team:search'],
  session: 'nightly',
  statuses: ['429'],
  failureCodes: ['client_gone'],
  q: 'abc',
} as const

test('each facet asks with the range and all filters but its own', () => {
  for (const facet of all) {
    const url = new URL(facetPath(facet, filtered, '', 60_000), 'http://localhost')
    assert.equal(url.searchParams.get('from'), '1970-01-01T00:00:00.000Z')
    assert.equal(url.searchParams.get('to'), '1970-01-01T00:01:00.000Z')
    for (const other of all)
      assert.equal(url.searchParams.has(other), other !== facet, `${other} of ${facet}`)
    if (facet === 'session') assert.equal(url.pathname, '/api/sessions')
    else assert.equal(url.searchParams.get('group_by'), facet === 'tag' ? 'tags' : facet)
  }
})

test('sessions are asked for by part of their name, and the search for a call is left out', () => {
  const question = (text: string): string | null =>
    new URLSearchParams(facetPath('session', filtered, text, 60_000).split('?')[1]).get('q')
  assert.deepEqual([question(''), question('night')], [null, 'night'])
})

test('what is chosen comes from the address and goes there; a session gives way to the next', () => {
  const chosen = 'gpt chat ok codex claude team:search nightly 429 client_gone'
  assert.equal(all.map((facet) => chosenOf(facet, filtered)).join(' '), chosen)
  assert.deepEqual(chosenOf('session', defaultAddress), [])
  assert.deepEqual(changeTo('status', ['429', '500']), { statuses: ['429', '500'] })
  assert.deepEqual(changeTo('session', ['nightly', 'other']), { session: 'other' })
  assert.deepEqual(changeTo('session', []), { session: null })
  assert.deepEqual(facetsOf({ ...defaultAddress, view: 'sessions' }).includes('session'), false)
})

const groups = (calls: Readonly<Record<string, number>>): object[] =>
  Object.entries(calls).map(([key, count]) => ({
    key: /^(null|\d+)$/.test(key) ? JSON.parse(key) : key,
    calls: count,
  }))

/** The values of an answer, with `…` where there are more. */
function facetOf(answer: object): string {
  const { values, isCut } = readFacet(JSON.stringify(answer))
  return [...values.map(({ value, calls }) => `${value} ${calls}`), ...(isCut ? ['…'] : [])].join('; ')
}

test('values come with most calls first, and none for calls without one', () => {
  assert.equal(facetOf({ groups: groups({ 200: 3, null: 9, 429: 5 }) }), '429 5; 200 3')
  const sessions = [
    { session: 'last', calls: 1 },
    { session: 'before', calls: 7 },
  ]
  assert.equal(facetOf({ sessions, next_cursor: 'x' }), 'last 1; before 7; …')
})

test('a tag is counted in each set that has it, and sets that are not told are said to be more', () => {
  const sets = groups({ 'team:search,env:prod': 3, 'env:prod': 2, null: 9 })
  const told = { group_by: 'tags', groups: [...sets, { key: 'other', calls: 4, rest: true }] }
  assert.equal(facetOf(told), 'env:prod 5; team:search 3; …')
})

test('what the address names is listed first where it was not told, and a search looks at codes and words', () => {
  const replies = [
    { value: 'upstream_http', calls: 4 },
    { value: 'client_gone', calls: 2 },
  ]
  const values = (text: string): readonly string[] =>
    listedValues('failure_code', replies, ['draining', 'client_gone'], ['cancelled'], text).map(
      ({ value }) => value,
    )
  assert.deepEqual(values(''), ['draining', 'upstream_http', 'client_gone', 'cancelled'])
  assert.deepEqual(values('LEFT'), ['client_gone'])
  assert.deepEqual(values('_http'), ['upstream_http'])
  const byCall = listedValues('session', [{ value: 'nightly', calls: 2 }], ['other'], [], '0123456789a')
  assert.deepEqual(byCall, [{ value: 'nightly', words: 'nightly', calls: 2 }])
})
