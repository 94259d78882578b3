import type { Rates, RateTier } from '../../api/costs.ts'
import { fees, tokenRates } from '../../pricing/rate-bounds.ts'
import { count } from '../../lib/number-format.ts'

/** `input 0.15, output 0.6 USD per million tokens, 0.01 USD per request`. */
function rateText(rates: Rates): string {
  const tokens = tokenRates.filter((name) => rates[name] !== undefined)
  const feeNames = fees.filter((name) => rates[name] !== undefined)
  const parts = feeNames.map((name) => `${rates[name]} USD ${name.replaceAll('_', ' ')}`)
  if (tokens.length > 0) {
    const words = tokens.map((name) => `${name.replaceAll('_', ' ')} ${rates[name]}`)
    parts.unshift(`${words.join(', ')} USD per million tokens`)
  }
  return parts.join(', ')
}

/** A line for each tier, with the size of the requests that it bills. */
export function tierLines(tiers: readonly RateTier[]): readonly string[] {
  return tiers
    .toSorted((a, b) => a.above_input_tokens - b.above_input_tokens)
    .map((tier) => {
      const { above_input_tokens: bound, inclusive = false } = tier
      if (bound === 0) return rateText(tier)
      const tokens = count(bound)
      const size = inclusive ? `from ${tokens} input tokens on` : `above ${tokens} input tokens`
      return `${size}, the whole request: ${rateText(tier)}`
    })
}
