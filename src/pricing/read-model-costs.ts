import * as v from 'valibot'
import type { PriceEntry, PriceProblem, PriceSync } from '../api/costs.ts'
import { placeInJson, readJson } from '../json/json-text.ts'
import { isCount, isObject, isText } from '../lib/message-shape.ts'
import {
  type Schema,
  JsonValueError,
  anyObject,
  be,
  checked,
  listOf,
  mapOf,
  object,
  objectWithRemarks,
  pathText,
  rule,
  text,
} from '../options/schema.ts'
import { type ModelCosts, neverSynced, noPrices } from './model-costs.ts'
import { byTime, priceTime, timeOf } from './price-time.ts'
import { fees, rate, ratesSchema } from './rate-bounds.ts'

export type ModelCostsReading = { readonly costs: ModelCosts } | { readonly problem: PriceProblem }

/** Reads a price file's text. Returns its content, or the first error and its place. Never throws. */
export function readModelCosts(file: string): ModelCostsReading {
  // Some editors begin a file with a byte order mark.
  const content = file.replace(/^\uFEFF/, '')
  const reading = readJson(content)
  if ('message' in reading) return { problem: reading }
  try {
    return { costs: modelCosts(reading.value) }
  } catch (error) {
    if (!(error instanceof JsonValueError)) throw error
    const { path, flaw, at } = error
    const message = `${path.length === 0 ? 'The file' : pathText(path)} ${flaw}.`
    return { problem: { message, ...placeInJson(content, path, at) } }
  }
}

const tokens = 'a whole number of tokens, zero or more'

const anyTier = objectWithRemarks({
  above_input_tokens: v.optional(
    v.pipe(
      v.number(be(tokens)),
      v.check((value) => isCount(value), be(tokens)),
    ),
    0,
  ),
  inclusive: v.exactOptional(v.boolean()),
  ...ratesSchema,
})

/** The schema of tiers. A larger tier may omit rates of the smallest; a service tier may omit ordinary rates. */
function tiers(isSpecial: boolean) {
  const tier = v.pipe(
    anyTier,
    rule((read) => {
      const isPart = isSpecial || read.above_input_tokens > 0
      const needed = isPart ? Object.keys(ratesSchema) : ['input', ...fees]
      if (needed.some((name) => name in read)) return
      throw new JsonValueError(`has no price: it needs ${isPart ? 'a rate' : needed.join(' or ')}`)
    }),
  )
  return v.pipe(
    listOf(tier),
    rule((all) => {
      const bounds = all.map(({ above_input_tokens: bound }) => bound)
      if (!bounds.includes(0)) {
        throw new JsonValueError('must have a tier with above_input_tokens 0, for the smallest requests')
      }
      const again = bounds.findIndex((bound, index) => bounds.indexOf(bound) < index)
      if (again >= 0) throw new JsonValueError('has the same above_input_tokens as another tier', [again])
    }),
  )
}

const special = v.exactOptional(tiers(true))

const period = objectWithRemarks({
  effective_from: v.optional(priceTime, null),
  tiers: tiers(false),
  service_tiers: v.exactOptional(object({ flex: special, priority: special, batch: special })),
  source: v.exactOptional(text),
})

/** Refuses two periods of a list that start at the same time. */
function distinctBegins<P extends { readonly effective_from: string | null }>() {
  return rule<readonly P[]>((periods) => {
    const begins = periods.map(({ effective_from: from }) => timeOf(from))
    const again = begins.findIndex((atMs, index) => begins.indexOf(atMs) < index)
    if (again >= 0) throw new JsonValueError('begins when another of this list does', [again])
  })
}

const entry = v.pipe(
  objectWithRemarks({
    provider: v.exactOptional(text),
    mode: v.exactOptional(text),
    source: v.optional(text, 'user'),
    updated_at: v.exactOptional(priceTime),
    removed_at: v.exactOptional(priceTime),
    prices: v.pipe(listOf(period), distinctBegins()),
  }),
  v.transform(({ removed_at: at = null, ...read }) => (at === null ? read : { ...read, removed_at: at })),
)

/** An entry of a list, which is also found by its provider. */
const listedEntry = v.pipe(
  entry,
  rule(({ provider }) => {
    if (provider === undefined) throw new JsonValueError(be('a text')({ input: undefined }), ['provider'])
  }),
)

