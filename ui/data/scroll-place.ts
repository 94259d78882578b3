/** Notes in the present step of the history how far the page is scrolled. */
export function noteScroll(): void {
  history.replaceState({ scrollPx: scrollY }, '')
}

const waitLimitMs = 5000

/** Scrolls to where the present step was left, once the page is that long, unless its reader scrolls before. */
export function restoreScroll(): void {
  leave?.()
  const { scrollPx } = (history.state ?? {}) as { readonly scrollPx?: number }
  if (scrollPx === undefined) return
  const observer = new ResizeObserver(() => {
    const longestPx = document.documentElement.scrollHeight - innerHeight
    if (longestPx < scrollPx) return
    leave?.()
    scrollTo(0, scrollPx)
  })
  const ways = ['wheel', 'keydown', 'pointerdown'] as const
  const timer = setTimeout(() => leave?.(), waitLimitMs)
  leave = () => {
    observer.disconnect()
    clearTimeout(timer)
    for (const way of ways) removeEventListener(way, leave ?? (() => undefined))
    leave = null
  }
  for (const way of ways) addEventListener(way, leave, { passive: true })
  observer.observe(document.body)
}

/** Ends the wait for the page to be long enough. */
let leave: (() => void) | null = null
