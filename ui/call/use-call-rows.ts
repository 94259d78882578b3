import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useNavigation } from '../data/navigation.tsx'
import { useShortcuts } from '../design/keys.ts'
import { useVirtualRows } from '../design/use-virtual-rows.ts'

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
  readonly onOpen: (id: string) => void
}

/**
 * The rows of a long list of calls: those that are there, and the keys j, k, arrows, Home and End. Enter opens a row, as
 * it does any link; the list follows the open panel, and gets the focus back from it.
 */
export function useCallRows<Call extends { readonly id: string }>(
  options: CallRowsOptions<Call>,
): CallRows<Call> {
  const { title, calls, list, rowPx, headPx = 0, byWindow = false, onOpen } = options
  const { address } = useNavigation()
  // Another object with each move: also if the row stays the same, the focus goes there.
  const [{ id: wantedId }, setActive] = useState<{ readonly id: string | null }>({ id: null })
  const indexOf = (id: string | null): number => calls.findIndex((call) => call.id === id)
  const active = Math.max(0, indexOf(wantedId))
  const activeId = calls[active]?.id
  const { indexes, seen, show, toTop } = useVirtualRows({
    count: calls.length,
    rowPx,
    list,
    byWindow,
    headPx,
    keep: active,
  })

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
    if (address.call === null) moveTo(index)
    else {
      setActive({ id: address.call })
      show(index)
    }
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
  useShortcuts(title, [
    { key: 'j', words: 'Next call', run: () => stepBy(1) },
    { key: 'k', words: 'Previous call', run: () => stepBy(-1) },
  ])
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
      if (getSelection()?.type !== 'Range') open.current(id)
    },
  })
  const rows = indexes.flatMap((index) => {
    const call = calls[index]
    return call === undefined ? [] : [{ index, call }]
  })
  return { rows, activeId, handlers, onKeyDown, toTop }
}
