import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock } from '../../../test/support/fake-clock.ts'
import { attemptLimit } from './attempt-limit.ts'

test('so many attempts pass in any window, and the next is told how long to wait', () => {
  const clock = new FakeClock()
  const take = attemptLimit(clock, 2, 1000)
  assert.equal(take('a'), 0)
  clock.tick(400)
  assert.equal(take('a'), 0)
  clock.tick(100)
  assert.equal(take('a'), 500)
  assert.equal(take('b'), 0, 'whose attempts are counted apart')
  clock.tick(499)
  assert.equal(take('a'), 1)
  clock.tick(1)
  assert.equal(take('a'), 0)
  assert.equal(take('a'), 400)
})
