import type {
  CostMatch,
  Costs,
  MatchedPrice,
  PriceEntry,
  PricePeriod,
  RateTier,
  Rates,
  WhyUnpriced,
} from '../../src/api/costs.ts'
import { rateWords, sourceDate, sourceWords } from '../data/price-source.ts'
import { count, counted, dollars } from '../format/figures.ts'
import type { Times } from '../format/times.ts'

export type RateName = keyof typeof rateWords

/** The keys of all rates that a price can have, in the page's order. */
export const rateNames: readonly RateName[] = Object.keys(rateWords) as RateName[]

/** True for a rate per request or unit, false for a rate per million tokens. */
export function isFee(name: RateName): boolean {
  return name.startsWith('per_')
}

/** Returns an amount in USD without rounding: $0.15, $2.00, $0.0000025. */
export function rate(usd: number): string {
  if (usd === 0) return '$0'
  return usd >= 0.01 && Number(usd.toFixed(2)) === usd ? dollars(usd) : `$${plainNumber(usd)}`
}

/** Returns the first tier, which applies to short requests. */
export function baseRates({ tiers }: { readonly tiers: readonly RateTier[] }): RateTier {
  return tiers[0] ?? { above_input_tokens: 0 }
}

/** Returns the number of further tiers, for longer requests and other service tiers. */
export function moreTiers({ tiers, service_tiers: services = {} }: TieredPrice): number {
  return tiers.length - 1 + Object.keys(services).length
}

/** The rates of a price, by request length and service tier. */
export type TieredPrice = Pick<PricePeriod, 'tiers' | 'service_tiers'>

/** True if every rate is 0. */
export function isFree(tiers: readonly (Rates | RateTier)[]): boolean {
  return tiers.length > 0 && tiers.every((tier) => rateNames.every((name) => (tier[name] ?? 0) === 0))
}

/** Returns the fee for each request, search unit or second; undefined without a fee. */
function feeOf(rates: Rates): number | undefined {
  return rates.per_request ?? rates.per_search_unit ?? rates.per_second
}

/** True if only fees are billed. */
function isByFee(rates: Rates): boolean {
  return feeOf(rates) !== undefined && rateNames.every((name) => isFee(name) || (rates[name] ?? 0) === 0)
}

/** Returns the rates of a short request. If only a fee is billed, `input` and `output` are undefined. */
export function briefRates(
  price: TieredPrice,
): Readonly<Record<'fee' | 'input' | 'output' | 'cached', number | undefined>> {
  const base = baseRates(price)
  const { input, output, cache_read: cached } = base
  return isByFee(base)
    ? { fee: feeOf(base), input: undefined, output: undefined, cached }
    : { fee: undefined, input, output, cached }
}

/** Returns the names of all rates in any tier; only the fees if nothing else is billed. */
export function ratesIn(tiers: readonly RateTier[]): readonly RateName[] {
  const areByFee = tiers.every(isByFee)
  return rateNames.filter(
    (name) => (!areByFee || isFee(name)) && tiers.some((tier) => tier[name] !== undefined),
  )
}

/** Returns the request lengths of a tier: `Up to 200,000 tokens in`, `Above 200,000 tokens in`. */
export function tierWords(tiers: readonly RateTier[], at: number): string {
  const tier = tiers[at]
  const next = tiers[at + 1]
  if (tier === undefined || (at === 0 && next === undefined)) return 'Any length'
  if (at === 0 && next !== undefined)
    return `${next.inclusive === true ? 'Below' : 'Up to'} ${count(next.above_input_tokens)} tokens in`
  return `${tier.inclusive === true ? 'From' : 'Above'} ${count(tier.above_input_tokens)} tokens in`
}

/** Returns the reason that there is no price. With `hasCost`, the text also explains the known costs. */
export function whyWords(none: WhyUnpriced, hasCost: boolean): string {
  if (hasCost) {
    const now = none === 'local' ? 'Self-hosted' : 'No price now'
    return `${now}: the upstream reported these costs, or the price was removed.`
  }
  switch (none) {
    case 'local':
      return 'Self-hosted: no cost'
    case 'no_entry':
      return 'No price under this name'
    case 'unknown_upstream':
      return 'No price list for this upstream'
    case 'no_model':
      return 'No model'
  }
}

/** True if calls have a price. */
export function hasPrice(price: MatchedPrice): price is Extract<MatchedPrice, { key: string }> {
  return 'key' in price
}

