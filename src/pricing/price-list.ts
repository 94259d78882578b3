import type { Rates, RateTier } from '../api/costs.ts'
import { fees, feeOf, rateOf } from './rate-bounds.ts'

/** A model's present price in a list. */
export interface ListedPrice {
  readonly provider: string
  readonly mode: string
  /** The tiers, smallest bound first. */
  readonly tiers: readonly RateTier[]
  readonly service_tiers?: Readonly<Record<string, readonly RateTier[]>>
}

/** An entry that was left out. */
export interface RejectedEntry {
  readonly name: string
  /**
   * - `not_priced_by_token`: an entry of another kind.
   * - `no_price`: no price, or a zero that does not mean free.
   * - `bad_number`: a value out of bounds, or no number.
   * - `bad_entry`: an entry in another form.
   * - `not_expressible`: a price for something that a gateway cannot count.
   */
  readonly reason: 'not_priced_by_token' | 'no_price' | 'bad_number' | 'bad_entry' | 'not_expressible'
}

/** A price list: an adapter's result for a data set. */
export interface PriceList<T = ListedPrice> {
  readonly models: ReadonlyMap<string, T>
  readonly rejected: readonly RejectedEntry[]
}

/** A price list could not be fetched, or is hardly right. The prices are unchanged. */
export class PriceListError extends Error {
  override readonly name = 'PriceListError'
}

/** An entry must be left out. */
export class EntryError extends Error {
  readonly reason: RejectedEntry['reason']

  constructor(reason: RejectedEntry['reason']) {
    super(reason)
    this.name = 'EntryError'
    this.reason = reason
  }
}

/** Reads entries by name. An entry whose reading throws {@link EntryError} is rejected. */
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

/**
 * Converts a list's rate to the unit of the price file. In the list, token rates are per `perTokens` tokens.
 * Throws {@link EntryError}.
 */
export function listedRate(name: keyof Rates, value: unknown, perTokens: number): number {
  const usd = fees.includes(name) ? feeOf(value) : rateOf(value, perTokens)
  if (usd === null) throw new EntryError('bad_number')
  return usd
}
