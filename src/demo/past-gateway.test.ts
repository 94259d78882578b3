import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PastGateway } from './past-gateway.ts'

test('each minute has its most at once, its time at the limit and its calls, and an idle one is there', () => {
  const gateway = new PastGateway('127.0.0.1:9', 'gw', 2)
  gateway.take(10_000, 10_000.4, 30_000)
  gateway.take(20_000, 20_000, 70_000)
  // Waits for a slot, and goes on into the second minute.
  assert.equal(gateway.waitMs(25_000), 5000)
  gateway.take(25_000, 30_000, 90_000)
  assert.deepEqual(gateway.minute(0), {
    minute: 0,
    activeMax: 2,
    queuedMax: 1,
    atLimitMs: 40_000,
    admitted: 3,
    dropped: 0,
  })
  assert.deepEqual(gateway.minute(1), {
    minute: 1,
    activeMax: 2,
    queuedMax: 0,
    atLimitMs: 10_000,
    admitted: 0,
    dropped: 0,
  })
  assert.deepEqual(gateway.minute(2), {
    minute: 2,
    activeMax: 0,
    queuedMax: 0,
    atLimitMs: 0,
    admitted: 0,
    dropped: 0,
  })
  gateway.take(200_000, 200_000, 201_000)
  assert.deepEqual(gateway.minute(3), {
    minute: 3,
    activeMax: 1,
    queuedMax: 0,
    atLimitMs: 0,
    admitted: 1,
    dropped: 0,
  })
})
