import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock } from '../../../test/support/fake-clock.ts'
import { AttemptLimit } from './attempt-limit.ts'

test('so many attempts pass in any window, and the next is told how long to wait', () => {
  const clock = new FakeClock()
  const limit = new AttemptLimit(clock, 2, 1000)
  assert.equal(limit.take('a'), 0)
  clock.tick(400)
  assert.equal(limit.take('a'), 0)
  clock.tick(100)
  assert.equal(limit.take('a'), 500)
  assert.equal(limit.take('b'), 0, 'whose attempts are counted apart')
  clock.tick(499)
  assert.equal(limit.take('a'), 1)
  clock.tick(1)
  assert.equal(limit.take('a'), 0)
  assert.equal(limit.take('a'), 400)
})
