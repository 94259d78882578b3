import assert from 'node:assert/strict'

/**
 * Asserts that something took no longer than `limitMs`, if times are asserted at all: `npm run test:faults` sets
 * `TOKENWEIR_TIMES`, everything else runs on machines that may be busy with something else.
 */
export function assertWithin(limitMs: number, tookMs: number, what: string): void {
  if (process.env['TOKENWEIR_TIMES'] !== '1') return
  assert.ok(tookMs <= limitMs, `${what} took ${tookMs.toFixed(1)} ms of at most ${limitMs}`)
}
