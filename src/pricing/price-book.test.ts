import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asked, entryOf, rates, sampleCosts, usageOf } from '../../test/pricing/sample-costs.ts'
import { callJson } from '../../test/support/call-json.ts'
import type { ModelCosts } from './model-costs.ts'
import { type AskedPrice, PriceBook } from './price-book.ts'

/** The key that is found, or why none is. */
function priceText(costs: ModelCosts, question: AskedPrice): string {
  const price = new PriceBook(costs).price(question)
  return 'none' in price ? `none: ${price.none}` : price.match.key
}

const zero = {
  source: 'user',
  prices: [{ effective_from: '2026-11-01', tiers: [rates({ input: 0, output: 0 })] }],
}
const own = { source: 'user', prices: [{ effective_from: null, tiers: [rates({ input: 1, output: 1 })] }] }
const costs: ModelCosts = {
  ...sampleCosts,
  upstreams: { 'litellm.lan:4000': { prefix: '', provider: 'openai' } },
  overrides: {
    '127.0.0.1:8080/qwen3-8b-q4.gguf': own,
    'Llama3.1:8b': own,
    'api.openai.com/gpt-4.1': own,
    'xai/Grok-4.3': own,
  },
}

const gemini = 'generativelanguage.googleapis.com'
const cases: readonly (readonly [string, string | null, string | null, string | null, string])[] = [
  ['by name', 'api.openai.com', 'gpt-4o-mini', null, 'gpt-4o-mini'],
  ['with a port', 'api.openai.com:443', 'gpt-4o-mini', null, 'gpt-4o-mini'],
  ['whatever its case', 'api.openai.com', 'GPT-4o-Mini', null, 'gpt-4o-mini'],
  ['by the model that answered', 'api.openai.com', 'my-alias', 'gpt-4o-mini-2024-07-18', 'gpt-4o-mini'],
  ['by the model asked for', 'api.openai.com', 'gpt-4o-mini', 'something-else', 'gpt-4o-mini'],
  ['with the host’s prefix', gemini, 'models/gemini-2.5-pro', null, 'gemini/gemini-2.5-pro'],
  ['never another provider’s', 'api.anthropic.com', 'gpt-4o-mini', null, 'none: no_entry'],
  ['never by a part', 'api.openai.com', 'gpt-4o', null, 'none: no_entry'],
  ['never by a longer name', 'api.openai.com', 'gpt-4o-mini-q4.gguf', null, 'none: no_entry'],
  ['never without the prefix', 'openrouter.ai', 'gpt-4o-mini', null, 'none: no_entry'],
  ['nothing local', '127.0.0.1:8080', 'gpt-4o-mini', null, 'none: local'],
  ['nothing of a host that nobody knows', 'llm.example.org', 'gpt-4o-mini', null, 'none: unknown_upstream'],
  ['nothing without a host', null, 'gpt-4o-mini', null, 'none: unknown_upstream'],
  ['nothing without a model', 'api.openai.com', null, '', 'none: no_model'],
  ['a host that was added, though it is local', 'litellm.lan:4000', 'gpt-4o-mini', null, 'gpt-4o-mini'],
  ['one’s own, at its host', '127.0.0.1:8080', 'qwen3-8b-q4.gguf', null, '127.0.0.1:8080/qwen3-8b-q4.gguf'],
  ['one’s own, elsewhere', '127.0.0.1:8081', 'qwen3-8b-q4.gguf', null, 'none: local'],
  ['one’s own, anywhere', 'llm.example.org', 'llama3.1:8B', null, 'Llama3.1:8b'],
  ['one’s own, before the list’s', 'api.openai.com', 'gpt-4.1', null, 'api.openai.com/gpt-4.1'],
  ['one’s own by its exact name alone', 'api.openai.com', 'gpt-4.1-2025-04-14', null, 'gpt-4.1'],
  ['one’s own by the key of the list', 'api.x.ai', 'grok-4.3', null, 'xai/Grok-4.3'],
  ['no property of an object', 'api.openai.com', '__proto__', null, 'none: no_entry'],
  ['no method of an object', '127.0.0.1', 'constructor', null, 'none: local'],
]

