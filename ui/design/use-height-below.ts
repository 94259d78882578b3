import type { RefObject } from 'preact'
import { useLayoutEffect, useState } from 'preact/hooks'

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
