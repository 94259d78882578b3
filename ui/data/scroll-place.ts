/** Saves the scroll position in the current step of the history. */
export function noteScroll(): void {
  history.replaceState({ scrollPx: scrollY }, '')
}

const waitLimitMs = 5000

/**
 * Scrolls to the saved position of the current step as soon as the page is long enough. The reader's own scrolling
 * cancels this.
 */
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

/** Stops waiting for the page to be long enough; null without a wait. */
let leave: (() => void) | null = null
