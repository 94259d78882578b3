import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'

/** Waits until it holds; fails with what was seen last. */
export async function untilSeen(
  what: string,
  holds: () => Promise<unknown>,
  limitMs = 60_000,
): Promise<void> {
  const endMs = performance.now() + limitMs
  for (;;) {
    const seen = await holds()
    if (seen === true) return
    assert.ok(performance.now() < endMs, `${what}: ${JSON.stringify(seen)}`)
    await delay(25)
  }
}
