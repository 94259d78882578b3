import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { longestWaitsMs, retryWaitMs } from './retry-rules.ts'

const silent = { afterMs: null, forbidden: false }
const fresh = { retries: 0, waitedMs: 0 }

test('without a word from the upstream: 500 ms, doubled each time up to 30 s, of which chance takes its part', () => {
  const waits = Array.from({ length: 9 }, (_, retries) =>
    retryWaitMs(silent, { retries, waitedMs: 0 }, 100, 0.5),
  )
  assert.deepEqual(waits, [250, 500, 1000, 2000, 4000, 8000, 15_000, 15_000, 15_000])
  assert.equal(retryWaitMs(silent, fresh, 1, 0), 100)
})

test("the upstream's word holds from 100 ms on, whatever backoff would say; 0 is no word", () => {
  assert.equal(retryWaitMs({ afterMs: 7000, forbidden: false }, fresh, 1, 0.5), 7000)
  assert.equal(retryWaitMs({ afterMs: 1, forbidden: false }, { retries: 6, waitedMs: 0 }, 9, 0.5), 100)
  assert.equal(retryWaitMs({ afterMs: 0, forbidden: false }, fresh, 1, 0.5), 250)
})

test('the 429 is passed on once the retries are used up, where it forbids them, and where the waits grow too long', () => {
  assert.equal(retryWaitMs(silent, { retries: 3, waitedMs: 0 }, 3, 0.5), null)
  assert.equal(retryWaitMs({ afterMs: 1, forbidden: true }, fresh, 3, 0.5), null)
  assert.equal(retryWaitMs({ afterMs: 60_001, forbidden: false }, fresh, 3, 0.5), null)
  assert.equal(retryWaitMs({ afterMs: 60_000, forbidden: false }, fresh, 3, 0.5), 60_000)
  assert.equal(
    retryWaitMs({ afterMs: 20_001, forbidden: false }, { retries: 1, waitedMs: 40_000 }, 3, 0),
    null,
  )
})

test('whatever an upstream answers, a call waits for a minute at most, and ends', () => {
  const hint = fc.record({
    afterMs: fc.option(fc.double({ min: 0, max: 90_000, noNaN: true })),
    forbidden: fc.constant(false),
  })
  const answers = fc.array(fc.tuple(hint, fc.double({ min: 0, max: 0.999, noNaN: true })), {
    size: 'max',
    minLength: 200,
    maxLength: 200,
  })
  fc.assert(
    fc.property(answers, fc.integer({ min: 0, max: 100 }), (answers, maxRetries) => {
      let retries = 0
      let waitedMs = 0
      for (const [hint, random] of answers) {
        const waitMs = retryWaitMs(hint, { retries, waitedMs }, maxRetries, random)
        if (waitMs === null) return
        assert.ok(waitMs >= 100)
        retries += 1
        waitedMs += waitMs
        assert.ok(retries <= maxRetries && waitedMs <= longestWaitsMs)
      }
      assert.fail('it never ends')
    }),
  )
})
