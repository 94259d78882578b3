import type { Clock } from './clock.ts'

/** A function that has the work done once, after so long (ms), however often it is called meanwhile. */
export function gather(
  clock: Clock,
  ms: number,
  work: () => void,
  options?: Parameters<Clock['after']>[2],
): () => void {
  let isPlanned = false
  const due = (): void => {
    isPlanned = false
    work()
  }
  return () => {
    if (isPlanned) return
    isPlanned = true
    clock.after(ms, due, options)
  }
}
