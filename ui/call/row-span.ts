/** Rows from `first` up to, and not including, `end`. */
export interface RowSpan {
  readonly first: number
  readonly end: number
}

/** Rows that are rendered beyond the visible ones, at each side. */
const around = 8

/** Which rows are seen, and which are there, where `offsetPx` of a list of equal rows is scrolled away. */
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

/** The places of the rows of a span, and of one more that is there in any case; −1 for none. */
export function placesOf({ first, end }: RowSpan, keep: number): readonly number[] {
  const places = Array.from({ length: end - first }, (_, index) => first + index)
  if (keep < 0 || (keep >= first && keep < end)) return places
  return keep < first ? [keep, ...places] : [...places, keep]
}

/** The smallest scroll, in pixels, that makes a row fully visible. */
export function scrollToSee(index: number, rowPx: number, offsetPx: number, heightPx: number): number {
  const topPx = index * rowPx - offsetPx
  if (topPx < 0) return topPx
  return Math.max(0, topPx + rowPx - heightPx)
}
