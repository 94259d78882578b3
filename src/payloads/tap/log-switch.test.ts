import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock } from '../../../test/support/fake-clock.ts'
import { LogSwitch } from './log-switch.ts'

test('it goes off by itself once, at its time, and tells', async () => {
  const clock = new FakeClock()
  let told = 0
  const one = new LogSwitch(clock, false, () => told++)
  one.set(true, 5000)
  assert.deepEqual([one.isOn, one.untilMs], [true, clock.wallTime() + 5000])
  await clock.advance(4999)
  assert.equal(one.isOn, true)
  await clock.advance(1)
  assert.deepEqual([one.isOn, one.untilMs, told], [false, null, 1])
  await clock.advance(100_000)
  assert.equal(told, 1)
})

test('what is set later counts alone', async () => {
  const clock = new FakeClock()
  let told = 0
  const one = new LogSwitch(clock, true, () => told++)
  one.set(true, 1000)
  one.set(false, null)
  one.set(true, 3000)
  await clock.advance(1500)
  assert.equal(one.isOn, true)
  one.set(true, null)
  await clock.advance(10_000)
  assert.deepEqual([one.isOn, one.untilMs, told], [true, null, 0])
  one.set(false, 1000)
  assert.deepEqual([one.isOn, one.untilMs], [false, null])
})
