import type { CostMatch, Costs, PriceEntry, Rates } from '../../src/api/costs.ts'
import { sourceDate, sourceWords } from '../data/price-source.ts'
import { count, counted } from '../format/figures.ts'
import type { Times } from '../format/times.ts'
import {
  type TieredPrice,
  answeredBy,
  baseRates,
  hasPrice,
  moreTiers,
  periodAt,
  whyWords,
} from './price-words.ts'

/** The model that a price is set for. */
export interface PricedModel {
  /** The name by which calls ask for it, or under which one's own price is kept already. */
  readonly name: string
  /** Null if the name says it, or if it is for all. */
  readonly upstream: string | null
  /** The present rates; null if nothing is known. */
  readonly rates: Rates | null
  /** The present price has more to it than these rates: one's own would not. */
  readonly hasMore: boolean
}

/** A price, as a row shows it. */
export interface ShownPrice {
  readonly period: TieredPrice
  /** `LiteLLM` */
  readonly source: string
  /** `synced 3 h ago` */
  readonly date: string
  /** Told in the part that is folded away. */
  readonly notes: readonly string[]
}

/** A row of a list of prices. */
export interface PriceLine {
  readonly key: string
  readonly name: string
  /** Under the name, in a quieter voice. */
  readonly about: string
  readonly price: ShownPrice | null
  /** In place of a price. */
  readonly why: string
  /** Nothing is amiss about that. */
  readonly isCalm: boolean
  /** The cost of its calls; null if the list is not of calls. */
  readonly spent: {
    readonly usd: number | null
    readonly model: string | null
    readonly words: string
  } | null
  /** The name of one's own price, which can be removed. */
  readonly ownName: string | null
  /** A sync may bring the price. */
  readonly canSync: boolean
  /** Null if no price can be set here. */
  readonly priced: PricedModel | null
}

export interface PriceClock {
  readonly times: Times
  readonly nowMs: number
}

/** The price that calls of one upstream and model met. */
export function matchedLine(
  match: CostMatch,
  overrides: Readonly<Record<string, PriceEntry>>,
  { times, nowMs }: PriceClock,
): PriceLine {
  const {
    model,
    upstream,
    response_model: answeredAs,
    price,
    unpriced_calls: unpriced,
    cost_usd: usd,
  } = match
  const answered = answeredBy(match)
  const met = hasPrice(price) ? price : null
  const ownName = met !== null && Object.hasOwn(overrides, met.key) ? met.key : null
  return {
    key: JSON.stringify([upstream, model, answeredAs]),
    name: model ?? 'No model named',
    about: `${upstream ?? 'unknown upstream'}${answered === null ? '' : ` · answered as ${answered}`}`,
    price: met && {
      period: met,
      source: sourceWords(met.source),
      date: sourceDate(met.source, met.updated_at, times, nowMs),
      notes: [
        `Found under ${met.key}${ownName === null ? '' : ', your own price'}`,
        ...sinceWords(met.effective_from, times),
        ...(answered === null ? [] : [`Answered as ${answered}`]),
      ],
    },
    why: hasPrice(price) ? '' : whyWords(price.none, usd !== null && usd > 0),
    isCalm: !hasPrice(price) && price.none === 'local',
    spent: {
      usd,
      model,
      words:
        unpriced > 0 && (met !== null || usd !== null)
          ? `+ ${count(unpriced)} unpriced`
          : counted(match.calls, 'call'),
    },
    ownName: model === null ? null : ownName,
    canSync: model !== null && !hasPrice(price) && price.none === 'no_entry' && unpriced > 0,
    // One's own price is changed under the name that it is kept under.
    priced: model === null ? null : pricedModel(ownName ?? model, ownName === null ? upstream : null, met),
  }
}

