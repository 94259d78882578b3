import type {
  CostMatch,
  MatchedPrice,
  PriceEntry,
  PricePeriod,
  RateTier,
  Rates,
  WhyUnpriced,
} from '../../src/api/costs.ts'
import { count, shortCount } from '../format/figures.ts'

/** Names the rates, in the order in which people look for them. */
export const rateWords = {
  input: 'Input',
  output: 'Output',
  cache_read: 'Cached input',
  cache_write: 'Written to the cache',
  cache_write_1h: 'Written to the cache for an hour',
  reasoning: 'Reasoning',
  input_audio: 'Audio in',
  output_audio: 'Audio out',
  per_request: 'Each request',
  per_search_unit: 'Each search unit',
} as const satisfies Readonly<Record<keyof Rates, string>>

/** The name of a rate. */
export type RateName = keyof typeof rateWords

/** All that a price can have. */
export const rateNames: readonly RateName[] = Object.keys(rateWords) as RateName[]

/** Of these the amount is for one, not for a million. */
export function isFee(name: RateName): boolean {
  return name === 'per_request' || name === 'per_search_unit'
}

/** An amount as a price list has it: $0.15, $2, $0.0000025, never rounded to what it is not. */
export function rate(usd: number): string {
  if (usd === 0) return '$0'
  const digits =
    usd >= 0.01 && Number(usd.toFixed(2)) === usd ? usd.toFixed(2).replace('.00', '') : plainNumber(usd)
  return `$${digits}`
}

/** The first tier: what a short request costs. */
export function baseRates({ tiers }: { readonly tiers: readonly RateTier[] }): RateTier {
  return tiers[0] ?? { above_input_tokens: 0 }
}

/** How many tiers there are beside the first: for longer requests, or other service tiers. */
export function moreTiers({ tiers, service_tiers: services = {} }: TieredPrice): number {
  return tiers.length - 1 + Object.keys(services).length
}

/** The rates of a price. */
export type TieredPrice = Pick<PricePeriod, 'tiers' | 'service_tiers'>

/** Every rate that it has is 0: a price all the same. */
export function isFree(tiers: readonly RateTier[]): boolean {
  return tiers.length > 0 && tiers.every((tier) => rateNames.every((name) => (tier[name] ?? 0) === 0))
}

/** The fee for each request, or unit of search; undefined if there is none. */
function feeOf({ per_request: perRequest, per_search_unit: perUnit }: Rates): number | undefined {
  return perRequest ?? perUnit
}

/** A fee is all that is billed. */
function isByFee(rates: Rates): boolean {
  return feeOf(rates) !== undefined && rateNames.every((name) => isFee(name) || (rates[name] ?? 0) === 0)
}

/** The rates of a short request; of input and output none if a fee is all that is billed. */
export function briefRates(
  price: TieredPrice,
): Readonly<Record<'fee' | 'input' | 'output' | 'cached', number | undefined>> {
  const base = baseRates(price)
  const { input, output, cache_read: cached } = base
  return isByFee(base)
    ? { fee: feeOf(base), input: undefined, output: undefined, cached }
    : { fee: undefined, input, output, cached }
}

/** The rates that any of the tiers has; if a fee is all that is billed, no others. */
export function ratesIn(tiers: readonly RateTier[]): readonly RateName[] {
  const areByFee = tiers.every(isByFee)
  return rateNames.filter(
    (name) => (!areByFee || isFee(name)) && tiers.some((tier) => tier[name] !== undefined),
  )
}

/** The length of request that a tier is for: `up to 200 K tokens in`, `above 200 K`. */
export function tierWords(tiers: readonly RateTier[], at: number): string {
  const tier = tiers[at]
  const next = tiers[at + 1]
  if (tier === undefined || (at === 0 && next === undefined)) return 'Any length'
  if (at === 0 && next !== undefined)
    return `${next.inclusive === true ? 'Below' : 'Up to'} ${limitWords(next.above_input_tokens)} tokens in`
  return `${tier.inclusive === true ? 'From' : 'Above'} ${limitWords(tier.above_input_tokens)} tokens in`
}

function limitWords(tokens: number): string {
  return tokens % 1000 === 0 ? shortCount(tokens) : count(tokens)
}

/** Why there is no price, in words; and beside money, why there was one. */
export function whyWords(none: WhyUnpriced, hasCost: boolean): string {
  if (hasCost) {
    const now = none === 'local' ? 'Runs on your own machines' : 'No price is known now'
    return `${now}: the calls were priced by the upstream itself, or by a price that is gone.`
  }
  switch (none) {
    case 'local':
      return 'Runs on your own machines, and nobody bills it.'
    case 'no_entry':
      return 'No price is known under this name.'
    case 'unknown_upstream':
      return 'No price list is known for this upstream.'
    case 'no_model':
      return 'These calls name no model.'
  }
}

/** There is a price. */
export function hasPrice(price: MatchedPrice): price is Extract<MatchedPrice, { key: string }> {
  return 'key' in price
}

/** The period of an entry that holds at an instant; null if it begins only later. */
export function periodAt({ prices }: PriceEntry, nowMs: number): PricePeriod | null {
  const held = prices.filter(({ effective_from: from }) => sinceMs(from) <= nowMs)
  return (
    held.toSorted((one, other) => sinceMs(one.effective_from) - sinceMs(other.effective_from)).at(-1) ?? null
  )
}

/** The model that answered, if it has another name than was asked for. */
export function answeredBy({ model, response_model: answered }: CostMatch): string | null {
  return answered !== null && answered !== model ? answered : null
}

function sinceMs(from: string | null): number {
  return from === null ? Number.NEGATIVE_INFINITY : Date.parse(from)
}

/** Without an exponent, without zeros that say nothing. */
export function plainNumber(value: number): string {
  return value.toFixed(10).replace(/\.?0+$/, '')
}
