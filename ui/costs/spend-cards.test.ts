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
    groups: [{ key: 'a', ...figures }],
    summary: figures,
    available_models: ['a'],
    available_types: ['chat'] as const,
    recorded_from: null,
  }
  const [, , card] = spendCards(answer, null, () => {}, 0)
  assert.deepEqual([card?.value, card?.note], ['10%', '12% of calls reported no usage'])
  const whole = { ...figures, no_usage_calls: 0, cached_share: null, cache_saved_usd: null }
  assert.equal(spendCards({ ...answer, summary: whole }, null, () => {}, 0)[2]?.note, undefined)
  const free = spendCards(answer, null, () => {}, 5)[2]
  assert.deepEqual([free?.value, free?.fact, free?.tone], ['0%', '5 calls self-hosted: no cost', undefined])
})
