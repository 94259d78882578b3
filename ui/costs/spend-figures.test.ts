import assert from 'node:assert/strict'
import { test } from 'node:test'
import { costPerThousand } from '../format/cost-per-thousand.ts'
import {
  type SpendAnswer,
  type SpendGroup,
  costPerMillion,
  spendRows,
  tokensOf,
  unpricedOf,
} from './spend-figures.ts'
import { fieldsOf } from '../../test/support/fields-of.ts'

const unknown = { no_usage_calls: 0, cached_share: null, cache_saved_usd: null }

function group(
  key: string | null,
  calls: number,
  usd: number | null,
  unpriced = 0,
  total_tokens = 1000,
): SpendGroup {
  return { key, calls, cost_usd: usd, unpriced_calls: unpriced, total_tokens, ...unknown }
}

function answer(groups: readonly SpendGroup[]): SpendAnswer<SpendGroup> {
  const sum = (of: (one: SpendGroup) => number): number => groups.reduce((all, one) => all + of(one), 0)
  const priced = groups.filter(({ cost_usd: usd }) => usd !== null)
  const summary = {
    calls: sum(({ calls }) => calls),
    cost_usd: priced.length === 0 ? null : sum(({ cost_usd: usd }) => usd ?? 0),
    unpriced_calls: sum(({ unpriced_calls: calls }) => calls),
    ...unknown,
    total_tokens: sum(({ total_tokens: tokens }) => tokens),
  }
  return {
    group_by: 'model',
    groups,
    summary,
    available_models: [],
    available_types: ['chat'],
    recorded_from: null,
  }
}

test('a call costs what the priced ones cost on average; unknown is unknown, and nothing is nothing', () => {
  assert.equal(costPerThousand(group('a', 10, 4, 2)), 500)
  assert.equal(costPerThousand(group('a', 10, null, 10)), null)
  assert.equal(costPerThousand(group('a', 10, 0)), 0)
  assert.equal(costPerThousand({ ...group('a', 10, 4, 2), no_usage_calls: 4 }), 1000)
  assert.deepEqual(costPerMillion(group('a', 10, 4, 2, 2_000_000)), { usd: 2, isLeast: true })
  assert.deepEqual(costPerMillion(group('a', 10, 4, 0, 2_000_000)), { usd: 2, isLeast: false })
  assert.equal(costPerMillion(group('a', 10, 4, 0, 0)), null)
  assert.equal(costPerMillion(group('a', 10, null, 10)), null)
})

test('tokens that nobody reported are unknown, not none', () => {
  assert.equal(tokensOf({ total_tokens: 0, no_usage_calls: 3 }), null)
  assert.equal(tokensOf({ total_tokens: 0, no_usage_calls: 0 }), 0)
  assert.equal(tokensOf({ total_tokens: 7, no_usage_calls: 3 }), 7)
})

test('the dearest first, then what has no price by its calls; shares are of all that was spent', () => {
  const now = answer([
    group('local', 90, null, 90),
    group('free', 5, 0),
    group('dear', 2, 3),
    group('b', 9, 1),
  ])
  const before = answer([group('b', 4, 2)])
  assert.deepEqual(
    spendRows(now, before).map(({ now: { key }, share, before: was }) => [key, share, was?.cost_usd ?? null]),
    [
      ['dear', 0.75, null],
      ['b', 0.25, 2],
      ['free', 0, null],
      ['local', null, null],
    ],
  )
  assert.deepEqual(fieldsOf(spendRows(answer([group('free', 5, 0)]), null), 'share'), [0])
})

test('what part has no price: tokens of models without one, and at least those where one has it in part', () => {
  const bare = group('local', 10, null, 8, 600)
  const whole = group('a', 10, 1, 0, 400)
  const both = answer([bare, whole])
  assert.deepEqual(unpricedOf(both.summary, both.groups), {
    calls: 8,
    callShare: 0.4,
    tokenShare: 0.6,
    isLeast: false,
  })
  const inPart = answer([bare, { ...whole, unpriced_calls: 1 }])
  assert.equal(unpricedOf(inPart.summary, inPart.groups).isLeast, true)
  const none = answer([])
  assert.deepEqual(unpricedOf(none.summary, none.groups), {
    calls: 0,
    callShare: 0,
    tokenShare: null,
    isLeast: false,
  })
})
