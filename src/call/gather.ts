import type { Clock } from './clock.ts'

/** Returns a function that runs `work` once, `ms` milliseconds after its first call; calls in between are merged. */
export function gather(
  clock: Clock,
  ms: number,
  work: () => void,
  options?: Parameters<Clock['after']>[2],
): () => void {
  let isPlanned = false
  const run = (): void => {
    isPlanned = false
    work()
  }
  return () => {
    if (isPlanned) return
    isPlanned = true
    clock.after(ms, run, options)
  }
}
