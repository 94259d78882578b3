import assert from 'node:assert/strict'
import { test } from 'node:test'
import { spendCards } from './spend-cards.ts'

test('what is priced, what is not, and what reported no usage are told apart', () => {
  const figures = {
    calls: 50,
    total_tokens: 1000,
    cost_usd: 2,
    unpriced_calls: 5,
    no_usage_calls: 6,
    cached_share: null,
    cache_saved_usd: null,
  }
  const answer = {
    group_by: 'model',
    groups: [{ key: 'a', ...figures }],
    summary: figures,
    available_models: ['a'],
    available_types: ['chat'] as const,
    recorded_from: null,
  }
  const [, , card] = spendCards(answer, null, () => {}, new Set())
  assert.deepEqual([card?.value, card?.note], ['10%', '12% of calls reported no usage'])
  const whole = { ...figures, no_usage_calls: 0, cached_share: null, cache_saved_usd: null }
  assert.equal(spendCards({ ...answer, summary: whole }, null, () => {}, new Set())[2]?.note, undefined)
  assert.equal(card?.tone, 'warn')
  assert.equal(spendCards(answer, null, () => {}, null)[2]?.tone, undefined, 'until prices are known')
  const free = spendCards(answer, null, () => {}, new Set(['a']))[2]
  assert.deepEqual([free?.value, free?.fact, free?.tone], ['0%', '5 calls self-hosted: no cost', undefined])
  // Beside calls that nobody bills, the others are counted alone.
  const groups = [
    { key: 'own', ...figures, cost_usd: null, unpriced_calls: 3, total_tokens: 600 },
    { key: 'b', ...figures, cost_usd: null, unpriced_calls: 2, total_tokens: 400 },
  ]
  const some = spendCards({ ...answer, groups }, null, () => {}, new Set(['own']))
  assert.deepEqual(
    some.slice(0, 3).map(({ fact }) => fact),
    ['+ 2 unpriced calls', '1,000 tokens', '2 calls, 40% of tokens'],
  )
})
