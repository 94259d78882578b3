import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock } from '../../../test/support/fake-clock.ts'
import { Chain } from '../../../test/support/gateway-of-a-chain.ts'

const minute = Date.UTC(2026, 10, 21, 6) / 60_000

async function restarted() {
  const clock = new FakeClock()
  const chain = new Chain(clock)
  const next = chain.restart()
  await clock.advance(50)
  return { clock, chain, old: chain.get(0), next }
}

test('what calls used is told again until a successor has taken it, and counted once', async () => {
  const { clock, chain, old, next } = await restarted()
  old.budget.addTo({ minute, tokens: 30 })
  await clock.advance(20)
  // The report is on its way while its receiver is replaced.
  const youngest = chain.restart()
  await clock.advance(200)
  const used = [next, youngest].map(({ budget }) => budget.snapshot(clock.wallTime()).totalUsed)
  assert.deepEqual(used, [0, 30])
})

test('tokens that no gateway could be told of are in the database before another one reads it', async () => {
  const { clock, chain, old } = await restarted()
  chain.newest = null
  await clock.advance(200)
  old.budget.addTo({ minute, tokens: 30 })
  const next = chain.startAnew()
  await clock.advance(200)
  assert.equal(next.budget.snapshot(clock.wallTime()).totalUsed, 0)
})

test('what calls used is not lost while a gateway is away that has taken over, as its own successor fails', async () => {
  const { clock, chain, old, next } = await restarted()
  chain.newest = null
  old.budget.addTo({ minute, tokens: 30 })
  await clock.advance(200)
  chain.newest = next
  await clock.advance(200)
  assert.equal(next.budget.snapshot(clock.wallTime()).totalUsed, 30)
})

test('its end waits until the successor has taken the last report, and no longer if there is none', async () => {
  const { clock, chain, old, next } = await restarted()
  const isOver = { first: false, other: false }
  old.budget.addTo({ minute, tokens: 30 })
  void old.draining?.close().then(() => (isOver.first = true))
  await clock.advance(0)
  assert.equal(isOver.first, false)
  await clock.advance(10)
  assert.deepEqual([isOver.first, next.oldGateways.claims()], [true, []])
  assert.equal(next.budget.snapshot(clock.wallTime()).totalUsed, 30)

  chain.restart()
  await clock.advance(50)
  chain.newest = null
  void next.draining?.close().then(() => (isOver.other = true))
  await clock.advance(10)
  assert.equal(isOver.other, true)
})
