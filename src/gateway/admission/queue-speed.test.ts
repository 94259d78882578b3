import assert from 'node:assert/strict'
import { it } from 'node:test'
import { QueueSpeed } from './queue-speed.ts'

function steady(intervalMs: number, count: number): QueueSpeed {
  const rate = new QueueSpeed()
  rate.queueBegan(0)
  for (let i = 1; i <= count; i++) rate.slotTaken(i * intervalMs)
  return rate
}

it('QueueSpeed tells how long the queue takes at its pace', () => {
  assert.equal(steady(100, 50).retryAfterS(200, 5000), 20)
  assert.equal(steady(15, 50).retryAfterS(10, 750), 1, 'at least one second')
  assert.equal(steady(1000, 50).retryAfterS(10_000, 50_000), 600, 'at most ten minutes')
})

it('QueueSpeed counts slots that are taken together as one pace', () => {
  const rate = new QueueSpeed()
  rate.queueBegan(0)
  for (let i = 1; i <= 100; i++) for (let slot = 0; slot < 4; slot++) rate.slotTaken(i * 400)
  const seconds = rate.retryAfterS(100, 40_000)
  assert.ok(seconds >= 8 && seconds <= 12, `${seconds} s for 100 calls at 10 a second`)
})

it('QueueSpeed goes by the time waited so far while no call went', () => {
  const rate = new QueueSpeed()
  rate.queueBegan(10_000)
  assert.equal(rate.retryAfterS(1, 10_000), 1)
  assert.equal(rate.retryAfterS(1, 40_000), 30)
})

it('QueueSpeed expects less of a queue that has come to a stop', () => {
  const rate = steady(100, 50)
  assert.ok(rate.retryAfterS(10, 5000 + 60_000) > rate.retryAfterS(10, 5000))
})

it('QueueSpeed does not count the time in which nobody waited', () => {
  const rate = steady(100, 50)
  rate.queueBegan(3_600_000)
  rate.slotTaken(3_600_100)
  assert.equal(rate.retryAfterS(200, 3_600_100), 20)
})
