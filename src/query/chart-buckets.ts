import type { ZonedTime } from '../lib/zoned-time.ts'

/** Widths of buckets in seconds that are easy to read off an axis. */
const widthsS: readonly number[] = [
  10, 30, 60, 300, 900, 3600, 7200, 21_600, 86_400, 604_800, 2_419_200, 7_862_400, 31_449_600,
]
const maxBuckets = 100
const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** The width in seconds of a chart's buckets: at least `leastS`, with at most 100 buckets in the range. */
export function bucketWidthS(fromMs: number, toMs: number, leastS: number = 0): number {
  const fits = (widthS: number): boolean => widthS >= leastS && (toMs - fromMs) / 1000 / widthS <= maxBuckets
  return widthsS.find(fits) ?? widthsS.at(-1) ?? 0
}

/**
 * The starts (ms since the Unix epoch) of all buckets that a range touches, and the end of the last one.
 * Buckets of an hour or more begin when the local clock shows a multiple of the width.
 */
export function bucketEdges(zone: ZonedTime, widthS: number, fromMs: number, toMs: number): number[] {
  const widthMs = widthS * 1000
  if (widthMs < hourMs) {
    const edges: number[] = []
    for (let at = Math.floor(fromMs / widthMs) * widthMs; at < toMs; at += widthMs) edges.push(at)
    edges.push((edges.at(-1) ?? 0) + widthMs)
    return edges
  }
  const edges = widthMs < dayMs ? hours(zone, widthMs, fromMs, toMs) : days(zone, widthMs, fromMs, toMs)
  const first = edges.findLastIndex((edge) => edge <= fromMs)
  const past = edges.findIndex((edge) => edge >= toMs)
  return edges.slice(Math.max(first, 0), past < 0 ? edges.length : past + 1)
}

/** Local hours whose number is a multiple of the width, from before the range to after it. */
function hours(zone: ZonedTime, widthMs: number, fromMs: number, toMs: number): number[] {
  const around = widthMs + hourMs
  return zone
    .edges('hour', fromMs - around, toMs + around)
    .filter((edge) => (edge + zone.offsetMs(edge)) % widthMs === 0)
}

/** Local days whose number is a multiple of the width, from before the range to after it. */
function days(zone: ZonedTime, widthMs: number, fromMs: number, toMs: number): number[] {
  const edges: number[] = []
  let localMs = Math.floor((fromMs + zone.offsetMs(fromMs)) / widthMs) * widthMs
  for (let edge = Number.NEGATIVE_INFINITY; edge < toMs; localMs += widthMs) {
    // Noon is never skipped or repeated, so it identifies the day.
    const noonMs = localMs + dayMs / 2
    edge = zone.startOf('day', noonMs - zone.offsetMs(noonMs))
    edges.push(edge)
  }
  return edges
}
