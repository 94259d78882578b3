import * as v from 'valibot'
import { ServedModel } from '../call/figures.ts'
import type { Infer } from '../call/infer.ts'
import { NoStore } from './calls.ts'

/**
 * Prices in USD per million tokens. Rates that begin with `per_` are USD per unit. Another rate replaces a
 * missing one (docs/prices.md).
 */
export const Rates = v.object({
  input: v.exactOptional(v.number()),
  output: v.exactOptional(v.number()),
  cache_read: v.exactOptional(v.number()),
  cache_write: v.exactOptional(v.number()),
  cache_write_1h: v.exactOptional(v.number()),
  reasoning: v.exactOptional(v.number()),
  input_audio: v.exactOptional(v.number()),
  output_audio: v.exactOptional(v.number()),
  image: v.exactOptional(v.number()),
  per_request: v.exactOptional(v.number()),
  per_search_unit: v.exactOptional(v.number()),
  per_second: v.exactOptional(v.number()),
})

export type Rates = Infer<typeof Rates>

/** The part of a call's cost that one rate bills. The input rate bills only tokens that no other rate bills. */
export const CostPart = v.object({
  rate: v.picklist(Object.keys(Rates.entries) as (keyof Rates)[]),
  /** Tokens, requests, search units, or milliseconds of audio. */
  count: v.number(),
  usd: v.number(),
})

export type CostPart = Infer<typeof CostPart>

/** Rates of whole requests with more input tokens than `above_input_tokens`, or, if `inclusive`, at least as many. */
export const RateTier = v.object({
  ...Rates.entries,
  above_input_tokens: v.number(),
  inclusive: v.exactOptional(v.boolean()),
})

export type RateTier = Infer<typeof RateTier>

/** A price from `effective_from` on; null means from the beginning. */
export const PricePeriod = v.object({
  effective_from: v.nullable(v.string()),
  tiers: v.array(RateTier),
  service_tiers: v.exactOptional(v.record(v.string(), v.array(RateTier))),
  /** The period's own list, if it differs from the entry's: earlier prices may come from another list. */
  source: v.exactOptional(v.string()),
})

export type PricePeriod = Infer<typeof PricePeriod>

/** An entry of the price file. */
export const PriceEntry = v.object({
  provider: v.exactOptional(v.string()),
  mode: v.exactOptional(v.string()),
  /** `user`, `litellm`, `genai-prices 0.1.8`, … */
  source: v.string(),
  updated_at: v.exactOptional(v.nullable(v.string())),
  /** When the source dropped the model. The last price stays in force. */
  removed_at: v.exactOptional(v.string()),
  prices: v.array(PricePeriod),
})

export type PriceEntry = Infer<typeof PriceEntry>

/** Result of the last sync, or progress of the running one. */
export const PriceSync = v.object({
  state: v.picklist(['idle', 'running']),
  started_at: v.nullable(v.string()),
  finished_at: v.nullable(v.string()),
  /** Why the sync failed, as a sentence; null if it succeeded. */
  last_error: v.nullable(v.string()),
  added: v.number(),
  changed: v.number(),
  removed: v.number(),
})

export type PriceSync = Infer<typeof PriceSync>

/** Why the prices in force are not those of the file on disk. */
export const PriceProblem = v.object({
  message: v.string(),
  line: v.nullable(v.number()),
  column: v.nullable(v.number()),
})

export type PriceProblem = Infer<typeof PriceProblem>

/** The source of the synced prices. */
export const PriceListSource = v.object({
  name: v.string(),
  url: v.nullable(v.string()),
  etag: v.exactOptional(v.nullable(v.string())),
  sha256: v.exactOptional(v.string()),
  licence: v.exactOptional(v.string()),
  entries: v.exactOptional(v.number()),
  rejected: v.exactOptional(v.number()),
})

export type PriceListSource = Infer<typeof PriceListSource>

/** How a host's models are named: the key of an entry is `prefix` and model, and the entry names `provider`. */
export const UpstreamPrices = v.object({ prefix: v.string(), provider: v.string() })

export type UpstreamPrices = Infer<typeof UpstreamPrices>

/** The prices in force: content and problem of the price file. */
export const Costs = v.object({
  version: v.literal(1),
  currency: v.literal('USD'),
  unit: v.literal('usd_per_million_tokens'),
  synced_at: v.nullable(v.string()),
  /** Null before the first sync. */
  source: v.nullable(PriceListSource),
  sync: PriceSync,
  /** Hosts in addition to the built-in ones: `example.com`, `example.com:8080`, `*.example.com`. */
  upstreams: v.record(v.string(), UpstreamPrices),
  models: v.record(v.string(), PriceEntry),
  overrides: v.record(v.string(), PriceEntry),
  /** Null if the file on disk is in force, or if the shipped prices are because there is no file. */
  problem: v.nullable(PriceProblem),
})

export type Costs = Infer<typeof Costs>

/** Why a model has no price. */
export const WhyUnpriced = v.picklist(['local', 'no_entry', 'unknown_upstream', 'no_model'])

export type WhyUnpriced = Infer<typeof WhyUnpriced>

/** A model's prices in force now. */
export const MatchedPrice = v.union([
  v.object({
    key: v.string(),
    source: v.string(),
    ...v.omit(PricePeriod, ['source']).entries,
    updated_at: v.nullable(v.string()),
  }),
  v.object({ none: WhyUnpriced }),
])

export type MatchedPrice = Infer<typeof MatchedPrice>

/** Calls of one upstream and model, and their price now. */
export const CostMatch = v.object({
  ...ServedModel.entries,
  price: MatchedPrice,
})

export type CostMatch = Infer<typeof CostMatch>

/** The body of `GET /api/costs/matches`, most calls first. */
export const CostMatches = v.object({
  ...NoStore.entries,
  from: v.string(),
  to: v.string(),
  /** Start of the counted calls; null if all calls are counted. Earlier calls were folded, or are too many. */
  counted_from: v.nullable(v.string()),
  matches: v.array(CostMatch),
})

export type CostMatches = Infer<typeof CostMatches>

/** The result of a sync. */
export const SyncResult = v.object({
  added: v.number(),
  changed: v.number(),
  removed: v.number(),
  /** Prices in the list; `rejected` are entries that were left out. */
  entries: v.number(),
  rejected: v.number(),
  /** True if the list has not changed since the last sync. */
  not_modified: v.boolean(),
})

export type SyncResult = Infer<typeof SyncResult>

/** The line that `tokenweir costs sync --json` prints. */
export type SyncLine =
  | { readonly result: SyncResult }
  | { readonly error: { readonly code: 'sync_failed'; readonly message: string } }

/** The name of a removed override. */
export const RemovedPrice = v.object({ removed: v.string() })

/** The answer when a sync has begun. */
export const SyncStarted = v.object({ status: v.literal('started') })
