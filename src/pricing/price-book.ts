import type { CostPart, MatchedPrice, PriceEntry } from '../api/costs.ts'
import type { StoredCall } from '../call/call-record.ts'
import { type NamedField, type PublicFields, storedFields } from '../call/fields/call-fields.ts'
import { cacheSavedNanoUsd, costNanoUsd, costParts, type MeteredUsage, usageNames } from './cost.ts'
import type { ModelCosts } from './model-costs.ts'
import { candidateNames, exactNames } from './model-names.ts'
import { type PicoTier, type ServiceTier, serviceTierOf, tiersOf } from './price-tiers.ts'
import { timeOf } from './price-time.ts'
import { upstreamTable } from './upstream-table.ts'

const askedNames = ['upstream', 'responseModel', 'model', 'serviceTier'] as const

/**
 * The facts on which a call's price depends. `upstream` is a host, with its port if it has one; times are in
 * ms since the Unix epoch.
 */
export type AskedPrice = Pick<StoredCall, (typeof askedNames)[number]> & { readonly startedAtMs: number }

/** The facts on which a call's cost depends; null if unknown. */
export type PriceableCall = AskedPrice & MeteredUsage

/** The fields of a {@link PriceableCall}, besides its start. */
export const priceableFields: readonly NamedField[] = storedFields.filter(({ record }) =>
  [...askedNames, ...usageNames].some((name) => name === record),
)

/** The source of a cost that the upstream reported, which is never recalculated. */
export const upstreamSource = 'upstream'

/** Why there is no price. */
export type NoPrice = Extract<MatchedPrice, { readonly none: unknown }>

/** A price, and its entry. */
export interface Price {
  /** The entry's key in the file's spelling, and its period in force when the call began. */
  readonly match: Exclude<MatchedPrice, NoPrice>
  readonly isOverride: boolean
  /** The tiers, smallest bound first, with every rate filled in. */
  readonly tiers: readonly PicoTier[]
}

/** A cost and the source of its price. */
export interface BookedCost {
  readonly costNanoUsd: number
  /** The additional cost without a cache; null if unknown. */
  readonly cacheSavedNanoUsd: number | null
  readonly source: string
  readonly key: string
}

/** The match as the API shows it. */
export function matchedPrice(price: Price | NoPrice): MatchedPrice {
  return 'none' in price ? price : price.match
}

interface DatedPrice {
  readonly fromMs: number
  readonly price: Price
}

interface NamedEntry {
  readonly key: string
  readonly entry: PriceEntry
  readonly isOverride: boolean
}

/** Most answers in the cache, because clients can send any number of names. */
const mostAnswers = 5000

/** Computes the cost of calls at the prices of their start; null without a known price. Never throws. */
export type CallPricer = Pick<PriceBook, 'costOf'>

/**
 * All prices with their dates. A book is made from a file's valid content (`readModelCosts`), and never
 * changed. Prices are found only by exact names, see docs/prices.md.
 */
export class PriceBook {
  readonly #models: ReadonlyMap<string, NamedEntry>
  readonly #overrides: ReadonlyMap<string, NamedEntry>
  readonly #listingOf: ReturnType<typeof upstreamTable>
  readonly #answers = new Map<string, readonly DatedPrice[] | NoPrice>()

  constructor({ models, overrides, upstreams }: Pick<ModelCosts, 'models' | 'overrides' | 'upstreams'>) {
    this.#models = byName(models, false)
    this.#overrides = byName(overrides, true)
    this.#listingOf = upstreamTable(upstreams)
  }

