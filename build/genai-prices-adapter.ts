import type { MatchLogic, ModelInfo, ModelPrice, Provider, TieredPrices } from '@pydantic/genai-prices'
import type { PriceEntry, PricePeriod, Rates, RateTier } from '../src/api/costs.ts'
import { type ModelCosts, noPrices } from '../src/pricing/model-costs.ts'
import { EntryError, listedRate, type PriceList, readEntries } from '../src/pricing/price-list.ts'
import { knownUpstreams } from '../src/pricing/upstream-table.ts'

/** A provider, as far as it is read here. */
export type GenaiProvider = Pick<Provider, 'id' | 'models'>

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

/** Prices of tokens that usage does not report separately: a model with one cannot be priced. */
const uncountable: ReadonlySet<string> = new Set([
  'input_image_mtok',
  'output_image_mtok',
  'input_video_mtok',
  'output_video_mtok',
  'output_citation_mtok',
])

/** The prices that come with the program, made of a version of `@pydantic/genai-prices` and the instant it was published. */
export function firstBook(
  providers: readonly GenaiProvider[],
  { version, at }: { readonly version: string; readonly at: string },
): ModelCosts {
  const source = `genai-prices ${version}`
  const { models, rejected } = fromGenaiPrices(providers, { source, updatedAt: at })
  return {
    ...noPrices,
    source: {
      name: source,
      url: `https://www.npmjs.com/package/@pydantic/genai-prices/v/${version}`,
      licence: 'MIT',
      entries: models.size,
      rejected: rejected.length,
    },
    models: Object.fromEntries(models),
  }
}

/**
 * Reads the providers of `@pydantic/genai-prices`. A model stands under its id and under each name that its clauses spell
 * out, if the list would take that name for this model; what it matches by a part of a name is left out, as it would
 * give a local model a hosted one's price. So are prices that depend on the hour, and zero.
 */
export function fromGenaiPrices(
  list: readonly GenaiProvider[],
  { source, updatedAt }: { readonly source: string; readonly updatedAt: string },
): PriceList<PriceEntry> {
  // Names are found whatever their case.
  const entries = new Map<string, readonly [key: string, read: () => PriceEntry]>()
  for (const { id, models } of list) {
    const name = providerNames[id] ?? id
    const place = Object.values(knownUpstreams).find(({ provider }) => provider === name)
    if (place === undefined) continue
    const { prefix, provider } = place
    for (const model of models) {
      const read = (): PriceEntry => ({ provider, source, updated_at: updatedAt, prices: periodsOf(model) })
      for (const key of namesOf(model, models).map((name) => `${prefix}${name}`)) {
        if (!entries.has(key.toLowerCase())) entries.set(key.toLowerCase(), [key, read])
      }
    }
  }
  return readEntries([...entries.values()].sort(([a], [b]) => (a < b ? -1 : 1)))
}

function namesOf(model: ModelInfo, all: readonly ModelInfo[]): readonly string[] {
  const names = [...new Set([model.id, ...spelledOut(model.match)])]
  return names.filter((name) => all.find(({ match }) => fits(match, name)) === model)
}

function spelledOut(clause: MatchLogic): readonly string[] {
  if ('equals' in clause) return [clause.equals]
  return 'or' in clause ? clause.or.flatMap(spelledOut) : []
}

function fits(clause: MatchLogic, name: string): boolean {
  if ('or' in clause) return clause.or.some((one) => fits(one, name))
  if ('and' in clause) return clause.and.every((one) => fits(one, name))
  if ('regex' in clause) return new RegExp(clause.regex).test(name)
  const lower = name.toLowerCase()
  if ('equals' in clause) return lower === clause.equals.toLowerCase()
  if ('starts_with' in clause) return lower.startsWith(clause.starts_with.toLowerCase())
  if ('ends_with' in clause) return lower.endsWith(clause.ends_with.toLowerCase())
  return lower.includes(clause.contains.toLowerCase())
}

function periodsOf({ prices }: ModelInfo): readonly PricePeriod[] {
  if (!Array.isArray(prices)) return [{ effective_from: null, tiers: tiersOf(prices) }]
  return prices.map(({ constraint, prices: rates }) => {
    if (constraint === undefined) return { effective_from: null, tiers: tiersOf(rates) }
    if (!('start_date' in constraint)) throw new EntryError('not_expressible')
    return { effective_from: constraint.start_date, tiers: tiersOf(rates) }
  })
}

function tiersOf(rates: ModelPrice): readonly RateTier[] {
  if (Object.keys(rates).some((unit) => uncountable.has(unit))) throw new EntryError('not_expressible')
  const starts = new Set([0])
  for (const rate of Object.values(rates)) {
    if (typeof rate === 'object') for (const { start } of rate.tiers) starts.add(start)
  }
  const tiers = [...starts].sort((a, b) => a - b).map((start) => tierAt(rates, start))
  const { input, output = 0, per_request: perRequest = 0 } = tiers[0] ?? {}
  if (input === undefined || input + output + perRequest === 0) throw new EntryError('no_price')
  return tiers
}

function tierAt(rates: ModelPrice, start: number): RateTier {
  const tier: Partial<Record<keyof Rates, number>> = {}
  for (const [unit, name] of Object.entries(unitRates)) {
    const rate = rates[unit]
    const usd = typeof rate === 'object' ? priceAt(rate, start) : rate
    if (usd !== undefined) tier[name] = listedRate(name, usd, 1e6)
  }
  const perThousand = rates['requests_kcount']
  if (typeof perThousand === 'number') tier.per_request = listedRate('per_request', perThousand / 1000, 1)
  return { above_input_tokens: start, ...tier }
}

function priceAt({ base, tiers }: TieredPrices, start: number): number {
  return tiers.toSorted((a, b) => a.start - b.start).findLast((tier) => tier.start <= start)?.price ?? base
}
