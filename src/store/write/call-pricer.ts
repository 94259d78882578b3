import type { MeteredUsage } from '../../pricing/cost.ts'

/** What of a call its cost depends on; null is not known. */
export interface PriceableCall extends MeteredUsage {
  readonly startedAtMs: number
  readonly upstream: string | null
  readonly model: string | null
  readonly responseModel: string | null
  readonly serviceTier: string | null
}

/** What a call cost, and by which entry of which source. */
export interface CallCost {
  readonly costNanoUsd: number
  readonly source: string
  readonly key: string
}

/** Says what a call cost by the prices in force when it began; null where no price is known. Never throws. */
export interface CallPricer {
  costOf(call: PriceableCall): CallCost | null
}

/** The source of a cost that the upstream itself reported: it is never computed. */
export const upstreamSource = 'upstream'
