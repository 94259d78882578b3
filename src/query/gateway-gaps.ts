import type { HistoryReader, MinuteSpan, SlotUse } from '../call/call-reader.ts'

/**
 * Widest bucket in minutes that is searched for every gap. In wider buckets the search takes long, and a
 * short gap is invisible.
 */
const searchedMinutes = 60
/** Share of a wider bucket that must be missing. */
const visiblePart = 1 / 24

/**
 * Spans of a range in which no gateway ran, or none could record a minute. `use` has the range's buckets.
 * Excluded are the time before the first recorded minute, and `nowMinute` and the minute before it, which may
 * not be recorded yet. In buckets of over an hour, short gaps, and gaps that another gateway covers, may be
 * missing.
 */
export async function gatewayGaps(
  history: Pick<HistoryReader, 'missingMinutes' | 'ranBefore'>,
  use: readonly SlotUse[],
  bucketMinutes: number,
  [fromMinute, pastMinute]: MinuteSpan,
  nowMinute: number,
): Promise<readonly MinuteSpan[]> {
  const gaps: MinuteSpan[] = []
  let ranUntil = (await history.ranBefore(fromMinute)) ? fromMinute : null
  for (const bucket of use) {
    const { minutes, firstMinute, lastMinute } = bucket
    if (minutes === 0) continue
    if (ranUntil !== null && firstMinute > ranUntil) gaps.push([ranUntil, firstMinute])
    if (isSearched(bucket, bucketMinutes))
      gaps.push(...(await history.missingMinutes([firstMinute, lastMinute + 1])))
    ranUntil = lastMinute + 1
  }
  const past = Math.min(pastMinute, nowMinute)
  if (ranUntil !== null && ranUntil < Math.min(pastMinute, nowMinute - 1)) gaps.push([ranUntil, past])
  return gaps
}

function isSearched({ minutes, firstMinute, lastMinute, isOne }: SlotUse, bucketMinutes: number): boolean {
  const missing = lastMinute + 1 - firstMinute - minutes
  return bucketMinutes <= searchedMinutes ? !isOne || missing > 0 : missing >= bucketMinutes * visiblePart
}
