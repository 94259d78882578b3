import type { PriceEntry, PricePeriod, Rates, RateTier } from '../api/costs.ts'
import type { RejectedEntry } from './price-list.ts'
import { feeOf, rateOf } from './rate-bounds.ts'
import { knownUpstreams } from './upstream-table.ts'

/** How the list says which names are a model's. */
type NameClause =
  | { readonly or: readonly NameClause[] }
  | { readonly and: readonly NameClause[] }
  | { readonly equals: string }
  | { readonly starts_with: string }
  | { readonly ends_with: string }
  | { readonly contains: string }
  | { readonly regex: string }

/** By the name of the unit: USD per million or per thousand of it, perhaps in tiers of the request's input tokens. */
type GenaiRates = Readonly<
  Record<
    string,
    | number
    | undefined
    | {
        readonly base: number
        readonly tiers: readonly { readonly start: number; readonly price: number }[]
      }
  >
>

interface GenaiModel {
  readonly id: string
  readonly match: NameClause
  readonly prices:
    | GenaiRates
    | readonly {
        readonly constraint?: { readonly type: string; readonly start_date?: string }
        readonly prices: GenaiRates
      }[]
}

/** A provider of `@pydantic/genai-prices`, as far as it is read here. */
export interface GenaiProvider {
  readonly id: string
  readonly models: readonly GenaiModel[]
}

/** Providers that a later sync with LiteLLM's list, and `knownUpstreams`, have under another name. */
const providerNames: Readonly<Record<string, string>> = {
  google: 'gemini',
  'x-ai': 'xai',
  together: 'together_ai',
  fireworks: 'fireworks_ai',
  moonshotai: 'moonshot',
  voyageai: 'voyage',
}

const unitRates: Readonly<Record<string, keyof Rates>> = {
  input_mtok: 'input',
  output_mtok: 'output',
  cache_read_mtok: 'cache_read',
  cache_write_mtok: 'cache_write',
  cache_write_1h_mtok: 'cache_write_1h',
  output_reasoning_mtok: 'reasoning',
  input_audio_mtok: 'input_audio',
  output_audio_mtok: 'output_audio',
}

/** Billed by the token, but of a kind that no usage tells apart: such a model cannot be priced. */
const uncountable: ReadonlySet<string> = new Set([
  'input_image_mtok',
  'output_image_mtok',
  'input_video_mtok',
  'output_video_mtok',
  'output_citation_mtok',
])

/** What the list says, by key. */
export interface GenaiEntries {
  readonly models: ReadonlyMap<string, PriceEntry>
  readonly rejected: readonly RejectedEntry[]
}

/**
 * Reads the providers of `@pydantic/genai-prices`. A model stands under its id and under each name that its clauses spell
 * out, where the list would take that name for this model; what it matches by a part of a name is left out, as it would
 * give a local model a hosted one's price. So are prices that depend on the hour, and zero.
 */
export function fromGenaiPrices(
  list: readonly GenaiProvider[],
  { source, updatedAt }: { readonly source: string; readonly updatedAt: string },
): GenaiEntries {
  const models = new Map<string, PriceEntry>()
  const rejected: RejectedEntry[] = []
  // Names are found whatever their case.
  const taken = new Set<string>()
  for (const { id, models: listed } of list) {
    const name = providerNames[id] ?? id
    const place = Object.values(knownUpstreams).find(({ provider }) => provider === name)
    if (place === undefined) continue
    for (const model of listed) {
      const prices = periodsOf(model)
      for (const name of namesOf(model, listed)) {
        const key = `${place.prefix}${name}`
        if (taken.has(key.toLowerCase())) continue
        taken.add(key.toLowerCase())
        if (typeof prices === 'string') rejected.push({ name: key, reason: prices })
        else {
          models.set(key, { provider: place.provider, source, updated_at: updatedAt, prices })
        }
      }
    }
  }
  return { models: new Map([...models].sort(([a], [b]) => (a < b ? -1 : 1))), rejected }
}

function namesOf(model: GenaiModel, all: readonly GenaiModel[]): readonly string[] {
  const names = [...new Set([model.id, ...spelledOut(model.match)])]
  return names.filter((name) => all.find(({ match }) => fits(match, name)) === model)
}

function spelledOut(clause: NameClause): readonly string[] {
  if ('equals' in clause) return [clause.equals]
  return 'or' in clause ? clause.or.flatMap(spelledOut) : []
}

function fits(clause: NameClause, name: string): boolean {
  if ('or' in clause) return clause.or.some((one) => fits(one, name))
  if ('and' in clause) return clause.and.every((one) => fits(one, name))
  if ('regex' in clause) return new RegExp(clause.regex).test(name)
  const lower = name.toLowerCase()
  if ('equals' in clause) return lower === clause.equals.toLowerCase()
  if ('starts_with' in clause) return lower.startsWith(clause.starts_with.toLowerCase())
  if ('ends_with' in clause) return lower.endsWith(clause.ends_with.toLowerCase())
  return lower.includes(clause.contains.toLowerCase())
}

function periodsOf({ prices }: GenaiModel): readonly PricePeriod[] | RejectedEntry['reason'] {
  if (!Array.isArray(prices)) {
    const tiers = tiersOf(prices as GenaiRates)
    return typeof tiers === 'string' ? tiers : [{ effective_from: null, tiers }]
  }
  const periods: PricePeriod[] = []
  for (const { constraint, prices: rates } of prices) {
    const tiers = tiersOf(rates)
    if (typeof tiers === 'string') return tiers
    if (constraint !== undefined && constraint.start_date === undefined) return 'not_expressible'
    periods.push({ effective_from: constraint?.start_date ?? null, tiers })
  }
  return periods
}

function tiersOf(rates: GenaiRates): readonly RateTier[] | RejectedEntry['reason'] {
  if (Object.keys(rates).some((unit) => uncountable.has(unit))) return 'not_expressible'
  const starts = new Set([0])
  for (const rate of Object.values(rates)) {
    if (typeof rate === 'object') for (const { start } of rate.tiers) starts.add(start)
  }
  const tiers: RateTier[] = []
  for (const start of [...starts].sort((a, b) => a - b)) {
    const tier: Record<string, number> = {}
    for (const [unit, name] of Object.entries(unitRates)) {
      const rate = rates[unit]
      const usd = typeof rate === 'object' ? priceAt(rate, start) : rate
      if (usd === undefined) continue
      const rounded = rateOf(usd)
      if (rounded === null) return 'bad_number'
      tier[name] = rounded
    }
    const perThousand = rates['requests_kcount']
    const fee = typeof perThousand === 'number' ? feeOf(perThousand / 1000) : undefined
    if (fee === null) return 'bad_number'
    if (fee !== undefined) tier['per_request'] = fee
    tiers.push({ above_input_tokens: start, ...tier })
  }
  const [base] = tiers
  const { input, output = 0, per_request: perRequest = 0 } = base ?? {}
  return input === undefined || input + output + perRequest === 0 ? 'no_price' : tiers
}

function priceAt(
  { base, tiers }: { readonly base: number; readonly tiers: readonly { start: number; price: number }[] },
  start: number,
): number {
  return tiers.toSorted((a, b) => a.start - b.start).findLast((tier) => tier.start <= start)?.price ?? base
}