/** A price that is known, whether a call met it or not. */
export function knownLine({ name, entry, isOverride }: KnownPrice, { times, nowMs }: PriceClock): PriceLine {
  const { provider, mode, updated_at: updatedAt, removed_at: removedAt, prices } = entry
  const inForce = periodAt(entry, nowMs)
  const period = inForce ?? prices[0] ?? null
  const source = period?.source ?? entry.source
  return {
    key: `${isOverride} ${name}`,
    name,
    about: [provider, mode].filter((word) => word !== undefined).join(' · '),
    price: period && {
      period,
      source: sourceWords(source),
      date: sourceDate(source, updatedAt, times, nowMs),
      notes: [
        ...sinceWords(period.effective_from, times),
        ...(removedAt === undefined
          ? []
          : [`No longer listed since ${times.day(Date.parse(removedAt))}; its last price goes on`]),
        ...(prices.length > 1
          ? [`${count(prices.length)} prices over time; calls keep that of their day`]
          : []),
      ],
    },
    why: '',
    isCalm: true,
    spent: null,
    ownName: isOverride ? name : null,
    canSync: false,
    priced: isOverride ? pricedModel(name, null, inForce) : null,
  }
}

function pricedModel(name: string, upstream: string | null, period: TieredPrice | null): PricedModel {
  if (period === null) return { name, upstream, rates: null, hasMore: false }
  return { name, upstream, rates: baseRates(period), hasMore: moreTiers(period) > 0 }
}

function sinceWords(from: string | null, times: Times): readonly string[] {
  const ms = from === null ? Number.NaN : Date.parse(from)
  return Number.isNaN(ms) ? [] : [`In force since ${times.full(ms)}`]
}

/** Chooses and sorts the models that can need a price, each of one upstream. */
export function listedMatches(
  matches: readonly CostMatch[],
  models: readonly string[],
  search: string,
): readonly CostMatch[] {
  const wanted = search.toLowerCase()
  return matches
    .filter(({ model }) => models.length === 0 || (model !== null && models.includes(model)))
    .filter((match) => wanted === '' || namesOf(match).some((name) => name.toLowerCase().includes(wanted)))
    .toSorted(
      (one, other) =>
        urgency(one) - urgency(other) ||
        (other.cost_usd ?? -1) - (one.cost_usd ?? -1) ||
        other.calls - one.calls,
    )
}

/** First what keeps calls from being priced, then what would keep the next ones. */
function urgency({ price, unpriced_calls: unpriced }: CostMatch): number {
  return hasPrice(price) ? 2 : unpriced > 0 ? 0 : 1
}

function namesOf({ model, response_model: answered, upstream, price }: CostMatch): readonly string[] {
  return [model, answered, upstream, hasPrice(price) ? price.key : null].filter((name) => name !== null)
}

/** A price of the list that calls need not have met. */
export interface KnownPrice {
  readonly name: string
  readonly entry: PriceEntry
  readonly isOverride: boolean
}

/** All prices that are known, one's own first, whose name has this in it. */
export function knownPrices(
  { models, overrides }: Pick<Costs, 'models' | 'overrides'>,
  search: string,
): readonly KnownPrice[] {
  const wanted = search.toLowerCase()
  const of = (entries: Readonly<Record<string, PriceEntry>>, isOverride: boolean): readonly KnownPrice[] =>
    Object.keys(entries)
      .filter((name) => name.toLowerCase().includes(wanted))
      .sort()
      .flatMap((name) => {
        const entry = entries[name]
        return entry === undefined ? [] : [{ name, entry, isOverride }]
      })
  return [...of(overrides, true), ...of(models, false)]
}

/** Calls without a price whose model has one now that held when they were made. */
export function priceableCalls(matches: readonly CostMatch[], fromMs: number): number {
  return matches.reduce((sum, { price, unpriced_calls: calls }) => {
    if (!hasPrice(price)) return sum
    const since = price.effective_from === null ? null : Date.parse(price.effective_from)
    return since === null || since <= fromMs ? sum + calls : sum
  }, 0)
}

/** The name under which one's own price is kept: for one upstream, or for all. */
export function overrideName(match: Pick<CostMatch, 'upstream' | 'model'>, isForAll: boolean): string {
  const { upstream, model } = match
  return isForAll || upstream === null ? (model ?? '') : `${hostOf(upstream)}/${model ?? ''}`
}

/** `https://api.openai.com/v1` and `api.openai.com` are the same upstream. */
export function hostOf(upstream: string): string {
  return upstream.replace(/^[a-z]+:\/\//, '').replace(/\/.*$/, '')
}
