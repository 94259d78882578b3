import assert from 'node:assert/strict'
import { test } from 'node:test'
import { serviceTierOf, tierFor, tiersOf } from './price-tiers.ts'

test('a rate that is left out is the base tier’s, then the rate that stands for it', () => {
  const [base, large] = tiersOf(
    {
      effective_from: null,
      tiers: [
        { above_input_tokens: 100, input: 4, cache_write: 5 },
        { above_input_tokens: 0, input: 2, output: 8, cache_read: 0.5, reasoning: 9 },
      ],
    },
    null,
  )
  assert.deepEqual(base?.rates, {
    input: 2_000_000,
    output: 8_000_000,
    cache_read: 500_000,
    cache_write: 2_000_000,
    cache_write_1h: 2_000_000,
    reasoning: 9_000_000,
    input_audio: 2_000_000,
    output_audio: 8_000_000,
    image: null,
    per_request: 0,
    per_search_unit: 0,
    per_second: 0,
  })
  assert.deepEqual(large?.rates, {
    ...base.rates,
    input: 4_000_000,
    cache_write: 5_000_000,
    cache_write_1h: 5_000_000,
    input_audio: 4_000_000,
  })
})

test('the last tier whose bound is passed bills all; an inclusive one already at its bound', () => {
  const tier = (bound: number, inclusive = false): object => ({
    above_input_tokens: bound,
    inclusive,
    input: bound,
  })
  const bounds = (...tiers: readonly object[]): ((tokens: number) => number | undefined) => {
    const all = tiersOf({ effective_from: null, tiers: tiers as never }, null)
    return (tokens) => tierFor(all, tokens)?.aboveInputTokens
  }
  const plain = bounds(tier(0), tier(32_000), tier(128_000))
  assert.deepEqual([0, 1, 32_000, 32_001, 128_000, 128_001].map(plain), [0, 0, 0, 32_000, 32_000, 128_000])
  const inclusive = bounds(tier(0), tier(128_000, true))
  assert.deepEqual([0, 127_999, 128_000, 128_001].map(inclusive), [0, 0, 128_000, 128_000])
})

test('a service tier takes its input and output from the ordinary one where it has none, no other rate', () => {
  const [tier] = tiersOf(
    {
      effective_from: null,
      tiers: [{ above_input_tokens: 0, input: 1, output: 2, cache_read: 0.1 }],
      service_tiers: { flex: [{ above_input_tokens: 0, input: 0.5 }] },
    },
    'flex',
  )
  assert.equal(tier?.rates.input, 500_000)
  assert.equal(tier?.rates.output, 2_000_000)
  assert.equal(tier?.rates.cache_read, 500_000)
})

test('noise of floats is rounded away', () => {
  const [tier] = tiersOf(
    { effective_from: null, tiers: [{ above_input_tokens: 0, input: 0.7899999999999999 }] },
    null,
  )
  assert.equal(tier?.rates.input, 790_000)
})

test('the words of service tiers', () => {
  const words = ['flex', 'PRIORITY', 'fast', 'batch', 'default', 'toString', '', null]
  assert.equal(words.map(serviceTierOf).join(), 'flex,priority,priority,batch,,,,')
})
