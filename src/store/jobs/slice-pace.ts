/** Bounds of what is done in one slice, in whatever is counted. */
export interface SliceBounds {
  readonly first: number
  readonly least: number
  readonly most: number
}

/** What a slice should take. Others wait for the lock meanwhile, and SQLite makes them wait in growing steps. */
export const sliceMs = 5
/** After a slice that took too long the next one may be this much smaller, after a short one this much larger. */
const shrinkAtMost = 8
const growAtMost = 1.5

/** How much to do in the next slice, when one of `size` took `tookMs`. */
export function nextSize(size: number, tookMs: number, { least, most }: SliceBounds): number {
  const factor = Math.min(growAtMost, Math.max(1 / shrinkAtMost, sliceMs / Math.max(tookMs, 0.001)))
  return Math.min(most, Math.max(least, Math.round(size * factor)))
}

/**
 * How long to leave the database to others after a slice. SQLite tries a lock again after 1, 3, 8, 18, 33 ms:
 * whoever began to wait within the slice comes to try within the pause. Longer than that, because nothing is urgent.
 */
export function pauseAfter(tookMs: number): number {
  return Math.min(60, 6 + 2 * tookMs)
}
