/** How long to wait before something that failed is tried again, in milliseconds. */
export interface Backoff {
  readonly firstMs: number
  readonly longestMs: number
}

/** The wait after so many failures in a row, at least one: twice as long each time. */
export function backoffMs({ firstMs, longestMs }: Backoff, failures: number): number {
  return Math.min(longestMs, firstMs * 2 ** Math.max(0, failures - 1))
}
