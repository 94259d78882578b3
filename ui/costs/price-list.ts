import type { CostMatch, Costs, PriceEntry } from '../../src/api/costs.ts'
import { hasPrice } from './price-words.ts'

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
