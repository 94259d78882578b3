import { pastSource } from '../demo/demo-past.ts'
import { modelPrices, type SimulatedPrices } from '../demo/simulated-models.ts'
import { type ModelCosts, noPrices } from '../pricing/model-costs.ts'

/** Prices of made-up models: overrides, because the upstream is on this machine. */
export function costsOf(prices: Readonly<Record<string, SimulatedPrices>>, source: string): ModelCosts {
  return {
    ...noPrices,
    overrides: Object.fromEntries(
      Object.entries(prices).map(([model, rates]) => [
        model,
        {
          _why: 'made up for the demo',
          source,
          updated_at: null,
          prices: [{ effective_from: null, tiers: [{ above_input_tokens: 0, ...rates }] }],
        },
      ]),
    ),
  }
}

export const demoCosts: ModelCosts = costsOf(modelPrices, pastSource)