for (const [name, upstream, model, responseModel, expected] of cases) {
  test(`finds ${name}`, () => {
    assert.equal(priceText(costs, asked(upstream, model, { responseModel })), expected)
  })
}

test('the price of the day on which the call began', () => {
  const dated: ModelCosts = {
    ...sampleCosts,
    models: {
      'gpt-5': {
        ...entryOf('openai'),
        updated_at: '2026-11-21T04:00:00Z',
        prices: [
          { effective_from: '2026-06-01', tiers: [rates({ input: 3, output: 3 })] },
          { effective_from: null, tiers: [rates({ input: 1, output: 1 })], source: 'genai-prices 0.1.8' },
          { effective_from: '2026-01-01T12:00:00+02:00', tiers: [rates({ input: 2, output: 2 })] },
        ],
      },
    },
  }
  const book = new PriceBook(dated)
  for (const [at, input, from, source] of [
    ['2020-01-01', 1e6, null, 'genai-prices 0.1.8'],
    ['2026-01-01T09:59:59.999Z', 1e6, null, 'genai-prices 0.1.8'],
    ['2026-01-01T10:00Z', 2e6, '2026-01-01T12:00:00+02:00', 'litellm'],
    ['2026-05-31T23:59:59Z', 2e6, '2026-01-01T12:00:00+02:00', 'litellm'],
    ['2026-06-01', 3e6, '2026-06-01', 'litellm'],
  ] as const) {
    const price = book.price(asked('api.openai.com', 'gpt-5', { startedAtMs: Date.parse(at) }))
    assert.ok(!('none' in price))
    const { effective_from, source: seen } = price.match
    assert.deepEqual([price.tiers[0]?.rates.input, effective_from, seen], [input, from, source])
  }
})

test('before one’s own price begins, the list’s holds', () => {
  const book = new PriceBook({ ...sampleCosts, overrides: { 'gpt-4o-mini': zero, alone: zero } })
  const at = (model: string, day: string): unknown => {
    const price = book.price(asked('api.openai.com', model, { startedAtMs: Date.parse(day) }))
    return 'none' in price ? price.none : price.match.source
  }
  assert.deepEqual(
    [at('gpt-4o-mini', '2026-10-31'), at('gpt-4o-mini', '2026-11-01'), at('alone', '2026-10-31')],
    ['litellm', 'user', 'no_entry'],
  )
})

test('says the cost, the key and the source of a call, or nothing', () => {
  const book = new PriceBook(sampleCosts)
  const usage = usageOf({ inputTokens: 1000, outputTokens: 500 })
  assert.deepEqual(book.costOf({ ...asked('api.openai.com', 'gpt-4o-mini'), ...usage }), {
    costNanoUsd: 450_000,
    cacheSavedNanoUsd: 0,
    source: 'litellm',
    key: 'gpt-4o-mini',
  })
  assert.equal(book.costOf({ ...asked('127.0.0.1', 'gpt-4o-mini'), ...usage }), null)
})

test('splits the cost of a recorded call, unless its price was changed since', () => {
  const book = new PriceBook(sampleCosts)
  const call = callJson({
    upstream: 'api.openai.com',
    model: 'gpt-4o-mini',
    response_model: null,
    input_tokens: 1000,
    output_tokens: 500,
    cost_usd: 0.000_45,
    price_source: 'litellm',
    price_key: 'gpt-4o-mini',
  })
  assert.deepEqual(
    book.partsOf(call)?.map(({ rate, usd }) => [rate, usd]),
    [
      ['input', 0.000_15],
      ['output', 0.000_3],
    ],
  )
  for (const other of [
    { cost_usd: 0.000_46 },
    { price_source: 'upstream', price_key: null },
    { upstream: null },
  ])
    assert.equal(book.partsOf({ ...call, ...other }), null)
})

test('remembers a bounded number of questions, and answers all the same', () => {
  const book = new PriceBook(sampleCosts)
  for (let i = 0; i < 12_000; i += 1) {
    const price = book.price(asked('api.openai.com', i % 2 === 0 ? 'gpt-4o-mini' : `made-up-${i}`))
    assert.equal('none' in price, i % 2 === 1)
  }
})
