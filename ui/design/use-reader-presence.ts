import type { HTMLAttributes, RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

/** The signs that a person is reading. */
const none = { isOver: false, isFocused: false, isAway: false, isSelecting: false }

/** The signs of reading in a growing list. */
export interface Reading {
  readonly isRead: boolean
  /** True if the list is scrolled away from its new lines. */
  readonly isAway: boolean
  /** Clears all signs, because the reader wants to see new lines. */
  readonly leave: () => void
  /** Listeners for an element around the scrolling box. */
  readonly listeners: HTMLAttributes<HTMLDivElement>
}

/**
 * Detects a reader: the mouse is over the box, text in it is selected, or `isAway` says that it is scrolled away.
 * With `byFocus`, the keyboard's focus in the box counts, too.
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
      // A touch is about to scroll, which is a separate sign.
      onPointerEnter: ({ pointerType }) => change({ isOver: pointerType === 'mouse' }),
      onPointerLeave: () => change({ isOver: false }),
      // Focus after a mouse press is no sign of reading.
      onFocusIn: ({ target }) =>
        change({ isFocused: byFocus && target instanceof Element && target.matches(':focus-visible') }),
      onFocusOut: () => change({ isFocused: false }),
      onScrollCapture: () => box.current !== null && change({ isAway: isAway(box.current) }),
    },
  }
}

/**
 * Returns the value from the moment when `isHeld` became true, until `isHeld` is false or `question` changes.
 * `grown` merges changes that do not disturb a reader.
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
