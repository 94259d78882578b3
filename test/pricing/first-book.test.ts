import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { calcPrice, waitForUpdate } from '@pydantic/genai-prices'
import { firstBook } from '../../build/genai-prices-adapter.ts'
import { fromGenaiPrices } from '../../build/genai-prices-adapter.ts'
import { PriceBook } from '../../src/pricing/price-book.ts'
import { priceFileText } from '../../src/pricing/price-file.ts'
import { readModelCosts } from '../../src/pricing/read-model-costs.ts'
import { asked } from './sample-costs.ts'

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
