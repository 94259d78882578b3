import { setTimeout as delay } from 'node:timers/promises'

/** Waits for a state of affairs that another thread or process brings about; fails the test after `limitMs`. */
export async function until(what: string, isSo: () => boolean, limitMs: number = 60_000): Promise<void> {
  const deadline = performance.now() + limitMs
  while (!isSo()) {
    if (performance.now() > deadline) throw new Error(`waited ${limitMs} ms in vain until ${what}`)
    await delay(5)
  }
}
