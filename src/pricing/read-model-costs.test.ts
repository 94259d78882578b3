import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sampleCosts } from '../../test/pricing/sample-costs.ts'
import { noPrices, type ModelCosts } from './model-costs.ts'
import { priceFileText } from './price-file.ts'
import { readModelCosts } from './read-model-costs.ts'

function costsIn(text: string): ModelCosts {
  const reading = readModelCosts(text)
  assert.ok('costs' in reading, JSON.stringify(reading))
  return reading.costs
}

test('reads what was written', () => {
  assert.deepEqual(costsIn(priceFileText(sampleCosts)), sampleCosts)
  assert.deepEqual(costsIn(priceFileText(noPrices)), noPrices)
  assert.deepEqual(costsIn(`\uFEFF${JSON.stringify(sampleCosts)}`), sampleCosts)
})

test('takes what a person leaves out as said, and decimal strings; keeps remarks, and rounds noise away', () => {
  const text = `{
    "version": 1, "_who": "finance",
    "overrides": {
      "my-model": {"_why": "the contract of May", "prices": [
        {"_": 1, "tiers": [{"_of": "tier", "input": "0.15", "output": 0.7899999999999999}], "effective_from": "2026-05-01"}]}
    }
  }`
  const costs = costsIn(text)
  assert.deepEqual(costs, {
    ...noPrices,
    _who: 'finance',
    overrides: {
      'my-model': {
        _why: 'the contract of May',
        source: 'user',
        prices: [
          {
            _: 1,
            effective_from: '2026-05-01',
            tiers: [{ _of: 'tier', above_input_tokens: 0, input: 0.15, output: 0.79 }],
          },
        ],
      },
    },
  })
  assert.deepEqual(costsIn(priceFileText(costs)), costs)
})

test('reads the older form, whose entries hold wherever a model runs', () => {
  const older = (effective_date: string | null, input: number, output: number, provider_source?: string) => ({
    effective_date,
    input_cost_per_million: input,
    output_cost_per_million: output,
    ...(provider_source !== undefined && { provider_source }),
  })
  const price = (effective_from: string | null, input: number, output: number, source: string) => ({
    effective_from,
    tiers: [{ above_input_tokens: 0, input, output }],
    source,
  })
  const text = JSON.stringify({
    'gpt-4o': [older('2026-06-01', 2, 8, 'new'), older(null, 2.5, 10, 'openai')],
    'qwen3-8b': [older('2026-01-01', 0, 0)],
  })
  assert.deepEqual(costsIn(text).overrides, {
    'gpt-4o': { source: 'new', prices: [price(null, 2.5, 10, 'openai'), price('2026-06-01', 2, 8, 'new')] },
    'qwen3-8b': { source: 'user', prices: [price('2026-01-01', 0, 0, 'user')] },
  })
})

test('reads older entries among today’s; one’s own of that name stays', () => {
  const simple = (input: number): unknown => [{ input_cost_per_million: input, output_cost_per_million: 1 }]
  const entry = { prices: [{ tiers: [{ input: 9 }] }] }
  const { models, overrides } = costsIn(
    JSON.stringify({
      version: 1,
      models: { a: simple(1), B: simple(2), c: { provider: 'openai', ...entry } },
      overrides: { b: entry, d: simple(3) },
    }),
  )
  assert.deepEqual(Object.keys(models), ['c'])
  const inputs = Object.entries(overrides).map(([name, { prices }]) => [name, prices[0]?.tiers[0]?.input])
  assert.deepEqual(inputs, [
    ['b', 9],
    ['d', 3],
    ['a', 1],
  ])
})

/** A file with one tier, and what follows its price. */
const withTier = (tier: string, more = '', from = 'null'): string =>
  `{"version": 1,\n "overrides": {"m": {"prices": [\n  {"effective_from": ${from},\n   "tiers": [${tier}]${more}}]}}}`
const models = (text: string): string => `{"version": 1, "models": ${text}}`
const priced = (input: number): string => `{"prices": [{"tiers": [{"input": ${input}}]}]}`

