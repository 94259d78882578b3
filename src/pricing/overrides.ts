import type { PriceEntry, PricePeriod, RateTier } from '../api/costs.ts'
import type { ModelCosts } from './model-costs.ts'
import { parseIsoInstant } from '../lib/iso-instant.ts'
import { feeOf, fees, mostUsd, rateOf, tokenRates } from './rate-bounds.ts'

/** What is wrong with a price that somebody sets. */
export interface OverrideProblem {
  readonly param: string
  /** Completes "… must be". */
  readonly allowed: string
  /** Undefined where it is missing. */
  readonly got: unknown
}

export type OverrideReading =
  | { readonly costs: ModelCosts; readonly entry: PriceEntry }
  | { readonly problem: OverrideProblem }

const longestName = 512

/**
 * Sets one's own price of a model, or of `host[:port]/model`. The body has rates (`input`, `output`, …) in USD per million
 * tokens, fees in USD each, and perhaps `effective_from`. With it, the price is a period among others; without it, it is
 * the only one, from the beginning. `now` is an instant in ISO 8601.
 */
export function withOverride(costs: ModelCosts, name: string, body: unknown, now: string): OverrideReading {
  if (!/\S/.test(name) || name.length > longestName || /\p{Cc}/u.test(name)) {
    return { problem: { param: 'name', allowed: 'a model, or host/model', got: name } }
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return { problem: { param: 'body', allowed: 'a JSON object', got: body } }
  }
  const said = Object.entries(body).filter(([, value]) => value !== undefined)
  const fields = new Map<string, unknown>(said)
  const period = periodIn(fields)
  if ('problem' in period) return period
  const key = keyOf(costs, name) ?? name
  const old = Object.hasOwn(costs.overrides, key) ? costs.overrides[key] : undefined
  const entry: PriceEntry = {
    ...old,
    source: 'user',
    updated_at: now,
    prices: period.effective_from === null ? [period] : withPeriod(old, period),
  }
  return { costs: { ...costs, overrides: { ...costs.overrides, [key]: entry } }, entry }
}

/** Without one's own price of that name; null where there is none. */
export function withoutOverride(costs: ModelCosts, name: string): ModelCosts | null {
  const key = keyOf(costs, name)
  if (key === null) return null
  const others = Object.entries(costs.overrides).filter(([other]) => other !== key)
  return { ...costs, overrides: Object.fromEntries(others) }
}

/** As it is spelled there: names are found whatever their case. */
function keyOf({ overrides }: ModelCosts, name: string): string | null {
  const lower = name.toLowerCase()
  return Object.keys(overrides).find((key) => key.toLowerCase() === lower) ?? null
}

const names: readonly string[] = [...tokenRates, ...fees, 'effective_from']

function periodIn(fields: ReadonlyMap<string, unknown>): PricePeriod | { problem: OverrideProblem } {
  const rates: Record<string, number> = {}
  for (const [name, value] of fields) {
    if (!names.includes(name)) return wrong(name, `one of ${names.join(', ')}`, name)
    if (name === 'effective_from') continue
    const isFee = fees.some((fee) => fee === name)
    const rate = isFee ? feeOf(value) : rateOf(value)
    const unit = isFee ? 'USD each' : 'USD per million tokens'
    if (rate === null) return wrong(name, `a number from 0 to ${mostUsd} (${unit})`, value)
    rates[name] = rate
  }
  // Without a price of its output a chat could never be priced; for embeddings it is 0.
  const isByFee = fees.some((fee) => fee in rates)
  for (const name of ['input', 'output']) {
    if (!(name in rates) && !isByFee) {
      return wrong(name, 'given, in USD per million tokens; 0 where nothing is billed for it', undefined)
    }
    rates[name] ??= 0
  }
  const from = fields.get('effective_from') ?? null
  if (from !== null && (typeof from !== 'string' || parseIsoInstant(from) === null)) {
    return wrong(
      'effective_from',
      'a day such as 2026-11-21, or an instant such as 2026-11-21T04:00:00Z',
      from,
    )
  }
  const tier: RateTier = { above_input_tokens: 0, ...rates }
  return { effective_from: from, tiers: [tier] }
}

function wrong(param: string, allowed: string, got: unknown): { problem: OverrideProblem } {
  return { problem: { param, allowed, got } }
}

/** Among those that were there, in order; one that began at the same instant gives way. */
function withPeriod(old: PriceEntry | undefined, period: PricePeriod): readonly PricePeriod[] {
  const at = ({ effective_from: from }: PricePeriod): number =>
    from === null ? -Infinity : (parseIsoInstant(from) ?? Infinity)
  const others = (old?.prices ?? []).filter((other) => at(other) !== at(period))
  return [...others, period].sort((a, b) => at(a) - at(b))
}
