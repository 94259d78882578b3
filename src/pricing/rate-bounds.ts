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

/** No model costs more, in USD per million tokens or each: what does is a wrong number. The dearest known costs 600. */
export const mostUsd = 1000

/** A rate is for this many tokens. */
const tokensPerRate = 1e6

/**
 * A rate for the price file, in USD per million tokens, rounded to six decimals (a pico-dollar per token): lists have the
 * noise of divided floats. Takes a number, or the same as a decimal string, per so many tokens; null if it is neither,
 * or out of bounds.
 */
export function rateOf(value: unknown, perTokens: number = tokensPerRate): number | null {
  return usdOf(value, tokensPerRate / perTokens, 1e6)
}

/** A fee for the price file, in USD, rounded to twelve decimals (a pico-dollar). */
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

/** Rates and fees as a person writes them, any of them left out. */
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
