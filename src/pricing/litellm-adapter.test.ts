import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RateTier } from '../api/costs.ts'
import { brokenEntries, litellmList } from '../../test/pricing/litellm-list.ts'
import { fromLiteLlm } from './litellm-adapter.ts'
import type { ListedPrice, PriceList } from './price-list.ts'
import { tiersOf } from './price-tiers.ts'

function listIn(raw: unknown): PriceList {
  const list = fromLiteLlm(raw)
  assert.ok(list !== null)
  return list
}

/** The result of one entry: its price, or why it has none. */
function read(fields: object): ListedPrice | string {
  const { models, rejected } = listIn({ m: { litellm_provider: 'openai', mode: 'chat', ...fields } })
  return models.get('m') ?? rejected[0]?.reason ?? 'nothing'
}

const base = { input_cost_per_token: 1.5e-7, output_cost_per_token: 6e-7 }
const plain = { input: 0.15, output: 0.6 }
const above = (above_input_tokens: number, rates: object): RateTier => ({ above_input_tokens, ...rates })
const chat = (rates: object, ...more: readonly RateTier[]): ListedPrice => ({
  provider: 'openai',
  mode: 'chat',
  tiers: [above(0, rates), ...more],
})

const cases: readonly (readonly [string, object, ListedPrice | string])[] = [
  [
    'rates of tokens, without the noise of floats',
    { ...base, input_cost_per_token: 0.7899999999999999 / 1e6 },
    chat({ ...plain, input: 0.79 }),
  ],
  [
    'a write for an hour, which is no tier',
    { ...base, cache_creation_input_token_cost: 2e-7, cache_creation_input_token_cost_above_1hr: 3e-7 },
    chat({ ...plain, cache_write: 0.2, cache_write_1h: 0.3 }),
  ],
  [
    'tiers by size, one of them of the hour’s write',
    {
      ...base,
      input_cost_per_token_above_128k_tokens: 3e-7,
      cache_creation_input_token_cost_above_1hr_above_200k_tokens: 5e-7,
    },
    chat(plain, above(128_000, { input: 0.3 }), above(200_000, { cache_write_1h: 0.5 })),
  ],
  [
    'xAI’s tiers, which begin at their bound',
    { ...base, litellm_provider: 'xai', input_cost_per_token_above_128k_tokens: 3e-7 },
    { ...chat(plain, above(128_000, { inclusive: true, input: 0.3 })), provider: 'xai' },
  ],
  [
    'service tiers, also by size; one without a base is left out',
    {
      ...base,
      input_cost_per_token_priority: 2.5e-7,
      input_cost_per_token_above_272k_tokens_priority: 5e-7,
      output_cost_per_token_batches: 3e-7,
      cache_read_input_token_cost_above_272k_tokens_flex: 1e-7,
    },
    {
      ...chat(plain),
      service_tiers: {
        priority: [above(0, { input: 0.25 }), above(272_000, { input: 0.5 })],
        batch: [above(0, { output: 0.3 })],
      },
    },
  ],
  [
    'a service tier without rates for long requests, which rise as the ordinary ones do',
    {
      input_cost_per_token: 2.5e-6,
      output_cost_per_token: 1.5e-5,
      cache_read_input_token_cost: 2.5e-7,
      input_cost_per_token_above_272k_tokens: 5e-6,
      output_cost_per_token_above_272k_tokens: 2.25e-5,
      input_cost_per_token_flex: 1.25e-6,
      output_cost_per_token_flex: 7.5e-6,
      cache_read_input_token_cost_flex: 1.25e-7,
      output_cost_per_token_batches: 7.5e-6,
    },
    {
      ...chat({ input: 2.5, output: 15, cache_read: 0.25 }, above(272_000, { input: 5, output: 22.5 })),
      service_tiers: {
        flex: [
          above(0, { input: 1.25, output: 7.5, cache_read: 0.125 }),
          above(272_000, { input: 2.5, output: 11.25 }),
        ],
        batch: [above(0, { output: 7.5 }), above(272_000, { input: 5, output: 11.25 })],
      },
    },
  ],
  [
    'a factor of the fast mode, for all rates of tokens',
    { ...base, cache_read_input_token_cost: 1e-8, provider_specific_entry: { us: 1.1, fast: 2 } },
    {
      ...chat({ ...plain, cache_read: 0.01 }),
      service_tiers: { priority: [above(0, { input: 0.3, output: 1.2, cache_read: 0.02 })] },
    },
  ],
  [
    'ranges, which go before the fields beside them',
    {
      ...base,
      tiered_pricing: [
        { range: [32_000, 128_000], input_cost_per_token: 5e-7, output_cost_per_token: 2e-6 },
        { range: [0, 32_000], input_cost_per_token: 3e-7, output_cost_per_token: 1.5e-6 },
      ],
    },
    chat({ input: 0.3, output: 1.5 }, above(32_000, { input: 0.5, output: 2 })),
  ],
  [
    'a reranker’s query',
    {
      mode: 'rerank',
      litellm_provider: 'cohere',
      input_cost_per_token: 0,
      output_cost_per_token: 0,
      input_cost_per_query: 0.002,
    },
    { ...chat({ input: 0, output: 0, per_search_unit: 0.002 }), provider: 'cohere', mode: 'rerank' },
  ],
  ['a query of a chat, which is not what is metered', { ...base, input_cost_per_query: 0.005 }, chat(plain)],
  [
    'an embedding without output',
    { mode: 'embedding', input_cost_per_token: 2e-8 },
    { ...chat({ input: 0.02, output: 0 }), mode: 'embedding' },
  ],
  [
    'a fee by request alone',
    { input_cost_per_request: 0.01 },
    chat({ per_request: 0.01, input: 0, output: 0 }),
  ],
  [
    'a transcription by its seconds',
    { mode: 'audio_transcription', input_cost_per_second: 1e-4, output_cost_per_second: 0 },
    { ...chat({ per_second: 0.0001, input: 0, output: 0 }), mode: 'audio_transcription' },
  ],
  ['seconds of a computer as no price', { input_cost_per_second: 0.01 }, 'no_price'],
  [
    'DeepSeek’s cache misses as input',
    {
      ...base,
      litellm_provider: 'deepseek',
      cache_creation_input_token_cost: 0,
      cache_read_input_token_cost: 1e-8,
    },
    { ...chat({ ...plain, cache_read: 0.01 }), provider: 'deepseek' },
  ],
  [
    'a provider of several names as one',
    { ...base, litellm_provider: 'cohere_chat' },
    { ...chat(plain), provider: 'cohere' },
  ],
  [
    'zero where it means free',
    { litellm_provider: 'ollama', input_cost_per_token: 0, output_cost_per_token: 0 },
    { ...chat({ input: 0, output: 0 }), provider: 'ollama' },
  ],
  ['zero elsewhere as no price', { input_cost_per_token: 0, output_cost_per_token: 0 }, 'no_price'],
  ['a number out of bounds as a wrong entry', { ...base, cache_read_input_token_cost: 0.135 }, 'bad_number'],
  ['just within bounds', { ...base, output_cost_per_token: 1e-3 }, chat({ ...plain, output: 1000 })],
  ['just out of bounds', { ...base, output_cost_per_token: 1.001e-3 }, 'bad_number'],
  ['a chat without output as no price', { input_cost_per_token: 1e-6 }, 'no_price'],
  ['another mode as not by token', { ...base, mode: 'image_generation' }, 'not_priced_by_token'],
]

