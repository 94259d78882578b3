import type { HTMLAttributes, RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

/** Signs that somebody reads. */
const none = { isOver: false, isFocused: false, isAway: false, isSelecting: false }

/** Tells if somebody reads the list that new lines are added to. */
export interface Reading {
  readonly isRead: boolean
  /** True if it is scrolled away from where new lines appear. */
  readonly isAway: boolean
  /** Forgets all signs: the reader wants to see what is new. */
  readonly leave: () => void
  /** For an element around the box that scrolls. */
  readonly listeners: HTMLAttributes<HTMLDivElement>
}

/**
 * Tells whether somebody reads: with the mouse over the box, some of it selected, scrolled so that `isAway`, and with
 * `byFocus` also with the keyboard's focus in it.
 */
export function useReaderPresence(
  box: RefObject<HTMLElement | null>,
  isAway: (box: HTMLElement) => boolean,
  byFocus = false,
): Reading {
  const [signs, setSigns] = useState(none)
  const change = (changed: Partial<typeof none>): void => {
    const names = Object.keys(changed) as (keyof typeof none)[]
    setSigns((before) => {
      return names.every((name) => changed[name] === before[name]) ? before : { ...before, ...changed }
    })
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
    isRead: Object.values(signs).includes(true),
    isAway: signs.isAway,
    leave: () => {
      getSelection()?.empty()
      change(none)
    },
    listeners: {
      // A finger that touches it is about to scroll, which is told on its own.
      onPointerEnter: ({ pointerType }) => change({ isOver: pointerType === 'mouse' }),
      onPointerLeave: () => change({ isOver: false }),
      // The focus that a mouse leaves behind is nobody's reading.
      onFocusIn: ({ target }) =>
        change({ isFocused: byFocus && target instanceof Element && target.matches(':focus-visible') }),
      onFocusOut: () => change({ isFocused: false }),
      onScrollCapture: () => box.current !== null && change({ isAway: isAway(box.current) }),
    },
  }
}

/**
 * The value as it was when it began to be held, until it is let go or `question` is another one. `grown` adds to it what
 * disturbs nobody who reads it.
 */
export function useFrozen<Value>(
  value: Value,
  isHeld: boolean,
  question: unknown,
  grown: (held: Value, value: Value) => Value = (before) => before,
): Value {
  const held = useRef<{ readonly value: Value; readonly question: unknown } | null>(null)
  const last = held.current
  const before = last !== null && last.question === question ? last.value : value
  held.current = isHeld ? { value: grown(before, value), question } : null
  return held.current?.value ?? value
}
