import { type NumberFormat, pageFigures as format } from '../../src/lib/number-format.ts'

export { known, unknownFigure } from '../../src/lib/number-format.ts'

export const count: NumberFormat['count'] = format.count
export const counted: NumberFormat['counted'] = format.counted
export const shortCount: NumberFormat['shortCount'] = format.shortCount
export const duration: NumberFormat['duration'] = format.duration
export const roundDuration: NumberFormat['roundDuration'] = format.roundDuration
export const wait: NumberFormat['wait'] = format.wait
export const longDuration: NumberFormat['longDuration'] = format.longDuration
export const percent: NumberFormat['percent'] = format.percent
export const roughPercent: NumberFormat['roughPercent'] = format.roughPercent
export const dollars: NumberFormat['dollars'] = format.dollars
export const exactDollars: NumberFormat['exactDollars'] = format.exactDollars
export const bytes: NumberFormat['bytes'] = format.bytes
export const speed: NumberFormat['speed'] = format.speed

/** The cost saved by caches, in dollars; negative if writes cost more than reads save. */
export function savedWords(usd: number | null): string {
  if (usd === null || usd === 0) return ''
  return usd > 0 ? `${format.dollars(usd)} saved` : `${format.dollars(-usd)} lost`
}
