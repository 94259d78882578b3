import type { ServedModel } from '../call/call-reader.ts'
import type { Job, JobFailure } from './database-job.ts'

/** What a unit costs, in USD per million tokens but for those that begin with `per_`, which are USD each. Left out is what another rate stands for. */
export interface Rates {
  readonly input?: number
  readonly output?: number
  readonly cache_read?: number
  readonly cache_write?: number
  readonly cache_write_1h?: number
  readonly reasoning?: number
  readonly input_audio?: number
  readonly output_audio?: number
  readonly image?: number
  readonly per_request?: number
  readonly per_search_unit?: number
  readonly per_second?: number
}

/** Rates of whole requests with more input tokens than `above_input_tokens`; with as many, too, where it is `inclusive`. */
export interface RateTier extends Rates {
  readonly above_input_tokens: number
  readonly inclusive?: boolean
}

/** A price from an instant on; null is from the beginning. */
export interface PricePeriod {
  readonly effective_from: string | null
  readonly tiers: readonly RateTier[]
  readonly service_tiers?: Readonly<Record<string, readonly RateTier[]>>
  /** Where it is not the entry's: an earlier price, of which another list told. */
  readonly source?: string
}

/** An entry of the price file. */
export interface PriceEntry {
  readonly provider?: string
  readonly mode?: string
  /** `user`, `litellm`, `genai-prices 0.1.8`, … */
  readonly source: string
  readonly updated_at?: string | null
  /** Since when its source lists it no more; its last price goes on. */
  readonly removed_at?: string
  readonly prices: readonly PricePeriod[]
}

/** How the last sync went, or how far this one is. */
export interface PriceSync {
  readonly state: 'idle' | 'running'
  readonly started_at: string | null
  readonly finished_at: string | null
  /** In words; null where it went well. */
  readonly last_error: string | null
  readonly added: number
  readonly changed: number
  readonly removed: number
}

/** Why the file on disk is not what is in force. */
export interface PriceProblem {
  readonly message: string
  readonly line: number | null
  readonly column: number | null
}

/** The body of `GET /api/costs`: the prices in force. */
export interface Costs {
  readonly synced_at: string | null
  /** Null where no sync ever was. */
  readonly source: {
    readonly name: string
    readonly url: string | null
    readonly entries?: number
    readonly rejected?: number
  } | null
  readonly sync: PriceSync
  /** Null where the file on disk is in force, or there is none and the shipped prices are. */
  readonly problem: PriceProblem | null
  readonly models: Readonly<Record<string, PriceEntry>>
  readonly overrides: Readonly<Record<string, PriceEntry>>
}

/** Why a model has no price. */
export type WhyUnpriced = 'local' | 'no_entry' | 'unknown_upstream' | 'no_model'

/** What the prices in force say of a model now. */
export type MatchedPrice =
  | {
      readonly key: string
      readonly source: string
      readonly effective_from: string | null
      readonly updated_at: string | null
      readonly tiers: readonly RateTier[]
      readonly service_tiers?: Readonly<Record<string, readonly RateTier[]>>
    }
  | { readonly none: WhyUnpriced }

/** Calls of one upstream and model, and what the prices in force say of them. */
export interface CostMatch extends ServedModel {
  readonly price: MatchedPrice
}

/** The body of `GET /api/costs/matches`, most calls first. */
export interface CostMatches {
  readonly from: string
  readonly to: string
  /** Since when calls are counted, where that is not all of the time: earlier ones were folded, or are too many. */
  readonly counted_from: string | null
  readonly matches: readonly CostMatch[]
}

/** Calls of one day and model whose cost is another one after re-pricing. Sums are null where none of them has a cost. */
export interface RepriceDay {
  /** A local date of the zone that was asked for. */
  readonly day: string
  readonly model: string | null
  readonly calls: number
  readonly before_usd: number | null
  readonly after_usd: number | null
  /** Calls that had no price before. */
  readonly newly_priced: number
  /** Calls that have none any more. */
  readonly newly_unpriced: number
}

/** What a re-pricing did; of a dry run, what it would do. */
export interface RepriceResult extends Omit<RepriceDay, 'day' | 'model'> {
  readonly days: readonly RepriceDay[]
  /** Calls that were looked at. */
  readonly looked_calls: number
  /** Of those, calls whose upstream reported what they cost: these stay as they are. */
  readonly reported_calls: number
  readonly duration_ms: number
}

/** How far a re-pricing has come, in minutes of the calls' time. */
export interface RepriceProgress {
  readonly done: number
  readonly total: number
}

/** A line that `tokenweir db reprice --json` prints: progress any number of times, then how it ended. */
export type RepriceLine =
  | { readonly progress: RepriceProgress }
  | { readonly result: RepriceResult }
  | { readonly error: JobFailure }

/** A re-pricing. */
export type RepriceJob = Job<'reprice', RepriceProgress, RepriceResult>

/** What a sync did. */
export interface SyncResult {
  readonly added: number
  readonly changed: number
  readonly removed: number
  /** Prices in the list, and entries of it that were left out. */
  readonly entries: number
  readonly rejected: number
  /** Whether the list is the one that was taken last. */
  readonly not_modified: boolean
}

/** The line that `tokenweir costs sync --json` prints. */
export type SyncLine =
  | { readonly result: SyncResult }
  | { readonly error: { readonly code: 'sync_failed'; readonly message: string } }
