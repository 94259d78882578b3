import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { asked, entryOf, rates, sampleCosts, usageOf } from '../../test/pricing/sample-costs.ts'
import { cacheSavedNanoUsd, costNanoUsd, costParts, costPicoUsd, type MeteredUsage } from './cost.ts'
import { type Price, PriceBook } from './price-book.ts'
import { tiersOf } from './price-tiers.ts'
import { draws } from '../../test/support/draws.ts'

const book = new PriceBook(sampleCosts)

function priceOf(upstream: string, model: string, serviceTier: string | null = null): Price {
  const price = book.price(asked(upstream, model, { serviceTier }))
  assert.ok(!('none' in price), `${model} has no price`)
  return price
}

/** One price for requests of any size. */
const at = (tier: Parameters<typeof rates>[0]): Pick<Price, 'tiers'> => ({
  tiers: tiersOf(entryOf('x', rates(tier)).prices[0]!, null),
})

const [openai, anthropic] = ['api.openai.com', 'api.anthropic.com']
const gemini = 'generativelanguage.googleapis.com'
const cached = { inputTokens: 2006, cachedInputTokens: 1920, outputTokens: 300 }
const written = {
  inputTokens: 12_000,
  cachedInputTokens: 8000,
  cacheWriteTokens: 3000,
  cacheWrite1hTokens: 1000,
  outputTokens: 500,
}
const reasoned = { outputTokens: 1499 + 2809, reasoningTokens: 2809 }
const ranked = { inputTokens: null, outputTokens: null, searchUnits: 1 }
const examples: readonly (readonly [string, string, string, Partial<MeteredUsage>, number])[] = [
  ['plain', openai, 'gpt-4o-mini', { inputTokens: 1000, outputTokens: 500 }, 450_000_000],
  ['at the bound', gemini, 'gemini-2.5-pro', { inputTokens: 200_000, outputTokens: 1000 }, 260_000_000_000],
  ['above it', gemini, 'gemini-2.5-pro', { inputTokens: 200_001, outputTokens: 1000 }, 515_002_500_000],
  [
    'above it by what is cached',
    gemini,
    'gemini-2.5-pro',
    { inputTokens: 250_000, cachedInputTokens: 50_000, outputTokens: 2000 },
    542_500_000_000,
  ],
  ['cached', openai, 'gpt-4.1', cached, 3_532_000_000],
  ['written to the cache', anthropic, 'claude-sonnet-4-5', written, 26_400_000_000],
  ['embedded', openai, 'text-embedding-3-small', { inputTokens: 8000 }, 160_000_000],
  [
    'reasoned',
    'api.x.ai',
    'grok-4.3',
    { ...reasoned, inputTokens: 10_120, cachedInputTokens: 128 },
    23_285_600_000,
  ],
  ['ranked', 'api.cohere.com', 'rerank-v3.5', ranked, 2_000_000_000],
]

const partsNano = (usage: MeteredUsage, price: Pick<Price, 'tiers'>): number | undefined =>
  costParts(usage, price)?.reduce((sum, { usd }) => sum + Math.round(usd * 1e9), 0)

for (const [name, upstream, model, usage, pico] of examples) {
  test(`${name}: ${model} costs ${pico / 1e12} USD, to the pico-dollar`, () => {
    const price = priceOf(upstream, model)
    assert.equal(costPicoUsd(usageOf(usage), price), pico)
    assert.equal(costNanoUsd(usageOf(usage), price), pico / 1000)
    assert.equal(partsNano(usageOf(usage), price), pico / 1000)
  })
}

test('a service tier has its own rates, and what it leaves out is billed as its input', () => {
  const usage = usageOf({ inputTokens: 1000, cachedInputTokens: 400, outputTokens: 100 })
  const nano = (tier: string | null): number | null =>
    costNanoUsd(usage, priceOf(openai, 'gpt-4o-mini', tier))
  assert.equal(nano(null), 600 * 150 + 400 * 75 + 100 * 600)
  assert.equal(nano('priority'), 600 * 250 + 400 * 125 + 100 * 1000)
  assert.equal(nano('fast'), nano('priority'))
  assert.equal(nano('batch'), 1000 * 75 + 100 * 300)
  for (const other of ['flex', 'default', 'standard', 'auto', '__proto__'])
    assert.equal(nano(other), nano(null))
})

test('rounds once, halves up', () => {
  const nano = (inputTokens: number, input: number): number | null =>
    costNanoUsd(usageOf({ inputTokens }), at({ input, output: 0 }))
  // 1,499, 1,500 and 1,501 pico-dollars.
  assert.deepEqual([nano(1, 0.001499), nano(1, 0.0015), nano(1, 0.001501), nano(3, 0.0005)], [1, 2, 2, 2])
})

test('each part has its rate, and the parts add up although each is less than a nano-dollar', () => {
  const price = priceOf(anthropic, 'claude-sonnet-4-5')
  assert.deepEqual(costParts(usageOf(written), price), [
    { rate: 'input', count: 1000, usd: 0.003 },
    { rate: 'cache_read', count: 8000, usd: 0.0024 },
    { rate: 'cache_write', count: 2000, usd: 0.0075 },
    { rate: 'cache_write_1h', count: 1000, usd: 0.006 },
    { rate: 'output', count: 500, usd: 0.0075 },
  ])
  const tiny = at({ input: 0.0005, output: 0.0005 })
  assert.deepEqual(costParts(usageOf({ inputTokens: 1, outputTokens: 1 }), tiny), [
    { rate: 'input', count: 1, usd: 1e-9 },
    { rate: 'output', count: 1, usd: 0 },
  ])
  assert.equal(costParts(usageOf({ inputTokens: null }), price), null)
})

