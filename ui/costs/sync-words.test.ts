import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Costs } from '../../src/api/costs.ts'
import { Times } from '../format/times.ts'
import { bookWords, problemWords, syncFailure, syncWords } from './sync-words.ts'

const times = new Times(true)
const nowMs = Date.parse('2026-11-21T12:00:00Z')
const entry = { source: 'litellm', prices: [] }
const shipped: Costs = {
  synced_at: null,
  source: { name: 'genai-prices 0.1.8', url: null },
  sync: {
    state: 'idle',
    started_at: null,
    finished_at: null,
    last_error: null,
    added: 0,
    changed: 0,
    removed: 0,
  },
  problem: null,
  models: { a: entry, b: entry },
  overrides: {},
}
const synced: Costs = {
  ...shipped,
  synced_at: '2026-11-21T09:00:00Z',
  source: { name: 'litellm', url: 'https://example.com/prices.json', entries: 2, rejected: 576 },
  sync: { ...shipped.sync, finished_at: '2026-11-21T09:00:02Z', added: 3, changed: 1 },
  overrides: { mine: entry },
}

test('beside the title: how many prices, from where, how old', () => {
  assert.equal(bookWords(shipped, nowMs), '2 prices · as shipped, never synced')
  assert.equal(bookWords(synced, nowMs), '2 prices · 1 of your own · LiteLLM, synced 3\u202fh ago')
  assert.equal(bookWords({ ...shipped, models: {} }, nowMs), 'no price list · never synced')
})

test('what the last sync changed', () => {
  assert.equal(syncWords(shipped, times), null)
  assert.equal(
    syncWords(synced, times),
    'Last sync 21 Nov, 09:00 UTC from example.com: 3 added, 1 changed. 576 entries of the list have no price for tokens, or none to be believed.',
  )
  const same = { ...synced, source: null, sync: { ...synced.sync, added: 0, changed: 0 } }
  assert.equal(syncWords(same, times), 'Last sync 21 Nov, 09:00 UTC: nothing had changed.')
})

test('a sync that came to nothing says why, and what goes on being in force', () => {
  const failed = (costs: Costs): Costs => ({
    ...costs,
    sync: { ...costs.sync, last_error: 'It answered 404' },
  })
  assert.equal(
    syncFailure(failed(synced), times),
    'The last sync came to nothing: It answered 404. Still in force: the prices of 21 Nov, 09:00 UTC.',
  )
  assert.equal(
    syncFailure(failed(shipped), times),
    'The last sync came to nothing: It answered 404. Still in force: the prices there were.',
  )
  assert.equal(syncWords(failed(synced), times), null)
  assert.equal(syncFailure(synced, times), null)
})

test('a broken price file is told with its line and column', () => {
  assert.equal(problemWords(synced), null)
  assert.equal(
    problemWords({ ...synced, problem: { message: 'input must be a number', line: 12, column: 7 } }),
    'input must be a number. Line 12, column 7. The last good one is in force until it is mended.',
  )
})
