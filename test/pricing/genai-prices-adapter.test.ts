import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fromGenaiPrices, type GenaiProvider } from '../../build/genai-prices-adapter.ts'

const provenance = { source: 'genai-prices 9', updatedAt: '2026-09-23T00:00:00Z' }

function read(...models: GenaiProvider['models']): ReturnType<typeof fromGenaiPrices> {
  return fromGenaiPrices([{ id: 'google', models }], provenance)
}

test('a model stands under each name that is spelled out, and that the list takes for it', () => {
  const { models } = read(
    {
      id: 'a',
      match: { or: [{ equals: 'a' }, { equals: 'A-1' }] },
      prices: { input_mtok: 1, output_mtok: 2 },
    },
    // The first that fits counts: `a-1` is the one above, `b-x` this one.
    {
      id: 'b',
      match: {
        or: [
          { equals: 'b' },
          { equals: 'a-1' },
          { starts_with: 'b-' },
          { and: [{ equals: 'and' }, { ends_with: 'd' }] },
        ],
      },
      prices: { input_mtok: 3, output_mtok: 4 },
    },
    {
      id: 'c',
      match: { or: [{ regex: '^c\\d$' }, { contains: 'cc' }, { equals: 'b-x' }] },
      prices: { input_mtok: 5, output_mtok: 6 },
    },
  )
  const inputs = [...models].map(([key, { prices }]) => [key, prices[0]?.tiers[0]?.input])
  assert.deepEqual(inputs, [
    ['gemini/A-1', 1],
    ['gemini/a', 1],
    ['gemini/b', 3],
  ])
})

test('tiers that rates begin at different sizes, fees, and dates', () => {
  const { models } = read({
    id: 'm',
    match: { equals: 'm' },
    prices: [
      { prices: { input_mtok: 1, output_mtok: 2, requests_kcount: 12 } },
      {
        constraint: { type: 'start_date', start_date: '2026-06-01' },
        prices: {
          input_mtok: {
            base: 1,
            tiers: [
              { start: 100, price: 2 },
              { start: 200, price: 3 },
            ],
          },
          output_mtok: { base: 4, tiers: [{ start: 200, price: 8 }] },
          cache_read_mtok: 0.1,
          web_searches_kcount: 10,
        },
      },
    ],
  })
  assert.deepEqual(models.get('gemini/m'), {
    provider: 'gemini',
    source: 'genai-prices 9',
    updated_at: '2026-09-23T00:00:00Z',
    prices: [
      { effective_from: null, tiers: [{ above_input_tokens: 0, input: 1, output: 2, per_request: 0.012 }] },
      {
        effective_from: '2026-06-01',
        tiers: [
          { above_input_tokens: 0, input: 1, output: 4, cache_read: 0.1 },
          { above_input_tokens: 100, input: 2, output: 4, cache_read: 0.1 },
          { above_input_tokens: 200, input: 3, output: 8, cache_read: 0.1 },
        ],
      },
    ],
  })
})

type Prices = GenaiProvider['models'][number]['prices']

test('what cannot be said in our form is left out, with the reason', () => {
  const match = { equals: 'm' }
  const hourly: Prices = [
    { prices: { input_mtok: 1 } },
    {
      constraint: { type: 'time_of_date', start_time: '00:30:00Z', end_time: '16:30:00Z' },
      prices: { input_mtok: 2 },
    },
  ]
  const cases: readonly (readonly [Prices, string])[] = [
    [hourly, 'not_expressible'],
    [{ input_mtok: 1, output_image_mtok: 30 }, 'not_expressible'],
    [{ input_mtok: 0, output_mtok: 0 }, 'no_price'],
    [{ audio_hours: 3 }, 'no_price'],
    [{ input_mtok: 1001, output_mtok: 1 }, 'bad_number'],
    [{ input_mtok: 1, requests_kcount: -1 }, 'bad_number'],
  ]
  for (const [prices, reason] of cases) {
    const { models, rejected } = read({ id: 'm', match, prices })
    assert.equal(models.size, 0)
    assert.deepEqual(rejected, [{ name: 'gemini/m', reason }])
  }
  const elsewhere = fromGenaiPrices(
    [{ id: 'aws', models: [{ id: 'm', match, prices: { input_mtok: 1 } }] }],
    provenance,
  )
  assert.deepEqual([elsewhere.models.size, elsewhere.rejected.length], [0, 0])
})
