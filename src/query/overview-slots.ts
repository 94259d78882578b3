import type { OverviewSlots } from '../api/overview.ts'
import { bucketEdges, bucketWidthS } from './chart-buckets.ts'
import type { ZonedTime } from '../lib/zoned-time.ts'
import type { HistoryReader, PastLimit, SlotUse } from '../call/call-reader.ts'
import { gatewayGaps } from './gateway-gaps.ts'

const minuteS = 60
const minuteMs = minuteS * 1000
const shownGaps = 30

/** Use and number of the gateway's slots, and the spans without a gateway. */
export async function overviewSlots(
  history: HistoryReader,
  zone: ZonedTime,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
  nowMs: number,
): Promise<OverviewSlots> {
  const bucketS = bucketWidthS(fromMs, toMs, minuteS)
  const starts = bucketEdges(zone, bucketS, fromMs, toMs)
  const edgesMs = [fromMs, ...starts.slice(1, -1), toMs]
  const use = await history.slotUse(edgesMs)
  const perBucket = <T>(of: (bucketUse: SlotUse, bucket: number) => T): (T | null)[] =>
    use.map((bucketUse, bucket) => (bucketUse.minutes === 0 ? null : of(bucketUse, bucket)))
  // The running minute is incomplete.
  const nowMinute = Math.floor(nowMs / minuteMs)
  const spanMs = ({ minutes, lastMinute }: SlotUse): number =>
    minutes * minuteMs - (minutes > 0 && lastMinute === nowMinute ? minuteMs - (nowMs % minuteMs) : 0)
  const ranMs = use.reduce((sum, bucketUse) => sum + spanMs(bucketUse), 0)
  const atLimitMs = use.reduce((sum, bucketUse) => sum + bucketUse.atLimitMs, 0)
  const limits = limitsOf(edgesMs, await history.limits(fromMs, toMs))
  const range = [Math.ceil(fromMs / minuteMs), Math.ceil(toMs / minuteMs)] as const
  const gaps = (await gatewayGaps(history, use, bucketS / minuteS, range, nowMinute))
    .toSorted((a, b) => b[1] - b[0] - (a[1] - a[0]))
    .slice(0, shownGaps)
    .sort((a, b) => a[0] - b[0])
  return {
    bucket_s: bucketS,
    start_s: starts.slice(0, -1).map((start) => start / 1000),
    active_max: perBucket((bucketUse) => bucketUse.activeMax),
    queued_max: perBucket((bucketUse) => bucketUse.queuedMax),
    limit: perBucket((_, bucket) => limits[bucket] ?? null),
    at_limit_share: perBucket((bucketUse) => share(bucketUse.atLimitMs, spanMs(bucketUse))),
    at_limit_share_total: ranMs === 0 ? null : share(atLimitMs, ranMs),
    gaps: gaps.map(([from, past]) => ({ from_s: from * minuteS, to_s: past * minuteS })),
  }
}

/** The highest known limit within each bucket; null without one. */
function limitsOf(edgesMs: readonly number[], limits: readonly PastLimit[]): readonly (number | null)[] {
  let next = 0
  let holding: number | null = null
  return edgesMs.slice(1).map((pastMs, bucket) => {
    const fromMs = edgesMs[bucket] ?? 0
    let highest: number | null = null
    for (let limit = limits[next]; limit !== undefined && limit.atMs < pastMs; limit = limits[++next]) {
      if (limit.atMs > fromMs) highest = higher(highest, holding)
      holding = limit.maxConcurrent
    }
    return higher(highest, holding)
  })
}

function higher(first: number | null, second: number | null): number | null {
  return first === null ? second : Math.max(first, second ?? first)
}

/** A share of time with four decimals: a hundredth of a percent. */
function share(atLimitMs: number, ofMs: number): number {
  return ofMs === 0 ? 0 : Number(Math.min(1, atLimitMs / ofMs).toPrecision(4))
}
