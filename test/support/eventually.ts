import { setTimeout as sleep } from 'node:timers/promises'

const limitMs = 60_000
const lookEveryMs = 25

/** Looks until it holds; rejects where it never does. For what other processes do, and nobody tells of. */
export async function eventually(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + limitMs
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`waited in vain for ${what}`)
    await sleep(lookEveryMs)
  }
}
