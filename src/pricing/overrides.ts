import * as v from 'valibot'
import type { PriceEntry, PricePeriod } from '../api/costs.ts'
import { isObject } from '../lib/message-shape.ts'
import { JsonValueError, be, checked, object } from '../options/schema.ts'
import type { ModelCosts } from './model-costs.ts'
import { byTime, priceTime, timeOf } from './price-time.ts'
import { fees, ratesSchema } from './rate-bounds.ts'

const longestName = 512

/**
 * Sets one's own price of a model, or of `host[:port]/model`. The body has rates (`input`, `output`, …) in USD per million
 * tokens, fees in USD each, and perhaps `effective_from`. With it, the price is a period among others; without it, it is
 * the only one, from the beginning. `now` is an instant in ISO 8601. Throws {@link JsonValueError}: its path begins with
 * the member of the body, `body` or `name`, and its message names the allowed values.
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

/** Without one's own price of that name; null if there is none. */
export function withoutOverride(costs: ModelCosts, name: string): ModelCosts | null {
  const key = keyOf(costs, name)
  if (key === null) return null
  const others = Object.entries(costs.overrides).filter(([other]) => other !== key)
  return { ...costs, overrides: Object.fromEntries(others) }
}

/** The override's key in its own spelling; `name` may differ in case. */
function keyOf({ overrides }: ModelCosts, name: string): string | null {
  const lower = name.toLowerCase()
  return Object.keys(overrides).find((key) => key.toLowerCase() === lower) ?? null
}

/** A price as a person sets it. */
export const ownPrice = object({ ...ratesSchema, effective_from: v.optional(priceTime, null) })

function periodIn(body: unknown): PricePeriod {
  const { effective_from: from, ...rates } = checked(ownPrice, body)
  // Without a price of its output a chat could never be priced; for embeddings it is 0.
  const isByFee = fees.some((fee) => fee in rates)
  for (const name of ['input', 'output'] as const) {
    if (name in rates || isByFee) continue
    throw mustBe('given, in USD per million tokens; 0 if nothing is billed for it', undefined, name)
  }
  return { effective_from: from, tiers: [{ above_input_tokens: 0, input: 0, output: 0, ...rates }] }
}

function mustBe(allowed: string, input: unknown, param: string): JsonValueError {
  return new JsonValueError(be(allowed)({ input }), [param])
}

/** The old periods and the new one, in order. The new one replaces a period with the same begin. */
function withPeriod(old: readonly PricePeriod[], period: PricePeriod): readonly PricePeriod[] {
  const others = old.filter((other) => timeOf(other.effective_from) !== timeOf(period.effective_from))
  return [...others, period].sort(byTime)
}
