import type { PriceEntry, RateTier } from '../../src/api/costs.ts'
import type { MeteredUsage } from '../../src/pricing/cost.ts'
import { type ModelCosts, noPrices } from '../../src/pricing/model-costs.ts'
import type { AskedPrice } from '../../src/pricing/price-book.ts'

/** An entry with one price, from the beginning. */
export function entryOf(provider: string, ...tiers: readonly RateTier[]): PriceEntry {
  return {
    provider,
    mode: 'chat',
    source: 'litellm',
    updated_at: '2026-11-21T04:00:00Z',
    prices: [{ effective_from: null, tiers }],
  }
}

/** One tier for requests of any size. */
export function rates(tier: Omit<RateTier, 'above_input_tokens'>): RateTier {
  return { above_input_tokens: 0, ...tier }
}

/** The price file that docs/prices.md reckons with. */
export const sampleCosts: ModelCosts = {
  ...noPrices,
  models: {
    'gpt-4o-mini': {
      ...entryOf('openai'),
      prices: [
        {
          effective_from: null,
          tiers: [rates({ input: 0.15, output: 0.6, cache_read: 0.075 })],
          service_tiers: {
            priority: [rates({ input: 0.25, output: 1, cache_read: 0.125 })],
            batch: [rates({ input: 0.075, output: 0.3 })],
          },
        },
      ],
    },
    'gpt-4.1': entryOf('openai', rates({ input: 2, output: 8, cache_read: 0.5 })),
    'gemini/gemini-2.5-pro': entryOf('gemini', rates({ input: 1.25, output: 10, cache_read: 0.125 }), {
      above_input_tokens: 200_000,
      input: 2.5,
      output: 15,
      cache_read: 0.25,
    }),
    'claude-sonnet-4-5': entryOf(
      'anthropic',
      rates({ input: 3, output: 15, cache_read: 0.3, cache_write: 3.75, cache_write_1h: 6 }),
    ),
    'text-embedding-3-small': entryOf('openai', rates({ input: 0.02, output: 0 })),
    'rerank-v3.5': entryOf('cohere', rates({ input: 0, output: 0, per_search_unit: 0.002 })),
    'xai/grok-4.3': entryOf('xai', rates({ input: 1.25, output: 2.5, cache_read: 0.2 })),
  },
  overrides: {},
}

/** A usage in which what is not named is what a reader of usage objects says of what is missing. */
export function usageOf(parts: Partial<MeteredUsage>): MeteredUsage {
  return {
    inputTokens: 0,
    outputTokens: 0,
    cachedInputTokens: 0,
    cacheWriteTokens: 0,
    cacheWrite1hTokens: 0,
    inputAudioTokens: null,
    outputAudioTokens: null,
    reasoningTokens: 0,
    searchUnits: null,
    audioMs: null,
    imageTokens: null,
    ...parts,
  }
}

/** A question of a call of today. */
export function asked(
  upstream: string | null,
  model: string | null,
  more: Partial<AskedPrice> = {},
): AskedPrice {
  return {
    upstream,
    model,
    responseModel: null,
    serviceTier: null,
    startedAtMs: Date.UTC(2026, 10, 21),
    ...more,
  }
}
