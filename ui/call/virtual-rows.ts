import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useNavigation } from '../data/navigation.tsx'
import { useShortcuts } from '../design/keys.ts'
import { placesOf, scrollToSee, seenRows } from './row-span.ts'

/** Handlers of the rows; the same object as long as the list is rendered. */
export interface RowHandlers {
  readonly onFocus: (id: string) => void
  readonly onPress: (event: MouseEvent, id: string) => void
}

/** The place of a row in its list, with the handlers of its link. */
export interface RowPlace extends RowHandlers {
  readonly index: number
  /** True if Tab moves to this row. */
  readonly isActive: boolean
}

export interface VirtualRows<Row> {
  /** The rendered rows in order. */
  readonly rows: readonly { readonly row: Row; readonly place: RowPlace }[]
  /** The number of all rows. */
  readonly count: number
  /** Returns the height of a number of rows in pixels. */
  readonly heightOf: (rows: number) => number
  /** The id of the row that Tab moves to. */
  readonly activeId: string | undefined
  readonly onKeyDown: (event: KeyboardEvent) => void
  readonly toTop: () => void
}

export interface VirtualRowsOptions<Row> {
  /** The title of the keys j and k in the list of keys. */
  readonly title: string
  readonly all: readonly Row[]
  /** The element around the rows. Each row is a `tr`, with a link that has `data-id`. */
  readonly list: RefObject<HTMLElement | null>
  /** True if the window scrolls, not `list`. */
  readonly byWindow?: boolean
  /** True if j and k move through this list, and the focus returns to it (default: true). */
  readonly hasKeys?: boolean
  readonly onOpen: (id: string) => void
  /** Called when the last rows are almost visible. */
  readonly onNearEnd?: (() => void) | undefined
}

/** The number of rows left when `onNearEnd` is called. */
const nearEnd = 40

/**
 * Renders the visible rows of a long list and some rows around them. Handles the keys j, k, arrows, Home, End and
 * Enter. All rows have the height of the first one, which is measured. While the panel shows a call of the list,
 * the keys change the panel's call. When the panel closes, the focus returns to the list.
 */
