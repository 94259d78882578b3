import type { PricePeriod, Rates, RateTier } from '../api/costs.ts'
import { fees, tokenRates } from './rate-bounds.ts'

/** The service tiers with separate prices. Every other name means the ordinary tier. */
export const serviceTiers = ['flex', 'priority', 'batch'] as const

export type ServiceTier = (typeof serviceTiers)[number]

/**
 * Rates in whole pico-dollars, per token, per request or unit, or per millisecond of audio. Null means an
 * unknown rate without a replacement.
 */
export type PicoRates = { readonly [Name in keyof Rates]-?: number | null }

/** The rates for whole requests with more input tokens (cached ones included) than a bound. */
export interface PicoTier {
  readonly aboveInputTokens: number
  /** True if the bound itself belongs to the tier. */
  readonly inclusive: boolean
  readonly rates: PicoRates
}

/** The service tier for an upstream's word; null for the ordinary tier and unknown words. */
export function serviceTierOf(word: string | null): ServiceTier | null {
  const lower = word?.toLowerCase()
  return lower === 'fast' ? 'priority' : (serviceTiers.find((tier) => tier === lower) ?? null)
}

/**
 * The tiers of a period for a service tier, smallest bound first. Missing rates are filled in from the first
 * tier, then from replacements. A service tier without prices is billed as the ordinary tier.
 */
export function tiersOf(
  { tiers, service_tiers: special = {} }: PricePeriod,
  serviceTier: ServiceTier | null,
): readonly PicoTier[] {
  const own = serviceTier === null ? undefined : special[serviceTier]
  const ordinary = tiers.toSorted(byBound)
  if (own === undefined || own.length === 0) return ordinary.map((tier) => withDefaults(tier, ordinary[0]))
  const ascending = own.toSorted(byBound)
  // Input and output have no replacement, so a tier without one of them uses the ordinary rate.
  return ascending.map((tier) => withDefaults(tier, ascending[0], ordinary[0]))
}

/** The tier that bills a request with this number of input tokens, cached ones included. */
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

/** The rates that replace missing ones. */
const standIns: { readonly [Name in keyof Rates]?: keyof Rates } = {
  cache_read: 'input',
  cache_write: 'input',
  cache_write_1h: 'cache_write',
  reasoning: 'output',
  input_audio: 'input',
  output_audio: 'output',
}

function withDefaults(tier: RateTier, base?: RateTier, last?: RateTier): PicoTier {
  const own = (name: keyof Rates): number | undefined => tier[name] ?? base?.[name]
  // A tier billed by the request has no token rates.
  const isFeeOnly = fees.some((name) => own(name) !== undefined) && own('input') === undefined
  const usd = (name: keyof Rates): number | null => {
    const standIn = standIns[name]
    if (standIn !== undefined) return own(name) ?? usd(standIn)
    return own(name) ?? last?.[name] ?? (isFeeOnly || fees.includes(name) ? 0 : null)
  }
  // A dollar per million tokens is a million pico-dollars per token, so rounding keeps six decimals.
  const pico = (name: keyof Rates): number | null => {
    const rate = usd(name)
    return rate === null ? null : Math.round(rate * picoParts(name))
  }
  return {
    aboveInputTokens: tier.above_input_tokens,
    inclusive: tier.inclusive === true,
    rates: Object.fromEntries([...tokenRates, ...fees].map((name) => [name, pico(name)])) as PicoRates,
  }
}

/** Pico-dollars per token, request, unit or millisecond, for a rate of one dollar. */
function picoParts(name: keyof Rates): number {
  if (name === 'per_second') return 1e9
  return fees.includes(name) ? 1e12 : 1e6
}
