import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { FakeClock } from '../../../test/support/fake-clock.ts'
import { Chain, type GatewayOfAChain } from '../../../test/support/gateway-of-a-chain.ts'
import type { DrainAnswer, DrainReport } from '../../control/control-messages.ts'
import { ownIdentity } from '../../lib/process/process-identity.ts'

const minute = Date.UTC(2026, 10, 21, 6) / 60_000

const identity = ownIdentity()

/** The second gateway of a chain, whose predecessor reports what a test says. */
function setUp(): { next: GatewayOfAChain; clock: FakeClock; chain: Chain; report: Report } {
  const clock = new FakeClock()
  const chain = new Chain(clock, { budgetRejects: true })
  chain.get(0).budget.reserve(100)
  const next = chain.restart()
  // The predecessor reports what the test says, and nothing else.
  chain.newest = null
  const report: Report = (instance, more) => {
    const none = { calls: 1, slots: [], reserved: 0, counted: 0, used: [], minutes: [], answers: [] }
    return next.oldGateways.addReport({ instance, identity, ...none, isLast: false, ...more })
  }
  return { next, clock, chain, report }
}

type Report = (instance: string, more: Partial<DrainReport>) => DrainAnswer | null

test('what the calls of old gateways may use is kept free, until they end', () => {
  const { next, report } = setUp()
  const { budget } = next
  assert.equal(budget.reservedInAll, 100)
  report('gateway 0', { reserved: 70 })
  report('an older one', { reserved: 700 })
  assert.equal(budget.reservedInAll, 770)
  report('an older one', { isLast: true })
  assert.equal(budget.reservedInAll, 70)
  report('gateway 0', { isLast: true })
  assert.equal(budget.reservedInAll, 0)
})

test('old gateways get the use elsewhere: reserved, or used without their knowledge', () => {
  const { next, report } = setUp()
  report('gateway 0', { reserved: 100, counted: 50 })
  next.budget.addTo({ minute, tokens: 60 })
  next.budget.reserve(300)
  assert.equal(report('an older one', { reserved: 200, counted: 20 })?.taken, 60 - 20 + 300 + 100)
  assert.equal(report('gateway 0', { reserved: 100, counted: 50 })?.taken, 60 - 50 + 300 + 200)
})

test('a gateway that has handed over takes no reports, and keeps what others may use free on until it is told anew', () => {
  const { next, chain, report } = setUp()
  report('gateway 0', { reserved: 900 })
  assert.equal(next.handover().predecessors[0]?.reserved, 900)
  next.drain(chain)
  assert.equal(report('gateway 0', { isLast: true }), null)
  assert.equal(next.budget.reservedInAll, 900)
})

test('reports of others are not taken before the gateway that hands over has left its place', () => {
  const { report } = setUp()
  assert.equal(report('an older one', {}), null)
  report('gateway 0', {})
  assert.notEqual(report('an older one', {}), null)
})

test('a stop waits for the processes of those that have reported their end', async () => {
  const { next, clock, report } = setUp()
  const child = spawn('sleep', ['60'])
  report('gateway 0', { identity: { pid: child.pid!, startTicks: null, bootId: null } })
  let isOver = false
  const stopped = next.oldGateways.stop(1000).then(() => (isOver = true))
  assert.equal(report('gateway 0', {})?.stopWithinMs, 1000)
  report('gateway 0', { identity: { pid: child.pid!, startTicks: null, bootId: null }, isLast: true })
  await clock.advance(1000)
  assert.equal(isOver, false)
  child.kill('SIGKILL')
  await once(child, 'exit')
  await clock.advance(1000)
  await stopped
})

test('a report that is read after its sender has ended gives back what it held', async () => {
  const { next, report } = setUp()
  const child = spawn(process.execPath, ['-e', ''])
  await once(child, 'exit')
  report('gateway 0', { reserved: 70, identity: { pid: child.pid!, startTicks: null, bootId: null } })
  assert.deepEqual(next.oldGateways.list(), [])
  assert.equal(next.budget.reservedInAll, 0)
})

test('one that is slow to tell its calls is left out, but is waited for longer where it is to cancel one', async () => {
  const { next, clock, report } = setUp()
  report('gateway 0', {})
  const answered = async (cancel: string | null): Promise<number> => {
    const answers = next.oldGateways.ask(cancel)
    await clock.advance(1000)
    const asks = report('gateway 0', {})?.asks ?? []
    assert.deepEqual(report('gateway 0', {})?.asks, [], 'each question is asked once')
    report('gateway 0', {
      answers: asks.map(({ seq }) => ({ seq, live: { calls: [], more: 0 }, cancelled: cancel !== null })),
    })
    return (await answers).length
  }
  assert.deepEqual([await answered(null), await answered('1')], [0, 1])
})