const simplePeriod = v.pipe(
  object({
    effective_date: v.optional(priceTime, null),
    input_cost_per_million: rate,
    output_cost_per_million: rate,
    provider_source: v.optional(text, 'user'),
  }),
  v.transform((period) => {
    const { input_cost_per_million: input, output_cost_per_million: output } = period
    const tiers = [{ above_input_tokens: 0, input, output }]
    return { effective_from: period.effective_date, tiers, source: period.provider_source }
  }),
)

/** A model in the older form: a list of dated prices, of which the newest names the source. */
const simpleEntry: Schema<PriceEntry> = v.pipe(
  listOf(simplePeriod),
  distinctBegins(),
  v.transform((periods) => {
    const prices = periods.toSorted(byTime)
    return { source: prices.at(-1)?.source ?? 'user', prices }
  }),
)

function orSimple(schema: Schema<PriceEntry>): Schema<PriceEntry> {
  return v.lazy((value) => (Array.isArray(value) ? simpleEntry : schema))
}

const upstream = object({ prefix: v.string(be('a text, which may be empty')), provider: text })

/** The source, which a sync writes. Parts in another form are dropped, not refused. */
const listSource = v.nullish(
  v.pipe(
    anyObject,
    v.looseObject({ name: v.optional(text, 'user'), url: v.fallback(v.nullable(v.string()), null) }),
  ),
  null,
)

const sync = v.pipe(
  v.nullish(anyObject, {}),
  v.transform((fields) => {
    const parts = Object.entries(neverSynced).map(([name, byDefault]) => {
      const isGood = byDefault === null ? isText : isCount
      return [name, name !== 'state' && isGood(fields[name]) ? fields[name] : byDefault]
    })
    return Object.fromEntries(parts) as PriceSync
  }),
)

/**
 * True for an entry in the older form. Such an entry names no provider, so it applies at every upstream, like an
 * override.
 */
function isSimple({ provider }: PriceEntry): boolean {
  return provider === undefined
}

/** Refuses two overrides that differ only in case, because overrides are found in any case. */
function distinct(
  schema: Schema<PriceEntry>,
  isOverride: (entry: PriceEntry) => boolean = () => true,
): Schema<ModelCosts['overrides']> {
  return v.pipe(
    mapOf(schema),
    rule((entries) => {
      const spellings = new Map<string, string>()
      for (const name of Object.keys(entries).filter((key) => isOverride(entries[key] as PriceEntry))) {
        const first = spellings.get(name.toLowerCase())
        const flaw = name === '' ? 'has no name' : `differs from ${JSON.stringify(first)} in its case alone`
        if (name === '' || first !== undefined) throw new JsonValueError(flaw, [name], 'name')
        spellings.set(name.toLowerCase(), name)
      }
    }),
  )
}

const modelCostsFile = objectWithRemarks({
  version: v.literal(1),
  currency: v.optional(v.literal('USD'), 'USD'),
  unit: v.optional(v.literal('usd_per_million_tokens'), 'usd_per_million_tokens'),
  synced_at: v.optional(priceTime, null),
  source: listSource,
  sync,
  upstreams: v.optional(mapOf(upstream), {}),
  models: v.optional(distinct(orSimple(listedEntry), isSimple), {}),
  overrides: v.optional(distinct(orSimple(entry)), {}),
})

const simpleFile = distinct(simpleEntry)

/** The content of a price file, in the present form and rounded. Throws {@link JsonValueError}. */
function modelCosts(value: unknown): ModelCosts {
  if (isSimpleForm(value)) return { ...noPrices, overrides: checked(simpleFile, value) }
  const file = checked(modelCostsFile, value)
  const own = new Set(Object.keys(file.overrides).map((name) => name.toLowerCase()))
  const models = Object.entries(file.models)
  const simple = models.filter(([name, entry]) => isSimple(entry) && !own.has(name.toLowerCase()))
  return {
    ...file,
    models: Object.fromEntries(models.filter(([, entry]) => !isSimple(entry))),
    overrides: { ...file.overrides, ...Object.fromEntries(simple) },
  }
}

/** True for a file in the older form, in which every model has a list of dated prices. */
function isSimpleForm(value: unknown): boolean {
  if (!isObject(value) || 'version' in value) return false
  const entries = Object.values(value)
  return entries.length > 0 && entries.every((entry) => Array.isArray(entry))
}
