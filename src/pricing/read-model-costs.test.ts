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
  const text = JSON.stringify({
    'gpt-4o': [
      {
        effective_date: '2026-06-01',
        input_cost_per_million: 2,
        output_cost_per_million: 8,
        provider_source: 'new',
      },
      {
        effective_date: null,
        input_cost_per_million: 2.5,
        output_cost_per_million: 10,
        provider_source: 'openai',
      },
    ],
    'qwen3-8b': [{ effective_date: '2026-01-01', input_cost_per_million: 0, output_cost_per_million: 0 }],
  })
  assert.deepEqual(costsIn(text).overrides, {
    'gpt-4o': {
      source: 'new',
      prices: [
        {
          effective_from: null,
          tiers: [{ above_input_tokens: 0, input: 2.5, output: 10 }],
          source: 'openai',
        },
        {
          effective_from: '2026-06-01',
          tiers: [{ above_input_tokens: 0, input: 2, output: 8 }],
          source: 'new',
        },
      ],
    },
    'qwen3-8b': {
      source: 'user',
      prices: [
        {
          effective_from: '2026-01-01',
          tiers: [{ above_input_tokens: 0, input: 0, output: 0 }],
          source: 'user',
        },
      ],
    },
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

/** A file in which one tier is what is given, at line 4 and column 12. */
function withTier(tier: string): string {
  return `{"version": 1,\n "overrides": {"m": {"prices": [\n  {"effective_from": null,\n   "tiers": [${tier}]}]}}}`
}

/** Flaws of a price file, and the line and column at which each is told. */
const wrong: readonly (readonly [string, string, RegExp, number, number])[] = [
  ['another kind of file', '[1]', /^The file must be an object; it is a list\.$/, 1, 1],
  ['no version', '{"models": {}}', /^version: must be 1; it is missing\.$/, 1, 1],
  ['a later version', '{"version": 2}', /^version: must be 1; it is 2\.$/, 1, 13],
  [
    'another currency',
    '{"version": 1,\n"currency": "EUR"}',
    /^currency: must be "USD"; it is "EUR"\.$/,
    2,
    13,
  ],
  [
    'another unit',
    '{"version": 1, "unit": "usd_per_token"}',
    /^unit: must be "usd_per_million_tokens"/,
    1,
    24,
  ],
  [
    'a typo at the top',
    '{"version": 1,\n  "overides": {}}',
    /^overides: is unknown here; known are version/,
    2,
    3,
  ],
  ['models in a list', '{"version": 1, "models": [1]}', /^models: must be an object; it is a list\.$/, 1, 26],
  [
    'an entry that is none',
    '{"version": 1, "models": {"a": 5}}',
    /^models\.a: must be an object; it is 5\.$/,
    1,
    32,
  ],
  [
    'no prices',
    '{"version": 1, "models": {"a": {}}}',
    /^models\.a\.prices: must be a list that is not empty; it is missing/,
    1,
    32,
  ],
  ['an empty list', '{"version": 1, "models": {"a": {"prices": []}}}', /it is an empty list/, 1, 43],
  [
    'a typo in a rate',
    withTier('{"input": 1, "cache_raed": 1}'),
    /^overrides\.m\.prices\[0\]\.tiers\[0\]\.cache_raed: is unknown here; known are .*cache_read/,
    4,
    27,
  ],
  [
    'a negative rate',
    withTier('{"input": -0.5}'),
    /tiers\[0\]\.input: must be a number from 0 to 1,000 \(USD per million tokens\); it is -0\.5\.$/,
    4,
    24,
  ],
  ['a rate out of bounds', withTier('{"input": 1000.1}'), /it is 1000\.1\.$/, 4, 24],
  ['an endless rate', withTier('{"input": 1e999}'), /it is Infinity\.$/, 4, 24],
  ['a word for a rate', withTier('{"input": "free"}'), /it is "free"\.$/, 4, 24],
  ['no rate', withTier('{"input": null}'), /it is null\.$/, 4, 24],
  ['NaN', withTier('{"input": NaN}'), /^It is not JSON: 'N' is out of place\.$/, 4, 24],
  ['a fee out of bounds', withTier('{"per_request": 2000}'), /\(USD each\)/, 4, 30],
  [
    'no price in a tier',
    withTier('{"output": 1}'),
    /has no price: it needs input or per_request or per_search_unit or per_second/,
    4,
    14,
  ],
  [
    'a bound that is none',
    withTier('{"above_input_tokens": 0.5, "input": 1}'),
    /a whole number of tokens/,
    4,
    37,
  ],
  [
    'no smallest tier',
    withTier('{"above_input_tokens": 5, "input": 1}'),
    /must have a tier with above_input_tokens 0/,
    4,
    13,
  ],
  [
    'two tiers at one bound',
    withTier('{"input": 1}, {"input": 2}'),
    /tiers\[1\]: has the same above_input_tokens/,
    4,
    28,
  ],
  ['an odd inclusive', withTier('{"input": 1, "inclusive": 1}'), /must be true or false; it is 1/, 4, 40],
  [
    'a name twice',
    withTier('{"input": 1, "input": 2}'),
    /^The name "input" is twice in one object\.$/,
    4,
    27,
  ],
  [
    'a day that no month has',
    withTier('{"input": 1}').replace('null', '"2026-02-30"'),
    /^overrides\.m\.prices\[0\]\.effective_from: must be a day such as/,
    3,
    22,
  ],
  [
    'two prices from one day',
    withTier('{"input": 1}').replace('}]}}}', '}, {"tiers": [{"input": 2}]}]}}}'),
    /prices\[1\]: begins when another of this list does/,
    4,
    30,
  ],
  [
    'a service tier that nobody has',
    withTier('{"input": 1}').replace(']}]}}}', '], "service_tiers": {"turbo": []}}]}}}'),
    /turbo: is unknown here; known are flex, priority, batch/,
    4,
    47,
  ],
  [
    'an upstream without provider',
    '{"version": 1, "upstreams": {"a.b": {"prefix": ""}}}',
    /^upstreams\["a\.b"\]\.provider: must be a text/,
    1,
    37,
  ],
  [
    'names of one case apart',
    '{"version": 1, "overrides": {"A": {"prices": [{"tiers": [{"input": 1}]}]},\n "a": {"prices": [{"tiers": [{"input": 1}]}]}}}',
    /^overrides\.a: differs from "A" in its case alone/,
    2,
    2,
  ],
  [
    'an older form without output',
    '{"a": [{"effective_date": null, "input_cost_per_million": 1}]}',
    /^a\[0\]\.output_cost_per_million: must be a number from 0 to 1,000/,
    1,
    8,
  ],
  [
    'an older form with a wrong date',
    '{"a": [\n{"effective_date": "May", "input_cost_per_million": 1, "output_cost_per_million": 1}]}',
    /^a\[0\]\.effective_date: must be a day/,
    2,
    20,
  ],
]

for (const [name, text, message, line, column] of wrong) {
  test(`tells of ${name}, with line and column`, () => {
    const reading = readModelCosts(text)
    assert.ok('problem' in reading)
    assert.match(reading.problem.message, message)
    assert.deepEqual([reading.problem.line, reading.problem.column], [line, column])
  })
}

test('a file of any nonsense is told of, never thrown', () => {
  for (const text of [
    '',
    'null',
    '5',
    '"x"',
    '{"version": 1, "models": null}',
    '{"a": [[[]]]}',
    '{"__proto__": []}',
  ]) {
    assert.ok('problem' in readModelCosts(text), text)
  }
})