/** Returns the period in force at an instant; null before the first one. */
export function periodAt({ prices }: PriceEntry, nowMs: number): PricePeriod | null {
  const started = prices.filter(({ effective_from: from }) => sinceMs(from) <= nowMs)
  return started.toSorted((a, b) => sinceMs(a.effective_from) - sinceMs(b.effective_from)).at(-1) ?? null
}

function sinceMs(from: string | null): number {
  return from === null ? Number.NEGATIVE_INFINITY : Date.parse(from)
}

/** Returns the number as text, without an exponent and trailing zeros. */
export function plainNumber(value: number): string {
  return value.toFixed(10).replace(/\.?0+$/, '')
}

/** A model whose price can be set. */
export interface PricedModel {
  /** The model's name in calls, or the name of its override. */
  readonly name: string
  /** The upstream; null if `name` contains it, or the price is for all upstreams. */
  readonly upstream: string | null
  /** True if the user has set a price, which can be removed. */
  readonly isOwn: boolean
  /** The current price; null if unknown. */
  readonly price: TieredPrice | null
}

/** A row of a list of prices. */
export interface PriceLine {
  readonly key: string
  readonly name: string
  /** Small text below the name. */
  readonly about: string
  readonly price: TieredPrice | null
  /** The source of the price, such as `LiteLLM`, or the reason that there is none. */
  readonly source: string
  /** The date of the price, such as `synced 3 h ago`; empty without a price. */
  readonly date: string
  /** Lines in the collapsed part. */
  readonly notes: readonly string[]
  /** True if the missing price is no problem: no call lacks a cost because of it. */
  readonly isCalm: boolean
  /** The cost of the row's calls; null in the list of all prices. */
  readonly spent: {
    readonly usd: number | null
    readonly model: string | null
    readonly words: string
  } | null
  /** The model whose price the row can set; null if it cannot. */
  readonly priced: PricedModel | null
}

/** The current time, for dates of prices. */
export interface PriceClock {
  readonly times: Times
  readonly nowMs: number
  /** The start of the calls that the prices are for, in ms since the Unix epoch. */
  readonly fromMs?: number
}

/** Returns the row for the calls of one upstream and model. */
export function matchedLine(
  match: CostMatch,
  { overrides, models }: Pick<Costs, 'overrides' | 'models'>,
  { times, nowMs, fromMs = 0 }: PriceClock,
): PriceLine {
  const {
    model,
    upstream,
    response_model: answeredAs,
    price,
    unpriced_calls: unpriced,
    cost_usd: usd,
  } = match
  const answered = answeredAs === model ? null : answeredAs
  const met = hasPrice(price) ? price : null
  const since = Date.parse(met?.effective_from ?? '')
  const hasEarlier = since > fromMs && since <= nowMs && (usd ?? 0) > 0
  const ownName = met !== null && Object.hasOwn(overrides, met.key) ? met.key : null
  const ofPrice = hasPrice(price)
    ? {
        source: sourceWords(price.source),
        date: sourceDate(price.source, price.updated_at, times, nowMs),
        notes: [
          `Listed as ${price.key}${ownName === null ? '' : ' (your own price)'}`,
          ...sinceWords(price.effective_from, times),
          ...(hasEarlier ? ['Earlier calls used earlier prices'] : []),
          ...earlierWords(overrides[price.key] ?? models[price.key], price.effective_from, times),
          ...(answered === null ? [] : [`Answered as ${answered}`]),
        ],
      }
    : { source: whyWords(price.none, usd !== null && usd > 0), date: '', notes: [] }
  return {
    key: JSON.stringify([upstream, model, answeredAs]),
    name: model ?? 'No model',
    about: `${upstream ?? 'unknown upstream'}${answered === null ? '' : ` · answered as ${answered}`}`,
    price: met,
    ...ofPrice,
    isCalm: !hasPrice(price) && (price.none === 'local' || unpriced === 0),
    spent: {
      usd,
      model,
      words:
        unpriced > 0 && (met !== null || usd !== null)
          ? `+ ${count(unpriced)} unpriced`
          : `${counted(match.calls, 'call')}${hasEarlier ? `, some before this price (${times.day(since)})` : ''}`,
    },
    // An override is changed under its own name.
    priced:
      model === null
        ? null
        : ownName === null
          ? { name: model, upstream, isOwn: false, price: met }
          : { name: ownName, upstream: null, isOwn: true, price: met },
  }
}

/** Returns the rows of the known prices whose name contains a text, used by calls or not, overrides first. */
export function knownLines(
  { models, overrides }: Pick<Costs, 'models' | 'overrides'>,
  search: string,
  clock: PriceClock,
): readonly PriceLine[] {
  const searchText = search.toLowerCase()
  const linesOf = (entries: Readonly<Record<string, PriceEntry>>, isOwn: boolean): readonly PriceLine[] =>
    Object.entries(entries)
      .filter(([name]) => name.toLowerCase().includes(searchText))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, entry]) => knownLine(name, entry, isOwn, clock))
  return [...linesOf(overrides, true), ...linesOf(models, false)]
}

