import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { calcPrice, waitForUpdate } from '@pydantic/genai-prices'
import { type GenaiProvider, firstBook, fromGenaiPrices } from '../../build/genai-prices-adapter.ts'
import { costPicoUsd } from '../../src/pricing/cost.ts'
import { PriceBook } from '../../src/pricing/price-book.ts'
import { priceFileText } from '../../src/pricing/price-file.ts'
import { readModelCosts } from '../../src/pricing/read-model-costs.ts'
import { knownUpstreams } from '../../src/pricing/upstream-table.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { asked, usageOf } from './sample-costs.ts'

const version = { version: '0.1.8', at: '2026-09-23T10:11:04Z' }
const providers = (await waitForUpdate()) ?? []
const costs = firstBook(providers, version)
const book = new PriceBook(costs)

test('the first book is sound, and every entry says where it is from', () => {
  const reading = readModelCosts(priceFileText(costs))
  assert.ok('costs' in reading, JSON.stringify(reading))
  assert.deepEqual(reading.costs, costs)
  assert.ok(Object.keys(costs.models).length > 1000)
  for (const { source, updated_at: at } of Object.values(costs.models)) {
    assert.deepEqual([source, at], ['genai-prices 0.1.8', version.at])
  }
})

test('the usual models of the usual hosts have a price', () => {
  const usual: readonly (readonly [string, string])[] = [
    ['api.openai.com', 'gpt-4o-mini'],
    ['api.openai.com', 'gpt-4o-mini-2024-07-18'],
    ['api.openai.com', 'text-embedding-3-small'],
    ['api.anthropic.com', 'claude-sonnet-4-5-20250929'],
    ['generativelanguage.googleapis.com', 'models/gemini-2.5-pro'],
    ['api.groq.com', 'llama-3.3-70b-versatile'],
    ['api.mistral.ai', 'mistral-large-latest'],
    ['api.x.ai', 'grok-4'],
    ['openrouter.ai', 'openai/gpt-4o'],
    ['api.voyageai.com', 'voyage-3.5'],
  ]
  for (const [host, model] of usual) {
    const price = book.price(asked(host, model))
    assert.ok(!('none' in price), `${model} at ${host}: ${JSON.stringify(price)}`)
  }
})

test('no local model gets a hosted one’s price, which a match by parts of names would give it', () => {
  const local = ['deepseek-r1-distill-qwen-7b-q4_k_m.gguf', 'gpt-oss-20b', 'gpt-4o-mini']
  assert.ok(calcPrice({ input_tokens: 1 }, local[0] ?? '') !== null)
  for (const model of local) assert.deepEqual(book.price(asked('127.0.0.1:8080', model)), { none: 'local' })
  assert.deepEqual(book.price(asked('api.deepseek.com', local[0] ?? '')), { none: 'no_entry' })
})

test('what depends on the hour, is free for once, or cannot be counted is left out', () => {
  const { rejected } = fromGenaiPrices(providers, { source: 'x', updatedAt: version.at })
  const reasons = new Map(rejected.map(({ name, reason }) => [name, reason]))
  assert.equal(reasons.get('deepseek/deepseek-chat'), 'not_expressible')
  assert.equal(reasons.get('gpt-image-1'), 'not_expressible')
  assert.equal(reasons.get('azure/mai-ds-r1:free'), 'no_price')
})

test('earlier prices are dated', () => {
  const input = (day: string): number | null | undefined => {
    const price = book.price(asked('api.openai.com', 'o3', { startedAtMs: Date.parse(day) }))
    return 'none' in price ? null : price.tiers[0]?.rates.input
  }
  assert.deepEqual([input('2025-06-09'), input('2025-06-10')], [10_000_000, 2_000_000])
})

