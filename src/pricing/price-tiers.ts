import type { PricePeriod, Rates, RateTier } from '../api/costs.ts'

/** How an upstream says that it served a call; everything else is its ordinary way. */
export const serviceTiers = ['flex', 'priority', 'batch'] as const

export type ServiceTier = (typeof serviceTiers)[number]

/** Whole pico-dollars: per token but for the last two; null is not known, and no other rate stands for it. */
export interface PicoRates {
  readonly input: number | null
  readonly output: number | null
  readonly cacheRead: number | null
  readonly cacheWrite: number | null
  readonly cacheWrite1h: number | null
  readonly reasoning: number | null
  readonly inputAudio: number | null
  readonly outputAudio: number | null
  readonly perRequest: number
  readonly perSearchUnit: number
}

/** The rates of whole requests whose input, cached or not, is larger than a bound. */
export interface PicoTier {
  readonly aboveInputTokens: number
  /** As many tokens as the bound are enough. */
  readonly inclusive: boolean
  readonly rates: PicoRates
}

/** Null for the ordinary tier, and for words that nobody has a price for. */
export function serviceTierOf(word: string | null): ServiceTier | null {
  const lower = word?.toLowerCase()
  return lower === 'fast' ? 'priority' : (serviceTiers.find((tier) => tier === lower) ?? null)
}

/**
 * The tiers of a period for a service tier, smallest bound first, with every rate filled in: by the base tier's, then by
 * the rate that stands for it. A service tier that the period does not price is billed as the ordinary one.
 */
export function tiersOf(
  { tiers, service_tiers: special = {} }: PricePeriod,
  serviceTier: ServiceTier | null,
): readonly PicoTier[] {
  const own = serviceTier === null ? undefined : special[serviceTier]
  const ordinary = tiers.toSorted(byBound)
  if (own === undefined || own.length === 0) return ordinary.map((tier) => filled(tier, ordinary[0]))
  const ascending = own.toSorted(byBound)
  // Input and output have no other rate that stands for them: a tier that leaves one out bills it as ever.
  return ascending.map((tier) => filled(tier, ascending[0], ordinary[0]))
}

/** The tier that bills a request with so many input tokens, cached ones among them. */
export function tierFor(tiers: readonly PicoTier[], inputTokens: number): PicoTier | undefined {
  return (
    tiers.findLast(
      ({ aboveInputTokens, inclusive }) =>
        inputTokens > aboveInputTokens || (inclusive && inputTokens === aboveInputTokens),
    ) ?? tiers[0]
  )
}

/** The smallest bound first. */
export function byBound(a: RateTier, b: RateTier): number {
  return a.above_input_tokens - b.above_input_tokens
}

function filled(tier: RateTier, base?: RateTier, last?: RateTier): PicoTier {
  const rate = (name: keyof Rates): number | null => tier[name] ?? base?.[name] ?? null
  // What bills by the request alone bills no token.
  const isFeeOnly = (rate('per_request') ?? rate('per_search_unit')) !== null && rate('input') === null
  const otherwise = isFeeOnly ? 0 : null
  const input = perToken(rate('input') ?? last?.input ?? otherwise)
  const output = perToken(rate('output') ?? last?.output ?? otherwise)
  const cacheWrite = perToken(rate('cache_write')) ?? input
  return {
    aboveInputTokens: tier.above_input_tokens,
    inclusive: tier.inclusive === true,
    rates: {
      input,
      output,
      cacheRead: perToken(rate('cache_read')) ?? input,
      cacheWrite,
      cacheWrite1h: perToken(rate('cache_write_1h')) ?? cacheWrite,
      reasoning: perToken(rate('reasoning')) ?? output,
      inputAudio: perToken(rate('input_audio')) ?? input,
      outputAudio: perToken(rate('output_audio')) ?? output,
      perRequest: each(rate('per_request') ?? last?.per_request ?? 0),
      perSearchUnit: each(rate('per_search_unit') ?? last?.per_search_unit ?? 0),
    },
  }
}

/** A dollar per million tokens is a million pico-dollars per token: this rounds to six decimals of the former. */
function perToken(usdPerMillion: number | null): number | null {
  return usdPerMillion === null ? null : Math.round(usdPerMillion * 1e6)
}

function each(usd: number): number {
  return Math.round(usd * 1e12)
}