test('nothing is guessed: what was not metered, or has no rate, has no cost', () => {
  const nothing = { inputTokens: null, outputTokens: null, searchUnits: null }
  const mini = priceOf(openai, 'gpt-4o-mini')
  const [inputAlone, byRequest, bySecond] = [
    at({ input: 1 }),
    at({ per_request: 0.012 }),
    at({ per_second: 0.0001 }),
  ]
  const cases: readonly (readonly [Partial<MeteredUsage>, Pick<Price, 'tiers'>, number | null])[] = [
    [nothing, mini, null],
    [{ outputTokens: null }, mini, null],
    [{ inputTokens: null, outputTokens: 5 }, mini, null],
    [{ inputTokens: 5 }, priceOf('api.cohere.com', 'rerank-v3.5'), null],
    [{ inputTokens: 5 }, inputAlone, 5_000_000],
    [{ inputTokens: 5, outputTokens: 1 }, inputAlone, null],
    [{ inputTokens: 5, outputTokens: 9 }, byRequest, 12_000_000_000],
    [nothing, byRequest, null],
    [{ ...nothing, audioMs: 27_500 }, bySecond, 2_750_000_000],
    [nothing, bySecond, null],
    [{ inputTokens: 5, imageTokens: 7020 }, mini, null],
    [{ inputTokens: 5, imageTokens: 7020 }, at({ input: 1, output: 2, image: 40 }), 280_805_000_000],
  ]
  for (const [usage, price, pico] of cases)
    assert.equal(costPicoUsd(usageOf(usage), price), pico, JSON.stringify(usage))
})

test('zero is a price', () => {
  const free = at({ input: 0, output: 0 })
  assert.equal(costNanoUsd(usageOf({ inputTokens: 5000, outputTokens: 70 }), free), 0)
  assert.equal(costNanoUsd(usageOf({}), priceOf(openai, 'gpt-4o-mini')), 0)
})

test('stays exact beyond 2^53 pico-dollars, and takes no call for one of over 1,000 dollars', () => {
  const pro = at({ input: 600, output: 600 })
  const usage = usageOf({ inputTokens: 1_000_000_000, outputTokens: 333_333_333 })
  assert.equal(costPicoUsd(usage, pro), 1_333_333_333n * 600_000_000n)
  assert.equal(costNanoUsd(usage, pro), null)
  const odd = at({ input: 600.000001, output: 0 })
  assert.equal(costPicoUsd(usageOf({ inputTokens: 999_999_999 }), odd), 600_000_000_399_999_999n)
  const dearest = at({ input: 1000, output: 1000 })
  assert.equal(costNanoUsd(usageOf({ inputTokens: 1_000_000 }), dearest), 1e12)
  assert.equal(costNanoUsd(usageOf({ inputTokens: 1_000_001 }), dearest), null)
})

test('odd counts never throw, and parts never cost more than if they were their whole', () => {
  const odd = fc.oneof(
    fc.constantFrom(null, NaN, Infinity, -Infinity, -1, 0.5, Number.MAX_VALUE),
    fc.integer({ min: -10, max: 1_000_000 }),
  )
  const names = Object.keys(usageOf({})) as (keyof MeteredUsage)[]
  const counts = Object.fromEntries(names.map((name) => [name, odd])) as Record<
    keyof MeteredUsage,
    typeof odd
  >
  const usage = fc.record({ ...counts, audioMs: fc.constant(null), imageTokens: fc.constant(null) })
  const price = at({
    input: 1,
    output: 2,
    cache_read: 0.1,
    cache_write: 1.25,
    cache_write_1h: 2,
    reasoning: 3,
    input_audio: 4,
    output_audio: 8,
    per_search_unit: 0.001,
  })
  fc.assert(
    fc.property(usage, (one) => {
      const pico = costPicoUsd(one, price)
      if (pico === null) return
      assert.ok(pico >= 0)
      const counts = [one.inputTokens, one.outputTokens, one.searchUnits].map((count) =>
        count !== null && count > 0 ? Math.min(count, Number.MAX_SAFE_INTEGER) : 0,
      )
      const most = counts[0]! * 4e6 + counts[1]! * 8e6 + counts[2]! * 1e9
      assert.ok(Number(pico) <= most * (1 + 1e-12))
      const nano = costNanoUsd(one, price)
      assert.ok(nano === null || Number.isSafeInteger(nano))
    }),
    { numRuns: draws(2000) },
  )
})

const savings: readonly (readonly [string, string, string, Partial<MeteredUsage>, number | null])[] = [
  ['nothing cached', openai, 'gpt-4.1', { inputTokens: 2006, outputTokens: 300 }, 0],
  // 1920 tokens at 2 instead of 0.5 dollars per million.
  ['cached', openai, 'gpt-4.1', cached, 2_880_000],
  // 8000 at 3 instead of 0.3; 2000 written at 3.75 and 1000 at 6.
  ['cached and written', anthropic, 'claude-sonnet-4-5', written, 21_600_000 - 1_500_000 - 3_000_000],
  [
    'written and never read',
    anthropic,
    'claude-sonnet-4-5',
    { inputTokens: 1000, cacheWriteTokens: 1000, outputTokens: 1 },
    -750_000,
  ],
]

for (const [name, upstream, model, usage, nano] of savings) {
  test(`${name}: the cache saved ${nano} nano-dollars`, () => {
    const price = priceOf(upstream, model)
    const cost = costNanoUsd(usageOf(usage), price)
    assert.ok(cost !== null)
    assert.equal(cacheSavedNanoUsd(usageOf(usage), price, cost), nano)
  })
}
