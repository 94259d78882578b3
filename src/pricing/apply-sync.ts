import { isDeepStrictEqual } from 'node:util'
import type { PriceEntry, PricePeriod, RateTier, SyncResult, PriceListSource } from '../api/costs.ts'
import type { ModelCosts } from './model-costs.ts'
import { type ListedPrice, type PriceList, PriceListError } from './price-list.ts'
import { serviceTiers, tiersOf } from './price-tiers.ts'
import { byTime, timeOf } from './price-time.ts'

/**
 * The book after a sync. `changed` are models whose price is another since this sync; `removed` those that the list has no
 * more, whose last price stays in force; `rejected` entries of the list that were left out.
 */
export interface SyncOutcome extends Pick<SyncResult, 'added' | 'changed' | 'removed' | 'rejected'> {
  readonly costs: ModelCosts
}

/** A list that is shorter than this part of what it was is taken for half a file. */
const leastShare = 0.7

/** A list in which so large a part of the prices is out of bounds has another unit than ours. */
const mostBadShare = 0.3

/** The same check for prices that rose or fell by this factor, if enough are known. */
const oddFactor = 10
const enoughKnown = 20

/**
 * Brings the book up to date with a list. A price that differs is a new period from now on: what calls cost before stays.
 * Where the entry was another list's, the price in force is replaced, as two lists that disagree are no change of price.
 * Overrides are left alone. `now` is an instant in ISO 8601. Throws {@link PriceListError} of a list that can hardly be
 * right.
 */
export function applySync(
  costs: ModelCosts,
  list: PriceList,
  source: PriceListSource,
  now: string,
): SyncOutcome {
  const refused = refusal(costs, list, source)
  if (refused !== null) throw new PriceListError(`${refused} The prices were left as they are.`)
  const models = new Map(Object.entries(costs.models))
  let [added, changed, removed] = [0, 0, 0]
  for (const [name, listed] of list.models) {
    const old = models.get(name)
    if (old === undefined) added += 1
    const prices = pricesAfter(old, listed, source.name, now)
    if (old?.source === source.name && prices !== old.prices) changed += 1
    const { removed_at: _listedAgain, ...other }: Partial<PriceEntry> = old ?? {}
    const { provider, mode } = listed
    models.set(name, { ...other, provider, mode, source: source.name, updated_at: now, prices })
  }
  const rejected = new Set(list.rejected.map(({ name }) => name))
  for (const [name, entry] of models) {
    const isGone = entry.source === source.name && !list.models.has(name) && !rejected.has(name)
    if (!isGone || entry.removed_at !== undefined) continue
    models.set(name, { ...entry, removed_at: now })
    removed += 1
  }
  const counts = { added, changed, removed }
  return {
    costs: {
      ...costs,
      synced_at: now,
      source: { ...source, entries: list.models.size, rejected: rejected.size },
      sync: { ...costs.sync, state: 'idle', finished_at: now, last_error: null, ...counts },
      models: Object.fromEntries([...models].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))),
    },
    ...counts,
    rejected: rejected.size,
  }
}

function refusal(
  costs: ModelCosts,
  { models, rejected }: PriceList,
  { name }: PriceListSource,
): string | null {
  if (models.size === 0) return 'The list has no price in it.'
  const bad = rejected.filter(({ reason }) => reason === 'bad_number').length
  if (bad > mostBadShare * (bad + models.size)) {
    return `${bad} of ${bad + models.size} prices in the list are out of bounds.`
  }
  const before = Object.values(costs.models).filter(
    ({ source, removed_at: removed }) => source === name && removed === undefined,
  ).length
  if (models.size < leastShare * before) return `The list has ${models.size} prices; it had ${before}.`
  const known = factors(costs.models, models)
  const odd = known.filter((factor) => factor > oddFactor || factor < 1 / oddFactor).length
  if (known.length >= enoughKnown && odd > known.length / 2) {
    return `${odd} of ${known.length} known prices would be more than ${oddFactor} times as high or as low.`
  }
  return null
}

/** By how much the prices of models differ whose prices were known before. */
function factors(before: ModelCosts['models'], after: PriceList['models']): readonly number[] {
  return Object.entries(before)
    .map(([name, { prices }]) => baseInput(after.get(name)?.tiers) / baseInput(prices.at(-1)?.tiers))
    .filter((factor) => factor > 0 && factor < Infinity)
}

function baseInput(tiers: readonly RateTier[] | undefined): number {
  return tiers?.find(({ above_input_tokens: above }) => above === 0)?.input ?? 0
}

/** The entry's prices; the very same if nothing is new. */
function pricesAfter(
  old: PriceEntry | undefined,
  listed: ListedPrice,
  source: string,
  now: string,
): readonly PricePeriod[] {
  if (old === undefined) return [periodOf(listed, null)]
  const nowMs = timeOf(now)
  const ordered = old.prices.toSorted(byTime)
  const index = ordered.findLastIndex(({ effective_from: from }) => timeOf(from) <= nowMs)
  const inForce = ordered[index]
  const earlier = ordered.slice(0, Math.max(index, 0))
  const later = ordered.slice(index + 1)
  if (old.source !== source) {
    const sourced = earlier.map((period) => ({ ...period, source: period.source ?? old.source }))
    return [...sourced, periodOf(listed, inForce?.effective_from ?? null)]
  }
  if (inForce !== undefined && isSame(inForce, listed)) return old.prices
  const isReplaced = inForce !== undefined && timeOf(inForce.effective_from) === nowMs
  const before = isReplaced || inForce === undefined ? earlier : [...earlier, inForce]
  return [...before, periodOf(listed, now), ...later]
}

function periodOf({ tiers, service_tiers: service }: ListedPrice, from: string | null): PricePeriod {
  return { effective_from: from, tiers, ...(service === undefined ? {} : { service_tiers: service }) }
}

/** Says if both bill the same, however they are written. */
function isSame(period: PricePeriod, listed: ListedPrice): boolean {
  return [null, ...serviceTiers].every((tier) =>
    isDeepStrictEqual(tiersOf(period, tier), tiersOf(periodOf(listed, null), tier)),
  )
}
