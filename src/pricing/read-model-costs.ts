import type { PriceEntry, PricePeriod, PriceProblem, PriceSync, RateTier } from '../api/costs.ts'
import { placeInJson, readJson } from '../json/json-text.ts'
import { isCount, isObject, isText } from '../lib/message-shape.ts'
import * as json from '../options/json-check.ts'
import { type JsonCheck, JsonValueError } from '../options/json-check.ts'
import {
  type ModelCosts,
  neverSynced,
  noPrices,
  type PriceListSource,
  type UpstreamPrices,
} from './model-costs.ts'
import { byTime, priceTime, timeOf } from './price-time.ts'
import type { ServiceTier } from './price-tiers.ts'
import { fees, rate, rateChecks } from './rate-bounds.ts'

export type ModelCostsReading = { readonly costs: ModelCosts } | { readonly problem: PriceProblem }

/** Reads a price file's text: its content, or the first thing that is wrong with it, with its place. Never throws. */
export function readModelCosts(file: string): ModelCostsReading {
  // Some editors begin a file with a mark of its byte order.
  const content = file.replace(/^\uFEFF/, '')
  const reading = readJson(content)
  if ('message' in reading) return { problem: reading }
  try {
    return { costs: modelCosts(reading.value) }
  } catch (error) {
    if (!(error instanceof JsonValueError)) throw error
    const { path, flaw, at } = error
    const message = `${path.length === 0 ? 'The file' : `${json.pathText(path)}:`} ${flaw}.`
    return { problem: { message, ...placeInJson(content, path, at) } }
  }
}

const withRemarks = { remarks: true }

const tokens: JsonCheck<number> = json.only(
  'a whole number of tokens, zero or more',
  (value): value is number => isCount(value),
)

const anyTier = json.object<RateTier>(
  { above_input_tokens: json.or(tokens, 0), inclusive: json.optional(json.flag), ...rateChecks },
  withRemarks,
)

/** Larger tiers leave out what is billed as in the smallest; those of a service tier what is billed as ever. */
function tiers(isSpecial: boolean): JsonCheck<readonly RateTier[]> {
  const tier: JsonCheck<RateTier> = (value) => {
    const read = anyTier(value)
    const isPart = isSpecial || read.above_input_tokens > 0
    const needed = isPart ? Object.keys(rateChecks) : ['input', ...fees]
    if (needed.some((name) => name in read)) return read
    throw new JsonValueError(`has no price: it needs ${isPart ? 'a rate' : needed.join(' or ')}`)
  }
  return (value) => {
    const all = json.listOf(tier)(value)
    const bounds = all.map(({ above_input_tokens: bound }) => bound)
    if (!bounds.includes(0)) {
      throw new JsonValueError('must have a tier with above_input_tokens 0, for the smallest requests')
    }
    const again = bounds.findIndex((bound, index) => bounds.indexOf(bound) < index)
    if (again < 0) return all
    throw new JsonValueError('has the same above_input_tokens as another tier').under(again)
  }
}

const special = json.optional(tiers(true))

const period = json.object<PricePeriod>(
  {
    effective_from: json.or(priceTime, null),
    tiers: tiers(false),
    service_tiers: json.optional(
      json.object<Partial<Record<ServiceTier, readonly RateTier[]>>>({
        flex: special,
        priority: special,
        batch: special,
      }),
    ),
    source: json.optional(json.text),
  },
  withRemarks,
)

/** Checks a list of periods, no two of which may begin at once. */
function dated(check: JsonCheck<PricePeriod>): JsonCheck<readonly PricePeriod[]> {
  return (value) => {
    const periods = json.listOf(check)(value)
    const begins = periods.map(({ effective_from: from }) => timeOf(from))
    const again = begins.findIndex((atMs, index) => begins.indexOf(atMs) < index)
    if (again < 0) return periods
    throw new JsonValueError('begins when another of this list does').under(again)
  }
}

const entry = json.object<PriceEntry>(
  {
    provider: json.optional(json.text),
    mode: json.optional(json.text),
    source: json.or(json.text, 'user'),
    updated_at: json.optional(priceTime),
    removed_at: (value) => json.optional(priceTime)(value) ?? undefined,
    prices: dated(period),
  },
  withRemarks,
)

/** An entry of a list is found by its provider, too. */
const listedEntry: JsonCheck<PriceEntry> = (value) => {
  const one = entry(value)
  if (one.provider !== undefined) return one
  throw json.mustBe('a text', undefined).under('provider')
}

