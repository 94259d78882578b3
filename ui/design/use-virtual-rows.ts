import type { RefObject } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'

export interface VirtualRowsOptions {
  readonly count: number
  /** Of every row. */
  readonly rowPx: number
  /** What the rows lie in. */
  readonly list: RefObject<HTMLElement | null>
  /** Whether the window scrolls rather than `list`. */
  readonly byWindow: boolean
  /** Of a head that stays in sight above the rows. */
  readonly headPx: number
  /** A row that is there whether it is seen or not, because the focus is in it. */
  readonly keep: number
}

export interface VirtualRows {
  /** Rising places of the rows that are there. */
  readonly indexes: readonly number[]
  readonly seen: RowSpan
  readonly show: (index: number) => void
  readonly toTop: () => void
}

/** Which rows of a long list of equal rows are there: those that are seen, and a few around them. */
export function useVirtualRows(options: VirtualRowsOptions): VirtualRows {
  const { count, rowPx, list, byWindow, headPx, keep } = options
  const [{ offsetPx, heightPx }, setView] = useState<View>(unseen)

  const view = (): View => (byWindow ? windowView(list.current) : elementView(list.current, headPx))
  const latest = useRef({ view, rowPx })
  latest.current = { view, rowPx }
  useLayoutEffect(() => {
    const element = list.current
    if (element === null) return
    const target = byWindow ? window : element
    const look = (): void => {
      const now = latest.current.view()
      const grid = latest.current.rowPx
      setView((before) => (isSameRows(before, now, grid) ? before : now))
    }
    look()
    const observer = new ResizeObserver(look)
    observer.observe(element)
    target.addEventListener('scroll', look, { passive: true })
    addEventListener('resize', look)
    return () => {
      observer.disconnect()
      target.removeEventListener('scroll', look)
      removeEventListener('resize', look)
    }
  }, [byWindow])

  const { seen, there } = seenRows(count, rowPx, offsetPx, heightPx)
  return {
    indexes: placesOf(there, keep < count ? keep : -1),
    seen,
    show: (index) => {
      const now = view()
      const byPx = scrollToSee(index, rowPx, now.offsetPx, now.heightPx)
      if (byPx !== 0) (byWindow ? window : list.current)?.scrollBy(0, byPx)
    },
    toTop: () => {
      if (!byWindow) list.current?.scrollTo(0, 0)
    },
  }
}

interface View {
  /** What of the rows is scrolled away above. */
  readonly offsetPx: number
  /** In which rows are seen. */
  readonly heightPx: number
}

/** Until it is known: enough rows for any screen. */
const unseen: View = { offsetPx: 0, heightPx: 800 }

function elementView(list: HTMLElement | null, headPx: number): View {
  return list === null ? unseen : { offsetPx: list.scrollTop, heightPx: list.clientHeight - headPx }
}

/** Rows begin to be seen below what stays at the top of the window. */
function windowView(list: HTMLElement | null): View {
  if (list === null) return unseen
  const barPx = Number.parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop) || 0
  return { offsetPx: barPx - list.getBoundingClientRect().top, heightPx: innerHeight - barPx }
}

function isSameRows(before: View, now: View, rowPx: number): boolean {
  return (
    before.heightPx === now.heightPx &&
    Math.floor(before.offsetPx / rowPx) === Math.floor(now.offsetPx / rowPx) &&
    Math.ceil((before.offsetPx + before.heightPx) / rowPx) ===
      Math.ceil((now.offsetPx + now.heightPx) / rowPx)
  )
}

/** Rows from `first` up to, and not including, `end`. */
export interface RowSpan {
  readonly first: number
  readonly end: number
}

/** Rows that are there besides those that are seen, at each side. */
const around = 8

/** Which rows are seen, and which are there, where `offsetPx` of a list of equal rows is scrolled away. */
export function seenRows(
  count: number,
  rowPx: number,
  offsetPx: number,
  heightPx: number,
): { readonly seen: RowSpan; readonly there: RowSpan } {
  const within = (index: number): number => Math.max(0, Math.min(index, count))
  const first = within(Math.floor(offsetPx / rowPx))
  const end = within(Math.ceil((offsetPx + heightPx) / rowPx))
  return { seen: { first, end }, there: { first: within(first - around), end: within(end + around) } }
}

/** The places of the rows of a span, and of one more that is there in any case; −1 for none. */
export function placesOf({ first, end }: RowSpan, keep: number): readonly number[] {
  const places = Array.from({ length: end - first }, (_, index) => first + index)
  if (keep < 0 || (keep >= first && keep < end)) return places
  return keep < first ? [keep, ...places] : [...places, keep]
}

/** By how much to scroll so that a row is wholly seen: as little as does. */
export function scrollToSee(index: number, rowPx: number, offsetPx: number, heightPx: number): number {
  const topPx = index * rowPx - offsetPx
  if (topPx < 0) return topPx
  return Math.max(0, topPx + rowPx - heightPx)
}
