import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { CallJson } from '../../src/call/call-reader.ts'
import { useNavigation } from '../data/navigation.tsx'
import { useShortcuts } from '../design/keys.ts'
import { useVirtualRows } from '../design/use-virtual-rows.ts'

/** What rows do: the same for as long as the list is there. */
export interface RowHandlers {
  readonly onFocus: (index: number) => void
  readonly onPress: (event: MouseEvent, index: number) => void
}

/** How the rows of a list are gone through and opened. */
export interface CallRows {
  /** Rising places of the rows that are there. */
  readonly indexes: readonly number[]
  /** The row that Tab leads to. */
  readonly active: number
  readonly handlers: RowHandlers
  readonly onKeyDown: (event: KeyboardEvent) => void
}

export interface CallRowsOptions {
  readonly calls: readonly CallJson[]
  readonly list: RefObject<HTMLElement | null>
  readonly byWindow: boolean
  readonly headPx: number
  readonly rowPx: number
  readonly onOpen: (id: string) => void
  /** The last rows are near. */
  readonly onNearEnd: () => void
}

/** A page is asked for when so many rows are left. */
const nearEnd = 40

/** The rows of a list: which are there, and the keys j, k, arrows, Home and End. Enter opens, as of any link. */
export function useCallRows(options: CallRowsOptions): CallRows {
  const { calls, list, byWindow, headPx, rowPx, onOpen, onNearEnd } = options
  const { address } = useNavigation()
  const [active, setActive] = useState(0)
  const wantsFocus = useRef(false)
  const [, setMoves] = useState(0)
  const openId = address.call
  const { indexes, seen, show, toTop } = useVirtualRows({
    count: calls.length,
    rowPx,
    list,
    byWindow,
    headPx,
    keep: active,
  })

  const firstId = calls[0]?.id
  useEffect(() => {
    setActive(0)
    toTop()
  }, [firstId])

  const lastSeen = indexes.at(-1) ?? 0
  useEffect(() => {
    if (calls.length > 0 && lastSeen >= calls.length - nearEnd) onNearEnd()
  }, [lastSeen, calls.length, onNearEnd])

  const moveTo = (index: number): void => {
    const next = Math.max(0, Math.min(index, calls.length - 1))
    setActive(next)
    show(next)
    wantsFocus.current = true
    // Also where the row stays the same: the focus goes there once it has been drawn.
    setMoves((moves) => moves + 1)
  }
  useLayoutEffect(() => {
    if (!wantsFocus.current) return
    const link = list.current?.querySelector<HTMLElement>(`[data-index="${active}"] .call-link`)
    if (link === null || link === undefined) return
    wantsFocus.current = false
    link.focus({ preventScroll: true })
  })

  // The list behind follows the panel, and gets the focus back from it.
  const lastOpen = useRef<string | null>(null)
  useEffect(() => {
    const before = lastOpen.current
    lastOpen.current = openId
    const index = calls.findIndex(({ id }) => id === (openId ?? before))
    if (index < 0) return
    if (openId !== null) {
      setActive(index)
      show(index)
    } else if (before !== null) moveTo(index)
  }, [openId])

  const isInList = (): boolean => document.activeElement?.matches('.call-link') === true
  /** From outside, a key first leads to the row that is looked at. */
  const stepBy = (step: number): void => {
    if (calls.length === 0) return
    if (isInList()) moveTo(active + step)
    else moveTo(active >= seen.first && active < seen.end ? active : seen.first)
  }
  useShortcuts('Calls', [
    { key: 'j', words: 'Next call', run: () => stepBy(1) },
    { key: 'k', words: 'Previous call', run: () => stepBy(-1) },
  ])
  const press = (event: KeyboardEvent): void => {
    if (!isInList() || event.ctrlKey || event.metaKey || event.altKey) return
    const next = { ArrowDown: active + 1, ArrowUp: active - 1, Home: 0, End: calls.length - 1 }[event.key]
    if (next === undefined) return
    event.preventDefault()
    moveTo(next)
  }

  const open = (event: MouseEvent, index: number): void => {
    const call = calls[index]
    // With a key held down the browser opens the link elsewhere; and what is being selected is no press.
    if (call === undefined || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    if (getSelection()?.type === 'Range') return
    event.preventDefault()
    setActive(index)
    onOpen(call.id)
  }
  const openNow = useRef(open)
  openNow.current = open
  const [handlers] = useState<RowHandlers>({
    onFocus: (index) => setActive(index),
    onPress: (event, index) => openNow.current(event, index),
  })

  return { indexes, active, handlers, onKeyDown: press }
}
