import * as v from 'valibot'
import type { PriceEntry, PricePeriod } from '../api/costs.ts'
import { isObject } from '../lib/message-shape.ts'
import { JsonValueError, be, checked, object } from '../options/schema.ts'
import type { ModelCosts } from './model-costs.ts'
import { byTime, priceTime, timeOf } from './price-time.ts'
import { fees, ratesSchema } from './rate-bounds.ts'

/** Most characters of a model's name. */
const longestName = 512

/**
 * Sets an override for a model, or for `host[:port]/model`. The body has rates (`input`, `output`, …) in USD
 * per million tokens, fees in USD each, and perhaps `effective_from`. With `effective_from`, the price is a
 * period among others; without it, the only price, from the beginning. `now` is an instant in ISO 8601.
 * Throws {@link JsonValueError}, whose path begins with the member of the body, `body` or `name`.
 */
export function withOverride(
  costs: ModelCosts,
  name: string,
  body: unknown,
  now: string,
): { readonly costs: ModelCosts; readonly entry: PriceEntry } {
  if (!/\S/.test(name) || name.length > longestName || /\p{Cc}/u.test(name)) {
    throw mustBe('a model, or host/model', name, 'name')
  }
  if (!isObject(body)) throw mustBe('a JSON object', body, 'body')
  const period = periodIn(body)
  const key = keyOf(costs, name) ?? name
  const old = Object.hasOwn(costs.overrides, key) ? costs.overrides[key] : undefined
  const entry: PriceEntry = {
    ...old,
    source: 'user',
    updated_at: now,
    prices: period.effective_from === null ? [period] : withPeriod(old?.prices ?? [], period),
  }
  return { costs: { ...costs, overrides: { ...costs.overrides, [key]: entry } }, entry }
}

/** The prices without the override of that name; null if there is none. */
export function withoutOverride(costs: ModelCosts, name: string): ModelCosts | null {
  const key = keyOf(costs, name)
  if (key === null) return null
  const others = Object.entries(costs.overrides).filter(([entryKey]) => entryKey !== key)
  return { ...costs, overrides: Object.fromEntries(others) }
}

/** The key of an override in its own spelling; `name` may differ in case. Null without one. */
function keyOf({ overrides }: ModelCosts, name: string): string | null {
  const lower = name.toLowerCase()
  return Object.keys(overrides).find((key) => key.toLowerCase() === lower) ?? null
}

/** A price as a person sets it. */
export const ownPrice = object({ ...ratesSchema, effective_from: v.optional(priceTime, null) })

function periodIn(body: unknown): PricePeriod {
  const { effective_from: from, ...rates } = checked(ownPrice, body)
  // The output rate is required, because a chat could not be priced without it; for embeddings it is 0.
  const isByFee = fees.some((fee) => fee in rates)
  for (const name of ['input', 'output'] as const) {
    if (name in rates || isByFee) continue
    throw new JsonValueError('must be given, in USD per million tokens; 0 if nothing is billed', [name])
  }
  return { effective_from: from, tiers: [{ above_input_tokens: 0, input: 0, output: 0, ...rates }] }
}

function mustBe(allowed: string, input: unknown, param: string): JsonValueError {
  return new JsonValueError(be(allowed)({ input }), [param])
}

/** The old periods and the new one, in order. The new period replaces one with the same start. */
function withPeriod(old: readonly PricePeriod[], period: PricePeriod): readonly PricePeriod[] {
  const others = old.filter((oldPeriod) => timeOf(oldPeriod.effective_from) !== timeOf(period.effective_from))
  return [...others, period].sort(byTime)
}
