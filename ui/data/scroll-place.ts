/** Saves the scroll position in the current step of the history. */
export function noteScroll(): void {
  history.replaceState({ scrollPx: scrollY }, '')
}

const waitLimitMs = 5000

/** Ends the wait for the page to be long enough. */
let waiting = new AbortController()

/**
 * Scrolls to the saved position of the current step as soon as the page is long enough. The reader's own scrolling
 * cancels this.
 */
export function restoreScroll(): void {
  waiting.abort()
  const { scrollPx } = (history.state ?? {}) as { readonly scrollPx?: number }
  if (scrollPx === undefined) return
  const leaving = (waiting = new AbortController())
  const leave = (): void => leaving.abort()
  const signal = AbortSignal.any([leaving.signal, AbortSignal.timeout(waitLimitMs)])
  const observer = new ResizeObserver(() => {
    const longestPx = document.documentElement.scrollHeight - innerHeight
    if (longestPx < scrollPx) return
    leave()
    scrollTo(0, scrollPx)
  })
  signal.addEventListener('abort', () => observer.disconnect())
  for (const way of ['wheel', 'keydown', 'pointerdown'])
    addEventListener(way, leave, { passive: true, signal })
  observer.observe(document.body)
}
