import type { Rates, RateTier } from '../api/costs.ts'
import { fees, feeOf, rateOf } from './rate-bounds.ts'

/** A model's price in a list, as of now. */
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
   * `not_priced_by_token`: of another kind; `no_price`: none, or zero that does not mean free; `bad_number`: out of
   * bounds, or no number; `bad_entry`: not in the list's form; `not_expressible`: bills what a gateway cannot count.
   */
  readonly reason: 'not_priced_by_token' | 'no_price' | 'bad_number' | 'bad_entry' | 'not_expressible'
}

/** A price list: an adapter's result for a data set. */
export interface PriceList<T = ListedPrice> {
  readonly models: ReadonlyMap<string, T>
  readonly rejected: readonly RejectedEntry[]
}

/** No list of prices came, or none that can be right, in words: the prices are as they were. */
export class PriceListError extends Error {
  override readonly name = 'PriceListError'
}

/** An entry that is to be left out. */
export class EntryError extends Error {
  readonly reason: RejectedEntry['reason']

  constructor(reason: RejectedEntry['reason']) {
    super(reason)
    this.name = 'EntryError'
    this.reason = reason
  }
}

/** Reads entries one by one, each under its name; those whose reading throws {@link EntryError} are left out. */
export function readEntries<T>(entries: Iterable<readonly [name: string, read: () => T]>): PriceList<T> {
  const models = new Map<string, T>()
  const rejected: RejectedEntry[] = []
  for (const [name, read] of entries) {
    try {
      models.set(name, read())
    } catch (error) {
      if (!(error instanceof EntryError)) throw error
      rejected.push({ name, reason: error.reason })
    }
  }
  return { models, rejected }
}

/** A list's rate in the unit of the price file; the list's rates of tokens are per `perTokens`. Throws {@link EntryError}. */
export function listedRate(name: keyof Rates, value: unknown, perTokens: number): number {
  const usd = fees.includes(name) ? feeOf(value) : rateOf(value, perTokens)
  if (usd === null) throw new EntryError('bad_number')
  return usd
}