for (const [name, fields, expected] of cases) {
  test(`reads ${name}`, () => assert.deepEqual(read(fields), expected))
}

test('takes 3,000 entries with every form of field, and their tiers can be reckoned with', () => {
  const { models, rejected } = listIn(JSON.parse(JSON.stringify(litellmList(3000, 7))))
  assert.deepEqual(rejected, [])
  assert.equal(models.size, 3000)
  assert.ok(!models.has('sample_spec') && !models.has('fallback_generalizations'))
  let rates = 0
  for (const { tiers, service_tiers: service } of models.values()) {
    for (const tier of [null, 'flex', 'priority', 'batch'] as const) {
      const all = tiersOf(
        { effective_from: null, tiers, ...(service ? { service_tiers: service } : {}) },
        tier,
      )
      for (const [name, rate] of all.flatMap((one) => Object.entries(one.rates))) {
        // No list has it.
        if (name === 'image') continue
        assert.ok(Number.isSafeInteger(rate))
        rates += 1
      }
    }
  }
  assert.ok(rates > 3000 * 4 * 10)
})

test('takes not one of 1,000 broken entries, and the good ones beside them', () => {
  const broken = brokenEntries(1000, 3)
  // Also as a list that was never JSON, with Infinity and undefined in it.
  for (const raw of [broken, JSON.parse(JSON.stringify(broken)) as object]) {
    const { models, rejected } = listIn({
      ...raw,
      good: { litellm_provider: 'openai', mode: 'chat', ...base },
    })
    assert.deepEqual([...models.keys()], ['good'])
    assert.equal(rejected.length, 1000)
  }
})

test('anything else is no list', () => {
  for (const raw of [null, [], 'x', 5, undefined]) assert.equal(fromLiteLlm(raw), null)
})

test('names of an object’s own machinery are names', () => {
  const raw: unknown = JSON.parse(
    `{"__proto__": ${JSON.stringify({ litellm_provider: 'toString', mode: 'chat', ...base })}}`,
  )
  const { models } = listIn(raw)
  assert.equal(models.get('__proto__')?.provider, 'toString')
})
