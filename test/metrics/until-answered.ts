import { setTimeout as delay } from 'node:timers/promises'

/** Asks until there is an answer other than null; rejects after half a minute. */
export async function until<T>(
  what: string,
  ask: () => Promise<T | null>,
  limitMs: number = 30_000,
): Promise<T> {
  const deadline = performance.now() + limitMs
  for (;;) {
    const answer = await ask()
    if (answer !== null) return answer
    if (performance.now() > deadline) throw new Error(`waited ${limitMs} ms in vain for ${what}`)
    await delay(20)
  }
}