export function useVirtualRows<Row extends { readonly id: string }>(
  options: VirtualRowsOptions<Row>,
): VirtualRows<Row> {
  const { title, all, list, byWindow = false, hasKeys = true, onOpen, onNearEnd } = options
  const { address, replace } = useNavigation()
  // Each move sets another object, so that the focus moves even if the row stays the same.
  const [{ id: wantedId }, setActive] = useState<{ readonly id: string | null }>({ id: null })
  const indexOf = (id: string | null): number => all.findIndex((row) => row.id === id)
  const active = Math.max(0, indexOf(wantedId))
  const activeId = all[active]?.id
  /** True if the panel shows a call of this list; then j and k belong to the panel. */
  const isInPanel = address.call !== null && indexOf(address.call) >= 0
  const [{ offsetPx, heightPx, rowPx }, setView] = useState(unseen)
  const view = (): View => (byWindow ? windowView : elementView)(list.current)
  useLayoutEffect(() => {
    const element = list.current
    if (element === null) return
    const target = byWindow ? window : element
    const measure = (): void => {
      const now = view()
      setView((before) => (isSameRows(before, now) ? before : now))
    }
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    // Another font size or layout changes the height of all rows.
    if (element.firstElementChild !== null) observer.observe(element.firstElementChild)
    target.addEventListener('scroll', measure, { passive: true })
    addEventListener('resize', measure)
    return () => {
      observer.disconnect()
      target.removeEventListener('scroll', measure)
      removeEventListener('resize', measure)
    }
  }, [byWindow])
  const { visible, rendered } = seenRows(all.length, rowPx, offsetPx, heightPx)
  const show = (index: number): void => {
    const now = view()
    const byPx = scrollToSee(index, now.rowPx, now.offsetPx, now.heightPx)
    if (byPx !== 0) (byWindow ? window : list.current)?.scrollBy(0, byPx)
  }

  const wantsFocus = useRef(false)
  const moveTo = (index: number): void => {
    const next = Math.max(0, Math.min(index, all.length - 1))
    const row = all[next]
    if (row === undefined) return
    wantsFocus.current = true
    setActive({ id: row.id })
    show(next)
    if (isInPanel) replace({ call: row.id })
  }
  useLayoutEffect(() => {
    if (!wantsFocus.current) return
    const link = list.current?.querySelector<HTMLElement>(`[data-id="${activeId}"]`)
    if (link === null || link === undefined) return
    wantsFocus.current = false
    link.focus({ preventScroll: true })
  })

  const lastOpen = useRef<string | null>(null)
  useEffect(() => {
    const before = lastOpen.current
    lastOpen.current = address.call
    const index = indexOf(address.call ?? before)
    if (index < 0) return
    if (address.call === null) {
      if (hasKeys) moveTo(index)
      return
    }
    // When the panel changes its call, the focus stays in the panel; otherwise it moves with the row.
    const isWithin = document.activeElement?.closest('dialog') !== null
    if (before !== null && hasKeys && !isWithin) wantsFocus.current = true
    setActive({ id: address.call })
    show(index)
  }, [address.call])

  const isInList = (): boolean => {
    const { activeElement } = document
    return activeElement?.closest('[data-id]') !== null && list.current?.contains(activeElement) === true
  }
  /** Moves by `step`. Without focus in the list, the first key moves to the current row. */
  const stepBy = (step: number): void => {
    if (isInList()) moveTo(active + step)
    else moveTo(active >= visible.first && active < visible.end ? active : visible.first)
  }
  const keys = [
    { key: 'j', words: 'Next call', run: () => stepBy(1) },
    { key: 'k', words: 'Previous call', run: () => stepBy(-1) },
  ]
  useShortcuts(title, hasKeys && !isInPanel ? keys : [])
  const onKeyDown = (event: KeyboardEvent): void => {
    if (!isInList() || event.ctrlKey || event.metaKey || event.altKey) return
    const next = { ArrowDown: active + 1, ArrowUp: active - 1, Home: 0, End: all.length - 1 }[event.key]
    if (next === undefined) return
    event.preventDefault()
    moveTo(next)
  }

  const open = useRef(onOpen)
  open.current = onOpen
  const [handlers] = useState<RowHandlers>({
    onFocus: (id) => setActive({ id }),
    onPress: (event, id) => {
      // With a modifier key, the browser opens the link elsewhere. A text selection is no click.
      if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
      // A row may have further links and buttons.
      const pressed = event.target instanceof Element ? event.target.closest('a, button') : null
      if (pressed !== null && !pressed.matches('[data-id]')) return
      event.preventDefault()
      const isByKey = event.detail === 0
      if (isByKey || getSelection()?.type !== 'Range') open.current(id)
    },
  })
  // The row with the focus is always rendered.
  const rows = placesOf(rendered, active < all.length ? active : -1).flatMap((index) => {
    const row = all[index]
    const place = { index, isActive: index === active, ...handlers }
    return row === undefined ? [] : [{ row, place }]
  })
  const last = rows.at(-1)?.place.index ?? 0
  useEffect(() => {
    if (all.length > 0 && last >= all.length - nearEnd) onNearEnd?.()
  }, [last, all.length, onNearEnd])
  const toTop = (): void => {
    if (!byWindow) list.current?.scrollTo(0, 0)
  }
  const heightOf = (count: number): number => count * rowPx
  return { rows, count: all.length, heightOf, activeId, onKeyDown, toTop }
}

/**
 * Before the first measurement: the pixels scrolled away, the visible height and the row height. The values suit
 * any screen.
 */
const unseen = { offsetPx: 0, heightPx: 800, rowPx: 36 }

type View = typeof unseen

function elementView(list: HTMLElement | null): View {
  if (list === null) return unseen
  const headPx = list.querySelector('thead')?.offsetHeight ?? 0
  return { offsetPx: list.scrollTop, heightPx: list.clientHeight - headPx, rowPx: rowHeight(list) }
}

/** Measures a list that the window scrolls. The visible part begins below the top bar. */
function windowView(list: HTMLElement | null): View {
  if (list === null) return unseen
  const barPx = Number.parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop) || 0
  const offsetPx = barPx - list.getBoundingClientRect().top
  return { offsetPx, heightPx: innerHeight - barPx, rowPx: rowHeight(list) }
}

function rowHeight(list: HTMLElement): number {
  const heightPx = list.querySelector('[data-id]')?.closest('tr')?.getBoundingClientRect().height ?? 0
  return heightPx > 0 ? heightPx : unseen.rowPx
}

function isSameRows(before: View, now: View): boolean {
  const { rowPx } = now
  return (
    before.rowPx === rowPx &&
    before.heightPx === now.heightPx &&
    Math.floor(before.offsetPx / rowPx) === Math.floor(now.offsetPx / rowPx) &&
    Math.ceil((before.offsetPx + before.heightPx) / rowPx) ===
      Math.ceil((now.offsetPx + now.heightPx) / rowPx)
  )
}
