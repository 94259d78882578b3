import assert from 'node:assert/strict'

/**
 * Whether times are asserted at all, and figures measured at their full length: `npm run test:faults` sets
 * `TOKENWEIR_TIMES`, everything else runs on machines that may be busy with something else.
 */
export const timesCount: boolean = process.env['TOKENWEIR_TIMES'] === '1'

/** Asserts that something took no longer than `limitMs`, where times count. */
export function assertWithin(limitMs: number, tookMs: number, what: string): void {
  if (!timesCount) return
  assert.ok(tookMs <= limitMs, `${what} took ${tookMs.toFixed(1)} ms of at most ${limitMs}`)
}
