import { dollars } from '../../src/lib/number-format.ts'

export * from '../../src/lib/number-format.ts'

/** Returns the cost saved by caches, as a text. The cost is negative if writes cost more than reads save. */
export function savedWords(usd: number | null): string {
  if (usd === null || usd === 0) return ''
  return usd > 0 ? `${dollars(usd)} saved` : `${dollars(-usd)} lost`
}
