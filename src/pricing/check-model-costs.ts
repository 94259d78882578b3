import type { PriceEntry, PricePeriod, PriceSync, Rates, RateTier } from '../api/costs.ts'
import { type CheckedValue, WrongValue } from './checked-value.ts'
import {
  type ModelCosts,
  neverSynced,
  noPrices,
  type PriceListSource,
  type UpstreamPrices,
} from './model-costs.ts'
import { parseIsoInstant } from '../lib/iso-instant.ts'
import { feeOf, fees, mostUsd, rateOf, tokenRates } from './rate-bounds.ts'
import { isSimpleForm, simpleEntry, simpleForm } from './simple-form.ts'

/** The content of a price file, in today's form and rounded. Throws `WrongValue` at the first thing that is wrong. */
export function checkModelCosts(root: CheckedValue): ModelCosts {
  if (isSimpleForm(root)) return { ...noPrices, overrides: distinct(simpleForm(root)) }
  const file = root.members([
    'version',
    'currency',
    'unit',
    'synced_at',
    'source',
    'sync',
    'upstreams',
    'models',
    'overrides',
  ])
  if (file.version.isAbsent) throw file.version.wrong('1')
  file.version.optional([1])
  file.currency.optional(['USD'])
  file.unit.optional(['usd_per_million_tokens'])
  const models = file.models.isAbsent ? [] : file.models.entries()
  const overrides = file.overrides.isAbsent ? [] : file.overrides.entries()
  // An entry in the older form counts wherever the model runs, as an override does.
  const simple = models.filter(({ value }) => value.isArray)
  const known = new Set(overrides.map(({ name }) => name.toLowerCase()))
  return {
    ...root.remarks(),
    ...noPrices,
    synced_at: file.synced_at.isAbsent ? null : time(file.synced_at),
    source: listSource(file.source),
    sync: sync(file.sync),
    upstreams: file.upstreams.isAbsent ? {} : fromEntries(file.upstreams.entries(), upstream),
    models: fromEntries(
      models.filter(({ value }) => !value.isArray),
      listedEntry,
    ),
    overrides: distinct([
      ...overrides.map(({ name, value }) => ({
        name,
        value,
        entry: value.isArray ? simpleEntry(value) : entry(value),
      })),
      ...simple
        .filter(({ name }) => !known.has(name.toLowerCase()))
        .map(({ name, value }) => ({ name, value, entry: simpleEntry(value) })),
    ]),
  }
}

function fromEntries<T>(
  members: readonly { readonly name: string; readonly value: CheckedValue }[],
  check: (value: CheckedValue) => T,
): Readonly<Record<string, T>> {
  return Object.fromEntries(members.map(({ name, value }) => [name, check(value)]))
}

/** Overrides are found whatever the case: two that differ in nothing else would be a riddle. */
function distinct(
  members: readonly { readonly name: string; readonly value: CheckedValue; readonly entry: PriceEntry }[],
): Readonly<Record<string, PriceEntry>> {
  const seen = new Map<string, string>()
  for (const { name, value } of members) {
    const other = seen.get(name.toLowerCase())
    if (name === '') throw new WrongValue(value.path, 'has no name', 'name')
    if (other !== undefined) {
      throw new WrongValue(value.path, `differs from ${JSON.stringify(other)} in its case alone`, 'name')
    }
    seen.set(name.toLowerCase(), name)
  }
  return Object.fromEntries(members.map(({ name, entry: one }) => [name, one]))
}

function upstream(value: CheckedValue): UpstreamPrices {
  const { prefix, provider } = value.members(['prefix', 'provider'])
  if (typeof prefix.value !== 'string') throw prefix.wrong('a text, which may be empty')
  return { prefix: prefix.value, provider: provider.text() }
}

/** One of the list is found by its provider, too. */
function listedEntry(value: CheckedValue): PriceEntry {
  const one = entry(value)
  if (one.provider === undefined)
    throw new WrongValue([...value.path, 'provider'], 'must be a text; it is missing')
  return one
}

function entry(value: CheckedValue): PriceEntry {
  const parts = value.members(['provider', 'mode', 'source', 'updated_at', 'removed_at', 'prices'])
  const prices = parts.prices.elements().map(period)
  const times = new Map<number, string | null>()
  for (const [index, { effective_from: from }] of prices.entries()) {
    const atMs = from === null ? -Infinity : (parseIsoInstant(from) ?? Infinity)
    if (times.has(atMs)) {
      throw new WrongValue([...parts.prices.path, index], 'begins when another of this list does')
    }
    times.set(atMs, from)
  }
  const updated = parts.updated_at.isAbsent ? undefined : time(parts.updated_at)
  const removed = parts.removed_at.isAbsent ? null : time(parts.removed_at)
  return {
    ...value.remarks(),
    ...(parts.provider.isAbsent ? {} : { provider: parts.provider.text() }),
    ...(parts.mode.isAbsent ? {} : { mode: parts.mode.text() }),
    source: parts.source.isAbsent ? 'user' : parts.source.text(),
    ...(updated === undefined ? {} : { updated_at: updated }),
    ...(removed === null ? {} : { removed_at: removed }),
    prices,
  }
}

