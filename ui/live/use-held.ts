import { useEffect, useReducer, useRef } from 'preact/hooks'
import type { LiveCall } from './live-call.ts'

/** A list that stands still while it is looked at. */
export interface HeldCalls {
  readonly calls: readonly LiveCall[]
  /** Whether it stands still. */
  readonly isHeld: boolean
  /** How many came meanwhile. */
  readonly news: number
}

/** While `isHeld`, calls that come are not added; what becomes of those that are there is shown all the same. */
export function useHeld(calls: readonly LiveCall[], isHeld: boolean, question: unknown): HeldCalls {
  const held = useRef<readonly LiveCall[] | null>(null)
  const asked = useRef(question)
  // Other calls were asked for: what is looked at is another list. And nobody reads an empty one.
  if (!isHeld || asked.current !== question || held.current?.length === 0) held.current = null
  asked.current = question
  if (isHeld) held.current ??= calls
  const shown = held.current ?? calls
  const newest = shown[0]?.number ?? -1
  const firstOld = calls.findIndex(({ number }) => number <= newest)
  return { calls: shown, isHeld, news: firstOld < 0 ? calls.length : firstOld }
}

/** What of the reader has a list stand still. */
export interface ReadingSigns {
  readonly isRead: boolean
  readonly set: (sign: 'isOver' | 'isFocused' | 'isAway', holds: boolean) => void
  readonly clear: () => void
}

/** Whether somebody reads: with the mouse over the list, the focus in it, some of it selected, or scrolled away. */
export function useReadingSigns(box: { readonly current: HTMLElement | null }): ReadingSigns {
  const signs = useRef({ isOver: false, isFocused: false, isAway: false, isSelecting: false })
  const [, redraw] = useReducer((rounds: number) => rounds + 1, 0)
  const change = (changed: Partial<typeof signs.current>): void => {
    const before = Object.values(signs.current).includes(true)
    Object.assign(signs.current, changed)
    if (Object.values(signs.current).includes(true) !== before) redraw(0)
  }
  useEffect(() => {
    const onSelect = (): void => {
      const selection = getSelection()
      const { current } = box
      change({
        isSelecting:
          current !== null && selection?.isCollapsed === false && selection.containsNode(current, true),
      })
    }
    document.addEventListener('selectionchange', onSelect)
    return () => document.removeEventListener('selectionchange', onSelect)
  }, [])
  return {
    isRead: Object.values(signs.current).includes(true),
    set: (sign, holds) => change({ [sign]: holds }),
    clear: () => {
      getSelection()?.empty()
      change({ isOver: false, isFocused: false, isAway: false, isSelecting: false })
    },
  }
}
