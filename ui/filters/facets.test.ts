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
    const url = new URL(facetPath(facet, filtered, ''), 'http://localhost')
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
    new URLSearchParams(facetPath('session', filtered, text).split('?')[1]).get('q')
  assert.deepEqual([question(''), question('night')], [null, 'night'])
})

test('what is chosen comes from the address and goes there; a session gives way to the next', () => {
  assert.deepEqual(
    all.map((facet) => chosenOf(facet, filtered)),
    [['gpt'], ['codex'], ['claude'], ['team:search'], ['nightly'], ['429'], ['client_gone']],
  )
  assert.deepEqual(chosenOf('session', defaultAddress), [])
  assert.deepEqual(changeTo('status', ['429', '500']), { statuses: ['429', '500'] })
  assert.deepEqual(changeTo('session', ['nightly', 'other']), { session: 'other' })
  assert.deepEqual(changeTo('session', []), { session: null })
  assert.deepEqual(facetsOf({ ...defaultAddress, view: 'sessions' }).includes('session'), false)
})

test('values come with most calls first, and none for calls without one', () => {
  const groups = [
    { key: 200, calls: 3 },
    { key: null, calls: 9 },
    { key: 429, calls: 5 },
  ]
  assert.deepEqual(readFacet(JSON.stringify({ groups })), {
    values: [
      { value: '429', calls: 5 },
      { value: '200', calls: 3 },
    ],
    isCut: false,
  })
  const sessions = [
    { session: 'last', calls: 1 },
    { session: 'before', calls: 7 },
  ]
  assert.deepEqual(readFacet(JSON.stringify({ sessions, next_cursor: 'x' })), {
    values: [
      { value: 'last', calls: 1 },
      { value: 'before', calls: 7 },
    ],
    isCut: true,
  })
})

test('a tag is counted in each set that has it, and sets that are not told are said to be more', () => {
  const groups = [
    { key: 'team:search,env:prod', calls: 3 },
    { key: 'env:prod', calls: 2 },
    { key: null, calls: 9 },
    { key: 'other', calls: 4, rest: true },
  ]
  assert.deepEqual(readFacet(JSON.stringify({ group_by: 'tags', groups })), {
    values: [
      { value: 'env:prod', calls: 5 },
      { value: 'team:search', calls: 3 },
    ],
    isCut: true,
  })
})

test('what the address names is listed first where it was not told, and a search looks at codes and words', () => {
  const replies = [
    { value: 'upstream_http', calls: 4 },
    { value: 'client_gone', calls: 2 },
  ]
  const values = (text: string): readonly string[] =>
    listedValues('failure_code', replies, ['draining', 'client_gone'], text).map(({ value }) => value)
  assert.deepEqual(values(''), ['draining', 'upstream_http', 'client_gone'])
  assert.deepEqual(values('LEFT'), ['client_gone'])
  assert.deepEqual(values('_http'), ['upstream_http'])
  const byCall = listedValues('session', [{ value: 'nightly', calls: 2 }], ['other'], '0123456789a')
  assert.deepEqual(byCall, [{ value: 'nightly', words: 'nightly', calls: 2 }])
})
