import type { NamedField } from './call-fields.ts'

/** Most tokens of one kind in one call. A larger count is an error of its source. */
export const mostTokens = 1e9

/** Most that one call can have cost, in nano-dollars: 1,000 USD. */
export const mostCostNanoUsd = 1e12

/** No call lasts longer: some 115 days. */
const mostMicroseconds = 1e13

/** The least and the most plausible value of a field, in the units of its column. Only a saving can be negative. */
export function plausibleAmounts({ name, kind }: NamedField): readonly [least: number, most: number] {
  if (kind === 'time') return [0, mostMicroseconds]
  if (kind === 'cost') return [name === 'cache_saved_usd' ? -mostCostNanoUsd : 0, mostCostNanoUsd]
  return [0, name.endsWith('_tokens') || name === 'search_units' ? mostTokens : Number.MAX_SAFE_INTEGER]
}
