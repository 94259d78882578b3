import type { Costs, PriceEntry, PriceSync } from '../api/costs.ts'

/** The source of the synced prices. */
export interface PriceListSource {
  readonly name: string
  readonly url: string | null
  readonly etag?: string | null
  readonly sha256?: string
  readonly licence?: string
  readonly entries?: number
  readonly rejected?: number
}

/** Under which names the entries of a host stand: the key is prefix and model, and the entry names the provider. */
export interface UpstreamPrices {
  readonly prefix: string
  readonly provider: string
}

/** The content of `model_costs.json`; docs/prices.md says what each part means. */
export interface ModelCosts extends Omit<Costs, 'problem' | 'source'> {
  readonly version: 1
  readonly currency: 'USD'
  readonly unit: 'usd_per_million_tokens'
  readonly source: PriceListSource | null
  /** Hosts, as `example.com`, `example.com:8080` or `*.example.com`, beside those that the program knows. */
  readonly upstreams: Readonly<Record<string, UpstreamPrices>>
  readonly models: Readonly<Record<string, PriceEntry>>
  readonly overrides: Readonly<Record<string, PriceEntry>>
}

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

/** A file without a price. */
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