const serviceTiers = ['flex', 'priority', 'batch'] as const
const rateNames: readonly (keyof Rates)[] = [...tokenRates, ...fees]
const tierNames: readonly (keyof RateTier)[] = ['above_input_tokens', 'inclusive', ...rateNames]

function period(value: CheckedValue): PricePeriod {
  const parts = value.members(['effective_from', 'tiers', 'service_tiers', 'source'])
  const base = tiers(parts.tiers, false)
  const from = parts.effective_from.isAbsent ? null : time(parts.effective_from)
  const special = parts.service_tiers.isAbsent ? null : parts.service_tiers.members(serviceTiers)
  return {
    ...value.remarks(),
    effective_from: from,
    tiers: base,
    ...(special === null
      ? {}
      : {
          service_tiers: Object.fromEntries(
            serviceTiers
              .filter((name) => !special[name].isAbsent)
              .map((name) => [name, tiers(special[name], true)]),
          ),
        }),
    ...(parts.source.isAbsent ? {} : { source: parts.source.text() }),
  }
}

/** Those of a service tier leave out what is billed as ever. */
function tiers(list: CheckedValue, isSpecial: boolean): readonly RateTier[] {
  const all = list.elements().map((value) => tier(value, isSpecial))
  const bounds = all.map(({ above_input_tokens: bound }) => bound)
  if (!bounds.includes(0)) {
    throw new WrongValue(list.path, 'must have a tier with above_input_tokens 0, for the smallest requests')
  }
  const again = bounds.findIndex((bound, index) => bounds.indexOf(bound) < index)
  if (again >= 0) {
    throw new WrongValue([...list.path, again], 'has the same above_input_tokens as another tier')
  }
  return all
}

function tier(value: CheckedValue, isSpecial: boolean): RateTier {
  const parts = value.members(tierNames)
  const { above_input_tokens: above, inclusive } = parts
  const bound = above.isAbsent ? 0 : above.value
  if (typeof bound !== 'number' || !Number.isSafeInteger(bound) || bound < 0) {
    throw above.wrong('a whole number of tokens, zero or more')
  }
  const isInclusive = inclusive.optional([true, false])
  const rates: Record<string, number> = {}
  for (const name of rateNames) {
    const part = parts[name]
    if (part.isAbsent) continue
    const isFee = fees.includes(name)
    const rate = isFee ? feeOf(part.value) : rateOf(part.value)
    if (rate === null) {
      throw part.wrong(`a number from 0 to ${mostUsd} (USD ${isFee ? 'each' : 'per million tokens'})`)
    }
    rates[name] = rate
  }
  // Larger tiers leave out what is billed as in the smallest.
  const needed = isSpecial || bound > 0 ? rateNames : (['input', ...fees] as const)
  if (!needed.some((name) => name in rates)) {
    throw new WrongValue(
      value.path,
      `has no price: it needs ${needed === rateNames ? 'a rate' : needed.join(' or ')}`,
    )
  }
  return {
    ...value.remarks(),
    above_input_tokens: bound,
    ...(isInclusive === undefined ? {} : { inclusive: isInclusive }),
    ...rates,
  }
}

/** An instant or a day, or null. */
function time(value: CheckedValue): string | null {
  if (value.value === null) return null
  if (typeof value.value === 'string' && parseIsoInstant(value.value) !== null) return value.value
  throw value.wrong('a day such as 2026-11-21, an instant such as 2026-11-21T04:00:00Z, or null')
}

/** Written by a sync: what is not as it writes it is left out rather than told. */
function listSource(value: CheckedValue): PriceListSource | null {
  if (value.isAbsent || value.value === null) return null
  const { name, url } = Object.fromEntries(value.entries().map((part) => [part.name, part.value]))
  return {
    ...(value.value as object),
    name: name === undefined ? 'user' : name.text(),
    url: typeof url?.value === 'string' ? url.value : null,
  }
}

function sync(value: CheckedValue): PriceSync {
  if (value.isAbsent) return neverSynced
  const said = new Map(value.entries().map(({ name, value: part }) => [name, part.value]))
  const text = (name: string): string | null => {
    const part = said.get(name)
    return typeof part === 'string' ? part : null
  }
  const count = (name: string): number => {
    const part = said.get(name)
    return typeof part === 'number' && Number.isSafeInteger(part) ? part : 0
  }
  return {
    state: 'idle',
    started_at: text('started_at'),
    finished_at: text('finished_at'),
    last_error: text('last_error'),
    added: count('added'),
    changed: count('changed'),
    removed: count('removed'),
  }
}
