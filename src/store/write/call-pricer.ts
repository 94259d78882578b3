import type { MeteredUsage } from '../../pricing/cost.ts'
import type { AskedPrice, PriceBook } from '../../pricing/price-book.ts'

export type { BookedCost } from '../../pricing/price-book.ts'

/** What of a call its cost depends on; null is not known. */
export type PriceableCall = AskedPrice & MeteredUsage

/** Says what a call cost by the prices in force when it began; null where no price is known. Never throws. */
export type CallPricer = Pick<PriceBook, 'costOf'>

/** The source of a cost that the upstream itself reported: it is never computed. */
export const upstreamSource = 'upstream'
