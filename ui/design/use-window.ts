import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useState } from 'preact/hooks'

/** True if a media query holds, as it changes. */
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
 * A measure of an element, taken again when the window, the page, the element or a child changes its size, and as the
 * element is scrolled.
 */
function useMeasure<Value extends number | boolean>(
  element: RefObject<HTMLElement | null>,
  first: Value,
  measure: (element: HTMLElement) => Value,
): Value {
  const [value, setValue] = useState(first)
  useLayoutEffect(() => {
    const { current } = element
    if (current === null) return
    const follow = (): void => setValue(measure(current))
    follow()
    const observer = new ResizeObserver(follow)
    for (const watched of [document.body, current, ...current.children]) observer.observe(watched)
    const leaving = new AbortController()
    addEventListener('resize', follow, { signal: leaving.signal })
    current.addEventListener('scroll', follow, { signal: leaving.signal, passive: true })
    return () => {
      observer.disconnect()
      leaving.abort()
    }
  }, [element])
  return value
}

/** The inner width of an element in pixels; 0 until it is known. */
export function useWidth(element: RefObject<HTMLElement | null>): number {
  return useMeasure(element, 0, ({ clientWidth }) => clientWidth)
}

/** True while a box has more content to the right of its visible part. */
export function useMoreAside(box: RefObject<HTMLElement | null>): boolean {
  return useMeasure(
    box,
    false,
    ({ scrollLeft, clientWidth, scrollWidth }) => scrollLeft + clientWidth < scrollWidth - 1,
  )
}

/** Left free below, and no less than this is worth scrolling in. */
const [marginPx, leastPx] = [16, 352]

/** The height that makes an element end with the window, as the content above it changes. */
export function useHeightBelow(element: RefObject<HTMLElement | null>): number {
  return useMeasure(element, leastPx, (current) =>
    Math.max(leastPx, Math.round(innerHeight - current.getBoundingClientRect().top - scrollY) - marginPx),
  )
}
