import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../test/support/seeded-random.ts'
import { type FaultShares, drawFault, ordinaryFaults } from './simulated-fault.ts'

test('each fault has its share of the calls', () => {
  const shares: FaultShares = { rate_limited: 0.1, server_error: 0.2, broken: 0.3, stalled: 0.15 }
  const random = seededRandom(5)
  const draws = 20_000
  const drawn = Array.from({ length: draws }, () => drawFault(random, shares))
  for (const [fault, share] of Object.entries(shares)) {
    const part = drawn.filter((met) => met === fault).length / draws
    assert.ok(Math.abs(part - share) < 0.01, `${fault}: ${part}`)
  }
})

test('no share, no fault; on an ordinary day most calls meet none', () => {
  const none: FaultShares = { rate_limited: 0, server_error: 0, broken: 0, stalled: 0 }
  assert.equal(
    drawFault(() => 0, none),
    null,
  )
  assert.equal(
    drawFault(() => 0.1, ordinaryFaults),
    null,
  )
  assert.equal(
    drawFault(() => 0, ordinaryFaults),
    'rate_limited',
  )
})