/** Faults of a price file: ▶ stands where each is reported, with its line and column. */
const wrong: readonly (readonly [text: string, message: RegExp])[] = [
  ['▶[1]', /^The file must be an object; it is a list\.$/],
  ['▶{"models": {}}', /^version must be 1; it is missing\.$/],
  ['{"version": ▶2}', /^version must be 1; it is 2\.$/],
  ['{"version": 1,\n"currency": ▶"EUR"}', /^currency must be "USD"; it is "EUR"\.$/],
  ['{"version": 1, "unit": ▶"usd_per_token"}', /^unit must be "usd_per_million_tokens"/],
  ['{"version": 1,\n  ▶"overides": {}}', /^overides is unknown here; known are version/],
  [models('▶[1]'), /^models must be an object; it is a list\.$/],
  [models('{"a": ▶5}'), /^models\.a must be an object; it is 5\.$/],
  [models('{"a": ▶{}}'), /^models\.a\.prices must be a list that is not empty; it is missing/],
  [models('{"a": {"prices": ▶[]}}'), /it is an empty list/],
  [
    withTier('{"input": 1, ▶"cache_raed": 1}'),
    /^overrides\.m\.prices\[0\]\.tiers\[0\]\.cache_raed is unknown here; known are .*cache_read/,
  ],
  [
    withTier('{"input": ▶-0.5}'),
    /tiers\[0\]\.input must be a number from 0 to 1,000 \(USD per million tokens\); it is -0\.5\.$/,
  ],
  [withTier('{"input": ▶1000.1}'), /it is 1000\.1\.$/],
  [withTier('{"input": ▶1e999}'), /it is Infinity\.$/],
  [withTier('{"input": ▶"free"}'), /it is "free"\.$/],
  [withTier('{"input": ▶null}'), /it is null\.$/],
  [withTier('{"input": ▶NaN}'), /^It is not JSON: 'N' is out of place\.$/],
  [withTier('{"per_request": ▶2000}'), /\(USD each\)/],
  [withTier('▶{"output": 1}'), /no price: it needs input or per_request or per_search_unit or per_second/],
  [withTier('{"above_input_tokens": ▶0.5, "input": 1}'), /a whole number of tokens/],
  [
    withTier('{"above_input_tokens": 5, "input": 1}').replace('[{"above', '▶[{"above'),
    /must have a tier with above_input_tokens 0/,
  ],
  [withTier('{"input": 1}, ▶{"input": 2}'), /tiers\[1\] has the same above_input_tokens/],
  [withTier('{"input": 1, "inclusive": ▶1}'), /must be true or false; it is 1/],
  [withTier('{"input": 1, ▶"input": 2}'), /^The name "input" is twice in one object\.$/],
  [
    withTier('{"input": 1}', '', '▶"2026-02-30"'),
    /^overrides\.m\.prices\[0\]\.effective_from must be a day such as/,
  ],
  [
    withTier('{"input": 1}', '}, ▶{"tiers": [{"input": 2}]'),
    /prices\[1\] begins when another of this list does/,
  ],
  [
    withTier('{"input": 1}', ', "service_tiers": {▶"turbo": []}'),
    /turbo is unknown here; known are flex, priority, batch/,
  ],
  ['{"version": 1, "upstreams": {"a.b": ▶{"prefix": ""}}}', /^upstreams\["a\.b"\]\.provider must be a text/],
  [
    `{"version": 1, "overrides": {"A": ${priced(1)},\n ▶"a": ${priced(1)}}}`,
    /^overrides\.a differs from "A" in its case alone/,
  ],
  [
    '{"a": [▶{"effective_date": null, "input_cost_per_million": 1}]}',
    /^a\[0\]\.output_cost_per_million must be a number from 0 to 1,000/,
  ],
  [
    '{"a": [\n{"effective_date": ▶"May", "input_cost_per_million": 1, "output_cost_per_million": 1}]}',
    /^a\[0\]\.effective_date must be a day/,
  ],
]

for (const [marked, message] of wrong) {
  test(`a file is refused, with line and column: ${marked}`, () => {
    const before = marked.split('▶')[0]!.split('\n')
    const reading = readModelCosts(marked.replace('▶', ''))
    assert.ok('problem' in reading)
    assert.match(reading.problem.message, message)
    assert.deepEqual(
      [reading.problem.line, reading.problem.column],
      [before.length, before.at(-1)!.length + 1],
    )
  })
}

test('a file of any nonsense is refused, and nothing is thrown', () => {
  const texts = [
    '',
    'null',
    '5',
    '"x"',
    '{"version": 1, "models": null}',
    '{"a": [[[]]]}',
    '{"__proto__": []}',
  ]
  for (const text of texts) assert.ok('problem' in readModelCosts(text), text)
})
