import { dollars, orDash } from '../../src/lib/number-format.ts'

export * from '../../src/lib/number-format.ts'

/** Returns two figures that belong together, in and out: `444 / 1,023`. An unknown one is a dash. */
export function pair(first: number | null, second: number | null, words: (value: number) => string): string {
  return `${orDash(first, words)} / ${orDash(second, words)}`
}

/** Returns the cost saved by caches, as a text. The cost is negative if writes cost more than reads save. */
export function savedWords(usd: number | null): string {
  if (usd === null || usd === 0) return ''
  return usd > 0 ? `${dollars(usd)} saved` : `${dollars(-usd)} lost`
}
