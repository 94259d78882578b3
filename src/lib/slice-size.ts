/**
 * After a long slice, the next one is at most `shrinkAtMost` times smaller; after a short one, at most
 * `growAtMost` times larger.
 */
const shrinkAtMost = 8
const growAtMost = 1.5

/** The size of the next slice of a long work, after a slice of `size` took `tookMs`. */
export function sliceSize(
  size: number,
  tookMs: number,
  { least, most, ms }: Readonly<Record<'least' | 'most' | 'ms', number>>,
): number {
  const factor = Math.min(growAtMost, Math.max(1 / shrinkAtMost, ms / Math.max(tookMs, 0.001)))
  return Math.min(most, Math.max(least, Math.round(size * factor)))
}
