import type { HTMLAttributes, RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

/** Signs that a person is reading. */
const none = { isOver: false, isFocused: false, isAway: false, isSelecting: false }

/** True signs of reading in a list to which new lines are added. */
export interface Reading {
  readonly isRead: boolean
  /** True if it is scrolled away from where new lines appear. */
  readonly isAway: boolean
  /** Clears all signs: the reader wants to see new lines. */
  readonly leave: () => void
  /** Listeners for an element around the scrolling box. */
  readonly listeners: HTMLAttributes<HTMLDivElement>
}

/**
 * Detects a reader: the mouse is over the box, some of it is selected, it is scrolled so that `isAway`, or with
 * `byFocus` the keyboard's focus is in it.
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
      // A touch is about to scroll, which has its own sign.
      onPointerEnter: ({ pointerType }) => change({ isOver: pointerType === 'mouse' }),
      onPointerLeave: () => change({ isOver: false }),
      // Focus from a mouse press is no sign of reading.
      onFocusIn: ({ target }) =>
        change({ isFocused: byFocus && target instanceof Element && target.matches(':focus-visible') }),
      onFocusOut: () => change({ isFocused: false }),
      onScrollCapture: () => box.current !== null && change({ isAway: isAway(box.current) }),
    },
  }
}

/**
 * The value from the moment of freezing, until it is released or `question` changes. `grown` adds changes to it
 * that do not disturb a reader.
 */
export function useFrozen<Value>(
  value: Value,
  isHeld: boolean,
  question: unknown,
  grown: (before: Value, value: Value) => Value = (before) => before,
): Value {
  const frozen = useRef<{ readonly value: Value; readonly question: unknown } | null>(null)
  const last = frozen.current
  const before = last !== null && last.question === question ? last.value : value
  frozen.current = isHeld ? { value: grown(before, value), question } : null
  return frozen.current?.value ?? value
}
