import { isDeepStrictEqual } from 'node:util'
import type { PriceEntry, PricePeriod, RateTier, SyncResult, PriceListSource } from '../api/costs.ts'
import type { ModelCosts } from './model-costs.ts'
import { type ListedPrice, type PriceList, PriceListError } from './price-list.ts'
import { serviceTiers, tiersOf } from './price-tiers.ts'
import { byTime, timeOf } from './price-time.ts'

/**
 * The result of a sync. `changed`: models with another price. `removed`: models that the list no longer has;
 * their last price stays in force. `rejected`: entries of the list that were left out.
 */
export interface SyncOutcome extends Pick<SyncResult, 'added' | 'changed' | 'removed' | 'rejected'> {
  readonly costs: ModelCosts
}

/** A list with less than this share of its earlier entries counts as incomplete. */
const leastShare = 0.7

/** A list with more than this share of prices out of bounds counts as a list in another unit. */
const mostBadShare = 0.3

/**
 * A price that rises or falls by this factor is odd; too many odd prices count as another unit, if enough
 * prices are known.
 */
const oddFactor = 10
const enoughKnown = 20

/**
 * Updates the prices from a list. A different price begins a new period from `now` (ISO 8601), so that the
 * cost of earlier calls stays. If the entry came from another list, the price in force is replaced, because a
 * disagreement of lists is no change of price. Overrides stay. Throws {@link PriceListError} for a list that
 * is hardly right.
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
    const { removed_at: _listedAgain, ...oldEntry }: Partial<PriceEntry> = old ?? {}
    const { provider, mode } = listed
    models.set(name, { ...oldEntry, provider, mode, source: source.name, updated_at: now, prices })
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
  if (models.size === 0) return 'The list has no prices.'
  const bad = rejected.filter(({ reason }) => reason === 'bad_number').length
  if (bad > mostBadShare * (bad + models.size)) {
    return `${bad} of ${bad + models.size} prices in the list are out of bounds.`
  }
  const before = Object.values(costs.models).filter(
    ({ source, removed_at: removed }) => source === name && removed === undefined,
  ).length
  if (models.size < leastShare * before) return `The list has ${models.size} prices; it had ${before}.`
  const changeFactors = factors(costs.models, models)
  const odd = changeFactors.filter((factor) => factor > oddFactor || factor < 1 / oddFactor).length
  if (changeFactors.length >= enoughKnown && odd > changeFactors.length / 2) {
    return `${odd} of ${changeFactors.length} known prices would be more than ${oddFactor} times as high or as low.`
  }
  return null
}

/** The factors by which known prices would change. */
function factors(before: ModelCosts['models'], after: PriceList['models']): readonly number[] {
  return Object.entries(before)
    .map(([name, { prices }]) => baseInput(after.get(name)?.tiers) / baseInput(prices.at(-1)?.tiers))
    .filter((factor) => factor > 0 && factor < Infinity)
}

function baseInput(tiers: readonly RateTier[] | undefined): number {
  return tiers?.find(({ above_input_tokens: above }) => above === 0)?.input ?? 0
}

/** The prices of an entry after a sync; the same array if nothing has changed. */
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

/** True if both bill the same, even if they are written differently. */
function isSame(period: PricePeriod, listed: ListedPrice): boolean {
  return [null, ...serviceTiers].every((tier) =>
    isDeepStrictEqual(tiersOf(period, tier), tiersOf(periodOf(listed, null), tier)),
  )
}
