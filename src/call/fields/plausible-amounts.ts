import type { NamedField } from './call-fields.ts'

/** Most tokens of one kind that one call can have used; a larger count is a fault of its source. */
export const mostTokens = 1e9

/** Most that one call can have cost, in nano-dollars: 1,000 USD. */
export const mostCostNanoUsd = 1e12

/** Some 115 days: no call lasts longer. */
const mostMicroseconds = 1e13

/** The least and the most that a field of one call can be, as its column holds it. A saving alone can be below zero. */
export function plausibleAmounts({ name, kind }: NamedField): readonly [least: number, most: number] {
  if (kind === 'time') return [0, mostMicroseconds]
  if (kind === 'cost') return [name === 'cache_saved_usd' ? -mostCostNanoUsd : 0, mostCostNanoUsd]
  return [0, name.endsWith('_tokens') || name === 'search_units' ? mostTokens : Number.MAX_SAFE_INTEGER]
}
