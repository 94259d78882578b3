/** Limits of the wait before a failed step is tried again, in milliseconds. */
export interface Backoff {
  readonly firstMs: number
  readonly longestMs: number
}

/**
 * Returns the wait in milliseconds after `failures` failures in a row (at least one). The wait doubles each time,
 * up to `longestMs`.
 */
export function backoffMs({ firstMs, longestMs }: Backoff, failures: number): number {
  return Math.min(longestMs, firstMs * 2 ** Math.max(0, failures - 1))
}
