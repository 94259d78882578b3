import { dollars } from '../../src/lib/number-format.ts'

export * from '../../src/lib/number-format.ts'

/** The cost saved by caches, in dollars; negative if writes cost more than reads save. */
export function savedWords(usd: number | null): string {
  if (usd === null || usd === 0) return ''
  return usd > 0 ? `${dollars(usd)} saved` : `${dollars(-usd)} lost`
}
