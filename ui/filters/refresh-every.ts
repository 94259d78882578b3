import { type Range, lastRanges } from '../data/page-address.ts'

/**
 * How often figures of a range are asked for anew, in milliseconds; null where what has been asked for once stays as
 * it is. The longer the range, the less a minute changes in it.
 */
export function refreshEveryMs(range: Range): number | null {
  if (range.last === null) return null
  const lengthMs = lastRanges[range.last]
  if (lengthMs <= lastRanges['1h']) return 10_000
  return lengthMs <= lastRanges['24h'] ? 30_000 : 300_000
}