const simplePeriod: JsonCheck<PricePeriod> = (value) => {
  const said = json.object({
    effective_date: json.or(priceTime, null),
    input_cost_per_million: rate,
    output_cost_per_million: rate,
    provider_source: json.or(json.text, 'user'),
  })(value)
  const { input_cost_per_million: input, output_cost_per_million: output } = said
  const tiers = [{ above_input_tokens: 0, input, output }]
  return { effective_from: said.effective_date, tiers, source: said.provider_source }
}

/** A model of the older form: a list of dated prices, the newest of which names the source. */
const simpleEntry: JsonCheck<PriceEntry> = (value) => {
  const prices = dated(simplePeriod)(value).toSorted(byTime)
  return { source: prices.at(-1)?.source ?? 'user', prices }
}

function orSimple(check: JsonCheck<PriceEntry>): JsonCheck<PriceEntry> {
  return (value) => (Array.isArray(value) ? simpleEntry(value) : check(value))
}

const upstream = json.object<UpstreamPrices>({
  prefix: json.only('a text, which may be empty', isText),
  provider: json.text,
})

/** Written by a sync: parts that are not as it writes them are left out rather than told. */
const listSource: JsonCheck<PriceListSource | null> = (value) => {
  if (value === undefined || value === null) return null
  const { name, url, ...rest } = json.only('an object', isObject)(value)
  return { ...rest, name: json.or(json.text, 'user')(name), url: isText(url) ? url : null }
}

const sync: JsonCheck<PriceSync> = (value) => {
  const said = json.only('an object', isObject)(value ?? {})
  const parts = Object.entries(neverSynced).map(([name, byDefault]) => {
    const isGood = byDefault === null ? isText : isCount
    return [name, name !== 'state' && isGood(said[name]) ? said[name] : byDefault]
  })
  return Object.fromEntries(parts) as PriceSync
}

/** An entry in the older form, which names no provider, counts wherever the model runs, as an override does. */
function isSimple({ provider }: PriceEntry): boolean {
  return provider === undefined
}

/** Overrides are found whatever the case: two that differ in nothing else would be a riddle. */
function distinct(
  check: JsonCheck<PriceEntry>,
  isOverride: (one: PriceEntry) => boolean = () => true,
): JsonCheck<ModelCosts['overrides']> {
  return (value) => {
    const entries = json.mapOf(check)(value)
    const seen = new Map<string, string>()
    for (const name of Object.keys(entries).filter((key) => isOverride(entries[key] as PriceEntry))) {
      const other = seen.get(name.toLowerCase())
      const flaw = name === '' ? 'has no name' : `differs from ${JSON.stringify(other)} in its case alone`
      if (name === '' || other !== undefined) throw new JsonValueError(flaw, { path: [name], at: 'name' })
      seen.set(name.toLowerCase(), name)
    }
    return entries
  }
}

const modelCostsFile = json.object<ModelCosts>(
  {
    version: json.oneOf([1]),
    currency: json.or(json.oneOf(['USD']), 'USD'),
    unit: json.or(json.oneOf(['usd_per_million_tokens']), 'usd_per_million_tokens'),
    synced_at: json.or(priceTime, null),
    source: listSource,
    sync,
    upstreams: json.or(json.mapOf(upstream), {}),
    models: json.or(distinct(orSimple(listedEntry), isSimple), {}),
    overrides: json.or(distinct(orSimple(entry)), {}),
  },
  withRemarks,
)

const simpleFile = distinct(simpleEntry)

/** The content of a price file, in today's form and rounded. */
const modelCosts: JsonCheck<ModelCosts> = (value) => {
  if (isSimpleForm(value)) return { ...noPrices, overrides: simpleFile(value) }
  const file = modelCostsFile(value)
  const own = new Set(Object.keys(file.overrides).map((name) => name.toLowerCase()))
  const models = Object.entries(file.models)
  const simple = models.filter(([name, one]) => isSimple(one) && !own.has(name.toLowerCase()))
  return {
    ...file,
    models: Object.fromEntries(models.filter(([, one]) => !isSimple(one))),
    overrides: { ...file.overrides, ...Object.fromEntries(simple) },
  }
}

/** Recognises a file of the older form, in which every model has a list of dated prices. */
function isSimpleForm(value: unknown): boolean {
  if (!isObject(value) || 'version' in value) return false
  const entries = Object.values(value)
  return entries.length > 0 && entries.every((one) => Array.isArray(one))
}
