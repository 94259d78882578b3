/** The rows from `first` to `end`, which is exclusive. */
export interface RowSpan {
  readonly first: number
  readonly end: number
}

/** The number of rows rendered beyond the visible ones, at each end. */
const around = 8

/**
 * Returns the visible rows and the rows to render. The list has rows of equal height, and `offsetPx` of it are
 * scrolled away.
 */
export function seenRows(
  count: number,
  rowPx: number,
  offsetPx: number,
  heightPx: number,
): { readonly visible: RowSpan; readonly rendered: RowSpan } {
  const within = (index: number): number => Math.max(0, Math.min(index, count))
  const first = within(Math.floor(offsetPx / rowPx))
  const end = within(Math.ceil((offsetPx + heightPx) / rowPx))
  return { visible: { first, end }, rendered: { first: within(first - around), end: within(end + around) } }
}

/** Returns the indexes of a span's rows, and of the row `keep` even if it is outside; −1 keeps none. */
export function placesOf({ first, end }: RowSpan, keep: number): readonly number[] {
  const places = Array.from({ length: end - first }, (_, index) => first + index)
  if (keep < 0 || (keep >= first && keep < end)) return places
  return keep < first ? [keep, ...places] : [...places, keep]
}

/** Returns the smallest scroll, in pixels, that makes a row fully visible. */
export function scrollToSee(index: number, rowPx: number, offsetPx: number, heightPx: number): number {
  const topPx = index * rowPx - offsetPx
  if (topPx < 0) return topPx
  return Math.max(0, topPx + rowPx - heightPx)
}
