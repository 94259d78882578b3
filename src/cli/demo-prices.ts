import { pastSource } from '../demo/past-record.ts'
import { modelPrices } from '../demo/simulated-models.ts'
import { type ModelCosts, noPrices } from '../pricing/model-costs.ts'

/** What the simulated models cost: as one's own prices, since the upstream is on this machine. */
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
