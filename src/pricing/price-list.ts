import type { RateTier } from '../api/costs.ts'

/** What a list of prices says of a model, as of now. */
export interface ListedPrice {
  readonly provider: string
  readonly mode: string
  /** Smallest bound first. */
  readonly tiers: readonly RateTier[]
  readonly service_tiers?: Readonly<Record<string, readonly RateTier[]>>
}

/** An entry that was left out. */
export interface RejectedEntry {
  readonly name: string
  /**
   * `not_priced_by_token`: of another kind; `no_price`: none, or zero where that does not mean free; `bad_number`: out of
   * bounds, or no number; `bad_entry`: not in the list's form; `not_expressible`: bills what a gateway cannot count.
   */
  readonly reason: 'not_priced_by_token' | 'no_price' | 'bad_number' | 'bad_entry' | 'not_expressible'
}

/** A list of prices, read: what an adapter makes of a data set. */
export interface PriceList {
  readonly models: ReadonlyMap<string, ListedPrice>
  readonly rejected: readonly RejectedEntry[]
}
