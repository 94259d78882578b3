import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useState } from 'preact/hooks'

/** Returns true while a media query matches. */
export function useMedia(query: string): boolean {
  const [holds, setHolds] = useState(() => matchMedia(query).matches)
  useEffect(() => {
    const list = matchMedia(query)
    const follow = (): void => setHolds(list.matches)
    follow()
    list.addEventListener('change', follow)
    return () => list.removeEventListener('change', follow)
  }, [query])
  return holds
}

/**
 * Returns a measure of an element in pixels, updated when the window, the page, the element or a child changes its
 * size.
 */
function useMeasure(
  element: RefObject<HTMLElement | null>,
  first: number,
  measure: (element: HTMLElement) => number,
): number {
  const [value, setValue] = useState(first)
  useLayoutEffect(() => {
    const { current } = element
    if (current === null) return
    const follow = (): void => setValue(measure(current))
    follow()
    const observer = new ResizeObserver(follow)
    for (const watched of [document.body, current, ...current.children]) observer.observe(watched)
    addEventListener('resize', follow)
    return () => {
      observer.disconnect()
      removeEventListener('resize', follow)
    }
  }, [element])
  return value
}

/** Returns the inner width of an element in pixels; 0 until it is known. */
export function useWidth(element: RefObject<HTMLElement | null>): number {
  return useMeasure(element, 0, ({ clientWidth }) => clientWidth)
}

/** Returns how many times larger than usual (16 pixels) the reader's text is. */
export function textScale(): number {
  return Number.parseFloat(getComputedStyle(document.documentElement).fontSize) / 16
}

/** The least useful height of a scrolling list. */
const leastPx = 352

/** Returns the height in pixels that makes an element, and all below it, end at the bottom of the window. */
export function useHeightBelow(element: RefObject<HTMLElement | null>): number {
  return useMeasure(element, leastPx, (current) => {
    const { top, bottom } = current.getBoundingClientRect()
    const belowPx = (current.closest('main')?.getBoundingClientRect().bottom ?? bottom) - bottom
    return Math.max(leastPx, Math.floor(innerHeight - top - scrollY - belowPx))
  })
}
