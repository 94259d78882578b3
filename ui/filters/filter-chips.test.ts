import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type PageAddress, defaultAddress } from '../data/page-address.ts'
import { filterChips } from './filter-chips.ts'

const chipsOf = (address: Partial<PageAddress>): ReturnType<typeof filterChips> =>
  filterChips({ ...defaultAddress, ...address })

test('a bare address has no chips, nor have filters with a control of their own', () => {
  assert.deepEqual(chipsOf({}), [])
  assert.deepEqual(chipsOf({ models: ['a'], callTypes: ['chat'], outcomes: ['ok'], errorsOnly: true }), [])
})

test('everything else that filters is told, and each can be taken away alone', () => {
  const chips = chipsOf({
    range: { last: null, fromMs: 1, toMs: 2 },
    clients: ['a', 'b'],
    session: 'nightly',
    source: 'litellm',
    tags: ['env:prod', 'team:x'],
    statuses: ['429'],
    failureCodes: ['client_gone'],
    minMs: 500,
    maxMs: 2000,
    q: '0123456789a',
    ignored: ['foo'],
  })
  const narrow = ' '
  assert.deepEqual(
    chips.map(({ name, words, without }) => [name, words, without]),
    [
      ['Client', 'a', { clients: ['b'] }],
      ['Client', 'b', { clients: ['a'] }],
      ['Tag', 'env:prod', { tags: ['team:x'] }],
      ['Tag', 'team:x', { tags: ['env:prod'] }],
      ['Session', 'nightly', { session: null }],
      ['Status', '429', { statuses: [] }],
      ['Failure', 'Client left', { failureCodes: [] }],
      ['Imported from', 'litellm', { source: null }],
      ['Duration', `500${narrow}ms to 2${narrow}s`, { minMs: null, maxMs: null }],
      ['ID or code', '0123456789a', { q: '' }],
      ['Ignored', 'foo', {}],
    ],
  )
})

test('bounds of the duration read as one', () => {
  const narrow = ' '
  assert.equal(chipsOf({ minMs: 500 })[0]?.words, `from 500${narrow}ms`)
  assert.equal(chipsOf({ maxMs: 500 })[0]?.words, `up to 500${narrow}ms`)
})

test('a view that does not filter by something says so', () => {
  const chipWords = (address: Partial<PageAddress>): readonly string[] =>
    chipsOf(address).map(({ name, words }) => `${name}: ${words}`)
  const range = { last: null, fromMs: 1, toMs: 2 } as const
  assert.deepEqual(chipWords({ view: 'live', models: ['a'], errorsOnly: true, range }), [])
  const live = chipWords({ view: 'live', clients: ['a'], callTypes: ['chat'], q: 'b' })
  assert.deepEqual(live, ['Not applied: Type: Chat', 'Not applied: Client: a', 'Not applied: ID or code: b'])
  const sessions = chipWords({ view: 'sessions', clients: ['a'], q: 'b' })
  assert.deepEqual(sessions, ['Client: a', 'Not applied: ID or code: b'])
})

test('the session that the Sessions view shows is no filter of it', () => {
  assert.deepEqual(chipsOf({ view: 'sessions', session: 'nightly' }), [])
})

test('an opened session is shown as a whole, and names the filters that it has not', () => {
  const chips = chipsOf({
    view: 'sessions',
    session: 'nightly',
    models: ['a'],
    errorsOnly: true,
    clients: ['b'],
  })
  assert.deepEqual(
    chips.map(({ name, words }) => `${name}: ${words}`),
    ['Not applied: Model: a', 'Not applied: Client: b', 'Not applied: Outcome: errors only'],
  )
})
