import { type NamedField, storedFields } from '../../call/fields/call-fields.ts'
import type { MeteredUsage } from '../../pricing/cost.ts'
import type { AskedPrice, PriceBook } from '../../pricing/price-book.ts'

export type { BookedCost } from '../../pricing/price-book.ts'

/** The facts that a call's cost depends on; null if unknown. */
export type PriceableCall = AskedPrice & MeteredUsage

const pricedBy: Readonly<Record<Exclude<keyof PriceableCall, 'startedAtMs'>, true>> = {
  upstream: true,
  model: true,
  responseModel: true,
  serviceTier: true,
  inputTokens: true,
  outputTokens: true,
  cachedInputTokens: true,
  cacheWriteTokens: true,
  cacheWrite1hTokens: true,
  inputAudioTokens: true,
  outputAudioTokens: true,
  reasoningTokens: true,
  searchUnits: true,
  audioMs: true,
  imageTokens: true,
}

/** The fields of a {@link PriceableCall}, besides when it began. */
export const priceableFields: readonly NamedField[] = storedFields.filter(({ record }) => record in pricedBy)

/** Says what a call cost by the prices in force when it began; null where no price is known. Never throws. */
export type CallPricer = Pick<PriceBook, 'costOf'>

/** The source of a cost that the upstream itself reported: it is never computed. */
export const upstreamSource = 'upstream'
