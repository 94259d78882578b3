import { pastSource } from '../demo/past-record.ts'
import { modelPrices } from '../demo/simulated-models.ts'
import { type ModelCosts, noPrices } from '../pricing/model-costs.ts'

/** Prices of the simulated models: overrides, because the upstream is on this machine. */
export const demoCosts: ModelCosts = {
  ...noPrices,
  overrides: Object.fromEntries(
    Object.entries(modelPrices).map(([model, rates]) => [
      model,
      {
        _why: 'made up for the demo',
        source: pastSource,
        updated_at: null,
        prices: [{ effective_from: null, tiers: [{ above_input_tokens: 0, ...rates }] }],
      },
    ]),
  ),
}
