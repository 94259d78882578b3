import assert from 'node:assert/strict'
import { test } from 'node:test'
import { calcPrice, waitForUpdate } from '@pydantic/genai-prices'
import { costPicoUsd } from '../../src/pricing/cost.ts'
import { firstBook } from '../../build/genai-prices-adapter.ts'
import { PriceBook } from '../../src/pricing/price-book.ts'
import { knownUpstreams } from '../../src/pricing/upstream-table.ts'
import { seededRandom } from '../support/seeded-random.ts'

const providers = (await waitForUpdate()) ?? []
const costs = firstBook(providers, { version: 'test', at: '2026-09-23T00:00:00Z' })
const book = new PriceBook(costs)

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
    const price = book.price({
      upstream: place.host,
      responseModel: null,
      model,
      serviceTier: null,
      startedAtMs,
    })
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
      {
        inputTokens: input,
        outputTokens: output,
        cachedInputTokens: cached,
        cacheWriteTokens: written,
        cacheWrite1hTokens: written1h,
        inputAudioTokens: audioIn,
        outputAudioTokens: audioOut,
        reasoningTokens: reasoning,
        searchUnits: null,
        audioMs: null,
        imageTokens: null,
      },
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
