import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useNavigation } from '../data/navigation.tsx'
import { useShortcuts } from '../design/keys.ts'
import { placesOf, scrollToSee, seenRows } from './row-span.ts'

/** Handlers of the rows: the same for as long as the list is there. */
export interface RowHandlers {
  readonly onFocus: (id: string) => void
  readonly onPress: (event: MouseEvent, id: string) => void
}

export interface CallRows<Call> {
  /** The rows that are there, in their order. */
  readonly rows: readonly { readonly index: number; readonly call: Call }[]
  /** The id of the row that Tab leads to. */
  readonly activeId: string | undefined
  readonly handlers: RowHandlers
  readonly onKeyDown: (event: KeyboardEvent) => void
  readonly toTop: () => void
}

export interface CallRowsOptions<Call> {
  /** The title of j and k in the list of keys. */
  readonly title: string
  readonly calls: readonly Call[]
  /** The element around the rows; each row's link has `data-id`. */
  readonly list: RefObject<HTMLElement | null>
  readonly rowPx: number
  /** Of a head that stays in sight above the rows. */
  readonly headPx?: number
  /** The window scrolls rather than `list`. */
  readonly byWindow?: boolean
  /** Whether j and k move through this list, and the focus comes back to it: true unless another list has them. */
  readonly hasKeys?: boolean
  readonly onOpen: (id: string) => void
}

/**
 * The rows of a long list of calls: those that are there, as they are seen or near to that, and the keys j, k, arrows, Home and End. Enter opens a row, as
 * it does any link; the list follows the open panel, and gets the focus back from it.
 */
export function useCallRows<Call extends { readonly id: string }>(
  options: CallRowsOptions<Call>,
): CallRows<Call> {
  const { title, calls, list, rowPx, headPx = 0, byWindow = false, hasKeys = true, onOpen } = options
  const { address } = useNavigation()
  // Another object with each move: also if the row stays the same, the focus goes there.
  const [{ id: wantedId }, setActive] = useState<{ readonly id: string | null }>({ id: null })
  const indexOf = (id: string | null): number => calls.findIndex((call) => call.id === id)
  const active = Math.max(0, indexOf(wantedId))
  const activeId = calls[active]?.id
  const [{ offsetPx, heightPx }, setView] = useState(unseen)
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
  const { seen, there } = seenRows(calls.length, rowPx, offsetPx, heightPx)
  const show = (index: number): void => {
    const now = view()
    const byPx = scrollToSee(index, rowPx, now.offsetPx, now.heightPx)
    if (byPx !== 0) (byWindow ? window : list.current)?.scrollBy(0, byPx)
  }

  const wantsFocus = useRef(false)
  const moveTo = (index: number): void => {
    const next = Math.max(0, Math.min(index, calls.length - 1))
    const call = calls[next]
    if (call === undefined) return
    wantsFocus.current = true
    setActive({ id: call.id })
    show(next)
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
    setActive({ id: address.call })
    show(index)
  }, [address.call])

  const isInList = (): boolean => {
    const { activeElement } = document
    return activeElement?.closest('[data-id]') !== null && list.current?.contains(activeElement) === true
  }
  /** From outside, a key first leads to the row that is looked at. */
  const stepBy = (step: number): void => {
    if (isInList()) moveTo(active + step)
    else moveTo(active >= seen.first && active < seen.end ? active : seen.first)
  }
  const keys = [
    { key: 'j', words: 'Next call', run: () => stepBy(1) },
    { key: 'k', words: 'Previous call', run: () => stepBy(-1) },
  ]
  useShortcuts(title, hasKeys ? keys : [])
  const onKeyDown = (event: KeyboardEvent): void => {
    if (!isInList() || event.ctrlKey || event.metaKey || event.altKey) return
    const next = { ArrowDown: active + 1, ArrowUp: active - 1, Home: 0, End: calls.length - 1 }[event.key]
    if (next === undefined) return
    event.preventDefault()
    moveTo(next)
  }

  const open = useRef(onOpen)
  open.current = onOpen
  const [handlers] = useState<RowHandlers>({
    onFocus: (id) => setActive({ id }),
    onPress: (event, id) => {
      // With a key held down the browser opens the link elsewhere; and what is being selected is no press.
      if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
      event.preventDefault()
      const isByKey = event.detail === 0
      if (isByKey || getSelection()?.type !== 'Range') open.current(id)
    },
  })
  // The row with the focus is there, whether it is seen or not.
  const rows = placesOf(there, active < calls.length ? active : -1).flatMap((index) => {
    const call = calls[index]
    return call === undefined ? [] : [{ index, call }]
  })
  const toTop = (): void => {
    if (!byWindow) list.current?.scrollTo(0, 0)
  }
  return { rows, activeId, handlers, onKeyDown, toTop }
}

/** What of the rows is scrolled away above, and in which height rows are seen; until that is known, for any screen. */
const unseen = { offsetPx: 0, heightPx: 800 }

type View = typeof unseen

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
