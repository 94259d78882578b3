import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ProviderLimit } from '../../src/api/health-report.ts'
import { limitWords, limitedUses, stateOf } from './limits-text.ts'

const nowMs = Date.parse('2026-11-01T12:00:00Z')
const requests: ProviderLimit = {
  upstream: 'default',
  model: 'gpt-4.1',
  key: null,
  kind: 'requests',
  window_s: 60,
  limit: 500,
  remaining: 212,
  reset_at: '2026-11-01T12:00:14Z',
  seen_at: '2026-11-01T12:00:00Z',
}
const wait: ProviderLimit = { ...requests, kind: 'wait', window_s: null, limit: null, remaining: 0 }

test('a limit says what is left of it, and when all of it is left again', () => {
  const words = (change: Partial<ProviderLimit>): string =>
    limitWords({ ...requests, ...change }, nowMs).replaceAll(/\s/g, ' ')
  const changes: readonly Partial<ProviderLimit>[] = [
    {},
    { kind: 'input_tokens', limit: 2_000_000, remaining: 61_000, reset_at: null },
    { window_s: 86_400, remaining: 500 },
    { limit: null, remaining: 3 },
    { remaining: null },
    { reset_at: '2026-11-01T11:59:59Z' },
  ]
  assert.deepEqual(changes.map(words), [
    '212 of 500 requests per minute left, resets in 14 s',
    '61,000 of 2,000,000 input tokens per minute left',
    '500 of 500 requests in 1 d left',
    '3 requests per minute left, resets in 14 s',
    '500 requests per minute, resets in 14 s',
    '212 of 500 requests per minute left',
  ])
})

test('a model is worth a look when a tenth is left or it was refused, and stands first', () => {
  const low = { ...requests, model: 'low', remaining: 49 }
  const refused = { ...wait, model: 'refused' }
  const uses = limitedUses([requests, { ...requests, kind: 'tokens' }, low, refused])
  assert.deepEqual(
    uses.map((use) => [use.model, use.limits.length, stateOf(use, nowMs).words]),
    [
      ['refused', 1, 'Refused'],
      ['low', 1, 'Nearly used up'],
      ['gpt-4.1', 2, 'OK'],
    ],
  )
})
