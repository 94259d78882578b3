import type { Costs, PriceSync } from '../api/costs.ts'

/** The content of `model_costs.json`, which docs/prices.md describes. */
export type ModelCosts = Omit<Costs, 'problem'>

/** The state before the first sync. */
export const neverSynced: PriceSync = {
  state: 'idle',
  started_at: null,
  finished_at: null,
  last_error: null,
  added: 0,
  changed: 0,
  removed: 0,
}

/** The content of a file without prices. */
export const noPrices: ModelCosts = {
  version: 1,
  currency: 'USD',
  unit: 'usd_per_million_tokens',
  synced_at: null,
  source: null,
  sync: neverSynced,
  upstreams: {},
  models: {},
  overrides: {},
}