test('the build writes it, with the licence of the list', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tokenweir-first-book-'))
  try {
    execFileSync(process.execPath, ['build/first-book.ts', join(folder, 'model_costs.json')])
    assert.deepEqual(readdirSync(folder), ['model_costs.LICENSE', 'model_costs.json'])
    // A file must not hold up whoever compares two of a thousand lines.
    assert.ok(readFileSync(join(folder, 'model_costs.json'), 'utf8') === priceFileText(costs))
    assert.match(readFileSync(join(folder, 'model_costs.LICENSE'), 'utf8'), /MIT License/)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

const provenance = { source: 'genai-prices 9', updatedAt: '2026-09-23T00:00:00Z' }

type Model = GenaiProvider['models'][number]
type Prices = Model['prices']

function read(...models: GenaiProvider['models']): ReturnType<typeof fromGenaiPrices> {
  return fromGenaiPrices([{ id: 'google', models }], provenance)
}

test('a model stands under each name that is spelled out, and that the list takes for it', () => {
  type Match = Model['match']
  const model = (id: string, input_mtok: number, ...or: readonly Match[]): Model => ({
    id,
    match: { or: [...or] },
    prices: { input_mtok, output_mtok: input_mtok + 1 },
  })
  const both: Match = { and: [{ equals: 'and' }, { ends_with: 'd' }] }
  const { models } = read(
    model('a', 1, { equals: 'a' }, { equals: 'A-1' }),
    // The first that fits counts: `a-1` is the one above, `b-x` this one.
    model('b', 3, { equals: 'b' }, { equals: 'a-1' }, { starts_with: 'b-' }, both),
    model('c', 5, { regex: '^c\\d$' }, { contains: 'cc' }, { equals: 'b-x' }),
  )
  const inputs = [...models].map(([key, { prices }]) => `${key} ${prices[0]?.tiers[0]?.input}`)
  assert.deepEqual(inputs, ['gemini/A-1 1', 'gemini/a 1', 'gemini/b 3'])
})

test('tiers that rates begin at different sizes, fees, and dates', () => {
  const tier = (start: number, price: number) => ({ start, price })
  const { models } = read({
    id: 'm',
    match: { equals: 'm' },
    prices: [
      { prices: { input_mtok: 1, output_mtok: 2, requests_kcount: 12 } },
      {
        constraint: { type: 'start_date', start_date: '2026-06-01' },
        prices: {
          input_mtok: { base: 1, tiers: [tier(100, 2), tier(200, 3)] },
          output_mtok: { base: 4, tiers: [tier(200, 8)] },
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
  const models = [{ id: 'm', match, prices: { input_mtok: 1 } }]
  const elsewhere = fromGenaiPrices([{ id: 'aws', models }], provenance)
  assert.deepEqual([elsewhere.models.size, elsewhere.rejected.length], [0, 0])
})

/** What the oracle calls our providers, and a host where each is reached. */
const oracleNames: Readonly<Record<string, string>> = {
  gemini: 'google',
  xai: 'x-ai',
  together_ai: 'together',
  fireworks_ai: 'fireworks',
  moonshot: 'moonshotai',
  voyage: 'voyageai',
}
const places = new Map(
  Object.entries(knownUpstreams).map(([host, { prefix, provider }]) => [
    provider,
    { prefix, host: host.replace('*', 'example') },
  ]),
)

test('5,000 random usages cost what @pydantic/genai-prices says', () => {
  const random = seededRandom(20_261_121)
  const upTo = (most: number): number => Math.floor(random() * (most + 1))
  const entries = Object.entries(costs.models)
  const endless = new Set<string>()
  let [compared, priced, inParts, inTiers] = [0, 0, 0, 0]
  while (compared < 5000) {
    const [key, entry] = entries[upTo(entries.length - 1)]!
    const place = places.get(entry.provider ?? '')
    assert.ok(place, `${key}: ${entry.provider} has no known host`)
    const model = key.slice(place.prefix.length)
    const startedAtMs = Date.UTC(2025, 0, 1) + upTo(1000) * 86_400_000 + upTo(86_399_999)
    const input = upTo([100, 10_000, 600_000][upTo(2)]!)
    const cached = random() < 0.5 ? upTo(input) : 0
    const written = random() < 0.4 ? upTo(input - cached) : 0
    const price = book.price(asked(place.host, model, { startedAtMs }))
    assert.ok(!('none' in price), `${key} is not found under its own name`)
    assert.equal(price.match.key, key)
    const [tier] = price.match.tiers
    const has1h = tier?.cache_write_1h !== undefined
    const written1h = has1h ? upTo(written) : 0
    const output = tier?.output === undefined ? 0 : upTo(20_000)
    const reasoning = tier?.reasoning === undefined ? 0 : upTo(output)
    const audioIn = tier?.input_audio === undefined ? 0 : upTo(input - cached - written)
    const audioOut = tier?.output_audio === undefined ? 0 : upTo(output - reasoning)
    const pico = costPicoUsd(
      usageOf({
        inputTokens: input,
        outputTokens: output,
        cachedInputTokens: cached,
        cacheWriteTokens: written,
        cacheWrite1hTokens: written1h,
        inputAudioTokens: audioIn,
        outputAudioTokens: audioOut,
        reasoningTokens: reasoning,
      }),
      price,
    )
    const oracle = calcPrice(
      {
        input_tokens: input,
        output_tokens: output,
        cache_read_tokens: cached,
        cache_write_tokens: written,
        ...(has1h ? { cache_write_1h_tokens: written1h } : {}),
        ...(audioIn > 0 ? { input_audio_tokens: audioIn, cache_audio_read_tokens: 0 } : {}),
        ...(audioOut > 0 ? { output_audio_tokens: audioOut } : {}),
        ...(reasoning > 0 ? { output_reasoning_tokens: reasoning } : {}),
      },
      model,
      {
        providerId: oracleNames[entry.provider ?? ''] ?? entry.provider ?? '',
        timestamp: new Date(startedAtMs),
      },
    )
    assert.ok(oracle !== null, `${key} is unknown to the oracle`)
    compared += 1
    if (oracle.total_price > 0) priced += 1
    if (cached + written + reasoning + audioIn + audioOut > 0) inParts += 1
    if (price.match.tiers.length > 1 && input > price.match.tiers[1]!.above_input_tokens) inTiers += 1
    const ours = Number(pico) / 1e12
    const off = Math.abs(ours - oracle.total_price)
    if (off <= 1e-9 * oracle.total_price) continue
    // 1/12 dollar per million tokens, which ends nowhere, is rounded to a pico-dollar per token.
    assert.equal(tier?.cache_write, 0.083333, `${key}: ${ours}, and ${oracle.total_price} by the oracle`)
    assert.ok(off <= written * 0.34e-12, `${key} is off by ${off}`)
    endless.add(key)
  }
  assert.ok(priced > 4900, `${priced} of them cost something`)
  assert.ok(inParts > 2500 && inTiers > 30, `${inParts} in parts, ${inTiers} in a larger tier`)
  for (const key of endless) assert.match(key, /^openrouter\/~?google\/gemini-/)
})
