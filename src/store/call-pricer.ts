/** What of a call its cost depends on; null is not known. */
export interface PriceableCall {
  readonly startedAtMs: number
  readonly upstream: string | null
  readonly model: string | null
  readonly responseModel: string | null
  readonly serviceTier: string | null
  readonly inputTokens: number | null
  readonly outputTokens: number | null
  readonly cachedInputTokens: number | null
  readonly cacheWriteTokens: number | null
  readonly cacheWrite1hTokens: number | null
  readonly inputAudioTokens: number | null
  readonly outputAudioTokens: number | null
  readonly reasoningTokens: number | null
  readonly searchUnits: number | null
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
