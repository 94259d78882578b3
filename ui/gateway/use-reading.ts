import { useEffect, useRef } from 'preact/hooks'

/** How near to the end counts as at the end, in CSS pixels. */
const nearPx = 8

/** Whether somebody reads, and what ends it. */
export interface Reading {
  readonly onPointerEnter: (event: PointerEvent) => void
  readonly onPointerLeave: () => void
  readonly onScroll: () => void
  readonly isAway: () => boolean
  /** Goes to the end, and reads no more. */
  readonly leave: () => void
  readonly toEnd: () => void
}

/** Tells whether somebody reads: with the mouse over the lines, with some of them selected, or scrolled away. */
export function useReading(
  box: { readonly current: HTMLElement | null },
  onChange: (isRead: boolean) => void,
): Reading {
  const signs = useRef({ isOver: false, isSelecting: false, isAway: false })
  const told = useRef(onChange)
  told.current = onChange
  const set = (change: Partial<typeof signs.current>): void => {
    Object.assign(signs.current, change)
    const { isOver, isSelecting, isAway } = signs.current
    told.current(isOver || isSelecting || isAway)
  }
  const toEnd = (): void => {
    if (box.current !== null) box.current.scrollTop = box.current.scrollHeight
  }
  useEffect(() => {
    const onSelect = (): void => {
      const selection = getSelection()
      const isWithin = selection?.isCollapsed === false && selection.containsNode(box.current as Node, true)
      if (isWithin !== signs.current.isSelecting) set({ isSelecting: isWithin })
    }
    document.addEventListener('selectionchange', onSelect)
    const sizes = new ResizeObserver(() => {
      if (!signs.current.isAway) toEnd()
    })
    if (box.current !== null) sizes.observe(box.current)
    return () => {
      document.removeEventListener('selectionchange', onSelect)
      sizes.disconnect()
    }
  }, [])
  return {
    // A finger that touches it is about to scroll, which is told on its own.
    onPointerEnter: ({ pointerType }) => set({ isOver: pointerType === 'mouse' }),
    onPointerLeave: () => set({ isOver: false }),
    onScroll: () => {
      const { scrollTop = 0, clientHeight = 0, scrollHeight = 0 } = box.current ?? {}
      const isAway = scrollTop + clientHeight < scrollHeight - nearPx
      if (isAway !== signs.current.isAway) set({ isAway })
    },
    isAway: () => signs.current.isAway,
    leave: () => {
      getSelection()?.empty()
      set({ isOver: false, isSelecting: false, isAway: false })
    },
    toEnd,
  }
}
