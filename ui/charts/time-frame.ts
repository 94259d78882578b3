import type { Bounds } from '../data/calendar-ranges.ts'

export type { Bounds }

/** A span of time that is divided into buckets, in milliseconds since the Unix epoch. */
export interface TimeFrame extends Bounds {
  /** The start of each bucket. The first may start before `fromMs`. */
  readonly startsMs: readonly number[]
  /** The usual width of a bucket. */
  readonly bucketMs: number
  /** The short and long names of buckets that are not times, such as percentiles. */
  readonly names?: readonly (readonly [short: string, long: string])[]
}

/** A run of buckets, as inclusive indexes. */
export interface BucketRange {
  readonly first: number
  readonly last: number
}

/** Returns the start and end of a whole bucket, even if the range ends earlier. */
export function wholeBucket({ startsMs, bucketMs }: TimeFrame, index: number): Bounds {
  const fromMs = startsMs[index] ?? 0
  return { fromMs, toMs: startsMs[index + 1] ?? fromMs + bucketMs }
}

/** Returns the part of a bucket within the range; its figures cover this part. */
export function bucketBounds(frame: TimeFrame, index: number): Bounds {
  const { fromMs, toMs } = wholeBucket(frame, index)
  return { fromMs: Math.max(fromMs, frame.fromMs), toMs: Math.min(toMs, frame.toMs) }
}

/** Returns the index of the bucket at an instant, or the nearest one; −1 without buckets. */
export function bucketAt({ startsMs }: TimeFrame, ms: number): number {
  let low = 0
  let high = startsMs.length - 1
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if ((startsMs[middle] ?? 0) <= ms) low = middle
    else high = middle - 1
  }
  return high < 0 ? -1 : low
}

/** Returns the place of an instant: 0 at the left edge, 1 at the right. Instants beyond are at the edge. */
export function shareOfTime({ fromMs, toMs }: TimeFrame, ms: number): number {
  return Math.min(1, Math.max(0, (ms - fromMs) / (toMs - fromMs)))
}

/** True if an instant is in a span, whose end is exclusive. */
export function isBetween({ fromMs, toMs }: Bounds, ms: number): boolean {
  return ms >= fromMs && ms < toMs
}

/** True if two spans have time in common. */
export function overlaps(a: Bounds, b: Bounds): boolean {
  return a.toMs > b.fromMs && a.fromMs < b.toMs
}

/** Returns a share as a CSS percentage: 0.5 is `50.000%`. */
export function percentOf(share: number): string {
  return `${(share * 100).toFixed(3)}%`
}

/** Returns the CSS position of a span: distance from the left, and width. */
export function spanStyle(
  frame: TimeFrame,
  { fromMs, toMs }: Bounds,
): { readonly left: string; readonly width: string } {
  const left = shareOfTime(frame, fromMs)
  return { left: percentOf(left), width: percentOf(shareOfTime(frame, toMs) - left) }
}

/** Returns the middle of a bucket's part within the range. */
export function bucketMiddle(frame: TimeFrame, index: number): number {
  const { fromMs, toMs } = bucketBounds(frame, index)
  return (fromMs + toMs) / 2
}

/** Returns the buckets between two buckets, in either order, both inclusive. */
export function bucketsBetween(a: number, b: number): BucketRange {
  return { first: Math.min(a, b), last: Math.max(a, b) }
}

/** Returns the time of some buckets within the range. */
export function rangeBounds(frame: TimeFrame, { first, last }: BucketRange): Bounds {
  return { fromMs: bucketBounds(frame, first).fromMs, toMs: bucketBounds(frame, last).toMs }
}

/** Returns the sum of a value over some buckets. */
export function sumOver({ first, last }: BucketRange, valueOf: (index: number) => number): number {
  let sum = 0
  for (let index = first; index <= last; index++) sum += valueOf(index)
  return sum
}

/**
 * Returns the buckets at the edges with less than nine tenths of their time in the range. Their counts cover less
 * time.
 */
export function partialBuckets(frame: TimeFrame): readonly number[] {
  return [...new Set([0, frame.startsMs.length - 1])].filter((index) => {
    if (index < 0) return false
    const bucket = wholeBucket(frame, index)
    const { fromMs, toMs } = bucketBounds(frame, index)
    return toMs - fromMs < 0.9 * (bucket.toMs - bucket.fromMs)
  })
}