  /** The price in force when the call began. Never throws. A repeated question takes well under 1 µs. */
  price(query: AskedPrice): Price | NoPrice {
    const { upstream, responseModel, model, serviceTier, startedAtMs } = query
    const question = `${upstream ?? ''}\n${responseModel ?? ''}\n${model ?? ''}\n${serviceTier ?? ''}`
    let answer = this.#answers.get(question)
    if (answer === undefined) {
      answer = this.#lookUp(query)
      if (this.#answers.size >= mostAnswers) this.#answers.clear()
      this.#answers.set(question, answer)
    }
    if ('none' in answer) return answer
    for (const { fromMs, price } of answer) if (fromMs <= startedAtMs) return price
    return noEntry
  }

  /** A call's cost; null without a known price, or if part of the usage is unknown. */
  costOf(call: PriceableCall): BookedCost | null {
    const price = this.price(call)
    if ('none' in price) return null
    const cost = costNanoUsd(call, price)
    if (cost === null) return null
    const saved = cacheSavedNanoUsd(call, price, cost)
    const { source, key } = price.match
    return { costNanoUsd: cost, cacheSavedNanoUsd: saved, source, key }
  }

  /** The parts of a recorded call's cost; null if its price is no longer in force. */
  partsOf(call: PublicFields & { readonly started_at: string }): readonly CostPart[] | null {
    const facts = Object.fromEntries(priceableFields.map(({ name, record }) => [record, call[name]]))
    const usage = { ...facts, startedAtMs: Date.parse(call.started_at) } as PriceableCall
    const price = this.price(usage)
    if ('none' in price || price.match.source !== call.price_source || price.match.key !== call.price_key)
      return null
    const isSame = costNanoUsd(usage, price) === Math.round((call.cost_usd ?? -1) * 1e9)
    return isSame ? costParts(usage, price) : null
  }

  /**
   * The prices of all matching entries, best match first, and of each entry the newest first. A price may
   * begin after the call.
   */
  #lookUp({ upstream, responseModel, model, serviceTier }: AskedPrice): readonly DatedPrice[] | NoPrice {
    const exact = exactNames(responseModel, model)
    if (exact.length === 0) return { none: 'no_model' }
    const tier = serviceTierOf(serviceTier)
    const listing = this.#listingOf(upstream)
    const prefix = typeof listing === 'string' ? '' : listing.prefix
    const overrides = [
      ...(upstream === null ? [] : exact.map((name) => `${upstream}/${name}`)),
      ...exact,
      // The list's own keys, which people see with a price.
      ...exact.map((name) => `${prefix}${name}`),
    ].map((name) => this.#overrides.get(name.toLowerCase()))
    const listedEntries =
      typeof listing === 'string'
        ? []
        : candidateNames(responseModel, model)
            .map((name) => this.#models.get(`${listing.prefix}${name}`.toLowerCase()))
            .filter((named) => named?.entry.provider === listing.provider)
    const matches = [...overrides, ...listedEntries].filter((named) => named !== undefined)
    if (matches.length > 0) return [...new Set(matches)].flatMap((named) => historyOf(named, tier))
    return typeof listing === 'string' ? { none: listing } : noEntry
  }
}

const noEntry: NoPrice = { none: 'no_entry' }

function historyOf(
  { key, entry, isOverride }: NamedEntry,
  serviceTier: ServiceTier | null,
): readonly DatedPrice[] {
  return entry.prices
    .map((period) => {
      const { effective_from, tiers, service_tiers, source = entry.source } = period
      const updated_at = entry.updated_at ?? null
      const match = {
        key,
        source,
        effective_from,
        updated_at,
        tiers,
        ...(service_tiers && { service_tiers }),
      }
      const price = { match, isOverride, tiers: tiersOf(period, serviceTier) }
      return { fromMs: timeOf(effective_from), price }
    })
    .sort((a, b) => b.fromMs - a.fromMs)
}

/** Entries by name without case. If names differ only in case, the first counts. */
function byName(entries: Readonly<Record<string, PriceEntry>>, isOverride: boolean): Map<string, NamedEntry> {
  const map = new Map<string, NamedEntry>()
  for (const [key, entry] of Object.entries(entries)) {
    const name = key.toLowerCase()
    if (!map.has(name)) map.set(name, { key, entry, isOverride })
  }
  return map
}
