import { setTimeout as delay } from 'node:timers/promises'

const pauseMs = 10

/**
 * Checks again and again until `check` gives `true`, for changes that another thread or process makes without an event.
 * Rejects after `limitMs` with what `check` gave last.
 */
export async function eventually(
  what: string,
  check: () => unknown,
  limitMs: number = 60_000,
): Promise<void> {
  const deadlineMs = performance.now() + limitMs
  for (;;) {
    const given = await check()
    if (given === true) return
    if (performance.now() > deadlineMs) {
      throw new Error(`not within ${limitMs} ms: ${what}; the last check gave ${JSON.stringify(given)}`)
    }
    await delay(pauseMs)
  }
}