function knownLine(name: string, entry: PriceEntry, isOwn: boolean, { times, nowMs }: PriceClock): PriceLine {
  const { provider, mode, updated_at: updatedAt, removed_at: removedAt, prices } = entry
  const inForce = periodAt(entry, nowMs)
  const period = inForce ?? prices[0] ?? null
  const { source = entry.source, effective_from: from = null } = period ?? {}
  return {
    key: `${isOwn} ${name}`,
    name,
    about: [provider, mode].filter((word) => word !== undefined).join(' · '),
    price: period,
    source: sourceWords(source),
    date: sourceDate(source, updatedAt, times, nowMs),
    notes: [
      ...sinceWords(from, times),
      ...(removedAt === undefined
        ? []
        : [`No longer listed since ${times.day(Date.parse(removedAt))}; its last price still applies`]),
      ...earlierWords(entry, from, times),
    ],
    isCalm: true,
    spent: null,
    priced: isOwn ? { name, upstream: null, isOwn, price: inForce } : null,
  }
}

function sinceWords(from: string | null, times: Times): readonly string[] {
  const ms = from === null ? Number.NaN : Date.parse(from)
  return Number.isNaN(ms) ? [] : [`In force since ${times.full(ms)}`]
}

/** Returns the prices before `from`, the latest first: `Until 12 Nov, 09:00: input $2.50, output $10.00`. */
function earlierWords(entry: PriceEntry | undefined, from: string | null, times: Times): readonly string[] {
  const all = (entry?.prices ?? []).toSorted((a, b) => sinceMs(b.effective_from) - sinceMs(a.effective_from))
  return all.flatMap((period, at) => {
    const nextMs = sinceMs(all[at - 1]?.effective_from ?? null)
    if (sinceMs(period.effective_from) >= sinceMs(from) || !Number.isFinite(nextMs)) return []
    const { fee, input, output, cached } = briefRates(period)
    const rates = Object.entries({ each: fee, input, output, cached }).flatMap(([name, usd]) =>
      usd === undefined ? [] : `${name} ${rate(usd)}`,
    )
    return [`Until ${times.dayAndClock(nextMs)}: ${rates.join(', ')}`]
  })
}

/** Returns the matches of the chosen models that contain the search text, the most urgent first. */
export function listedMatches(
  matches: readonly CostMatch[],
  models: readonly string[],
  search: string,
): readonly CostMatch[] {
  const searchText = search.toLowerCase()
  return matches
    .filter(({ model }) => models.length === 0 || (model !== null && models.includes(model)))
    .filter(
      (match) => searchText === '' || namesOf(match).some((name) => name.toLowerCase().includes(searchText)),
    )
    .toSorted(
      (a, b) => urgency(a) - urgency(b) || (b.cost_usd ?? -1) - (a.cost_usd ?? -1) || b.calls - a.calls,
    )
}

/** Sorts models with unpriced calls first, then other models without a price. */
function urgency({ price, unpriced_calls: unpriced }: CostMatch): number {
  return hasPrice(price) ? 2 : unpriced > 0 ? 0 : 1
}

function namesOf({ model, response_model: answered, upstream, price }: CostMatch): readonly string[] {
  return [model, answered, upstream, hasPrice(price) ? price.key : null].filter((name) => name !== null)
}

/** Returns the number of unpriced calls whose model now has a price that was in force at their time. */
export function priceableCalls(matches: readonly CostMatch[], fromMs: number): number {
  return matches.reduce((sum, { price, unpriced_calls: calls }) => {
    if (!hasPrice(price)) return sum
    const since = price.effective_from === null ? null : Date.parse(price.effective_from)
    return since === null || since <= fromMs ? sum + calls : sum
  }, 0)
}

/** Returns the name of an override, for one upstream or for all. */
export function overrideName(match: Pick<CostMatch, 'upstream' | 'model'>, isForAll: boolean): string {
  const { upstream, model } = match
  return isForAll || upstream === null ? (model ?? '') : `${hostOf(upstream)}/${model ?? ''}`
}

/** Returns the host of an upstream's URL: `https://api.openai.com/v1` and `api.openai.com` are the same upstream. */
export function hostOf(upstream: string): string {
  return upstream.replace(/^[a-z]+:\/\//, '').replace(/\/.*$/, '')
}
