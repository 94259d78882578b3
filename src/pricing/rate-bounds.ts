import * as v from 'valibot'
import type { Rates } from '../api/costs.ts'
import { count } from '../lib/number-format.ts'
import { be } from '../options/schema.ts'

/** Rates in USD per million tokens. */
export const tokenRates: readonly (keyof Rates)[] = [
  'input',
  'output',
  'cache_read',
  'cache_write',
  'cache_write_1h',
  'reasoning',
  'input_audio',
  'output_audio',
  'image',
]

/** Rates in USD each. */
export const fees: readonly (keyof Rates)[] = ['per_request', 'per_search_unit', 'per_second']

/** Highest plausible rate, in USD per million tokens or each. The highest known rate is 600. */
export const mostUsd = 1000

/** The number of tokens for which rates in the price file are given. */
const tokensPerRate = 1e6

/**
 * A rate for the price file, in USD per million tokens, rounded to six decimals (a pico-dollar per token),
 * because lists have rounding noise. `value` is a number or a decimal string, in USD per `perTokens` tokens.
 * Null for any other value, or one out of bounds.
 */
export function rateOf(value: unknown, perTokens: number = tokensPerRate): number | null {
  return usdOf(value, tokensPerRate / perTokens, 1e6)
}

/** A fee for the price file, in USD, rounded to twelve decimals (a pico-dollar); null if it is out of bounds. */
export function feeOf(value: unknown): number | null {
  return usdOf(value, 1, 1e12)
}

function usdOf(value: unknown, factor: number, partsOfADollar: number): number | null {
  const isDecimal = typeof value === 'string' && /^\d+(?:\.\d+)?(?:e-?\d+)?$/i.test(value)
  const usd = typeof value === 'number' || isDecimal ? Number(value) * factor : Number.NaN
  return usd >= 0 && usd <= mostUsd ? Math.round(usd * partsOfADollar) / partsOfADollar : null
}

function written(unit: string, read: (value: unknown) => number | null) {
  const allowed = be(`a number from 0 to ${count(mostUsd)} (${unit})`)
  return v.pipe(
    v.union([v.pipe(v.number(), v.minValue(0, allowed), v.maxValue(mostUsd, allowed)), v.string()], allowed),
    v.check((value) => read(value) !== null, allowed),
    v.transform((value) => read(value) ?? 0),
    v.description(unit),
  )
}

/** The schema of a rate that a person wrote. */
export const rate = written('USD per million tokens', (value) => rateOf(value))

const fee = v.exactOptional(written('USD each', feeOf))
const optionalRate = v.exactOptional(rate)

/** The schemas of rates and fees that a person wrote; each is optional. */
export const ratesSchema = {
  input: optionalRate,
  output: optionalRate,
  cache_read: optionalRate,
  cache_write: optionalRate,
  cache_write_1h: optionalRate,
  reasoning: optionalRate,
  input_audio: optionalRate,
  output_audio: optionalRate,
  image: optionalRate,
  per_request: fee,
  per_search_unit: fee,
  per_second: fee,
}
