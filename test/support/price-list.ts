import type { PriceEntry, RateTier } from '../../src/api/costs.ts'
import { type ModelCosts, noPrices } from '../../src/pricing/model-costs.ts'
import { writePriceFile } from '../../src/pricing/price-file.ts'

/** An entry that has cost the same ever since. */
export function entry(provider: string, rates: Omit<RateTier, 'above_input_tokens'>): PriceEntry {
  const tiers = [{ above_input_tokens: 0, ...rates }]
  return { provider, mode: 'chat', source: 'litellm', prices: [{ effective_from: null, tiers }] }
}

/** What somebody says that a model costs. */
export function override(input: number, output: number, effectiveFrom: string | null = null): PriceEntry {
  const tiers = [{ above_input_tokens: 0, input, output }]
  return { source: 'user', prices: [{ effective_from: effectiveFrom, tiers }] }
}

/** Some models of hosts that the program knows. */
export const somePrices: ModelCosts['models'] = {
  'gpt-5.1-mini': entry('openai', { input: 0.25, output: 2, cache_read: 0.025 }),
  'text-embedding-3-small': entry('openai', { input: 0.02, output: 0 }),
  'rerank-v3.5': entry('cohere', { input: 0, output: 0, per_search_unit: 0.002 }),
}

/** Writes a price file of these entries. */
export function writePrices(path: string, parts: Partial<ModelCosts> = { models: somePrices }): void {
  writePriceFile(path, { ...noPrices, models: somePrices, ...parts })
}
