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

/** How wide an element is within, in pixels, as it changes; 0 until that is known. */
export function useWidth(element: RefObject<HTMLElement | null>): number {
  const [widthPx, setWidthPx] = useState(0)
  useLayoutEffect(() => {
    const { current } = element
    if (current === null) return
    const measure = (): void => setWidthPx(current.clientWidth)
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(current)
    return () => observer.disconnect()
  }, [element])
  return widthPx
}

/** True while there is more to the right of what is seen of a box. */
export function useMoreAside(box: RefObject<HTMLElement | null>): boolean {
  const [hasMore, setMore] = useState(false)
  useLayoutEffect(() => {
    const { current } = box
    if (current === null) return
    const measure = (): void => setMore(current.scrollLeft + current.clientWidth < current.scrollWidth - 1)
    measure()
    const observer = new ResizeObserver(measure)
    for (const one of [current, ...current.children]) observer.observe(one)
    current.addEventListener('scroll', measure, { passive: true })
    return () => {
      observer.disconnect()
      current.removeEventListener('scroll', measure)
    }
  }, [box])
  return hasMore
}

/** Left free below, and no less than this is worth scrolling in. */
const [marginPx, leastPx] = [16, 352]

/** How high an element may be to end with the window, as what stands above it changes. */
export function useHeightBelow(element: RefObject<HTMLElement | null>): number {
  const [topPx, setTopPx] = useState(360)
  const [windowPx, setWindowPx] = useState(innerHeight)
  useLayoutEffect(() => {
    const measure = (): void => {
      const top = element.current?.getBoundingClientRect().top ?? 0
      setTopPx(Math.round(top + scrollY))
      setWindowPx(innerHeight)
    }
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(document.body)
    addEventListener('resize', measure)
    return () => {
      observer.disconnect()
      removeEventListener('resize', measure)
    }
  }, [])
  return Math.max(leastPx, windowPx - topPx - marginPx)
}
