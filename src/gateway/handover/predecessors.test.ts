import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { FakeClock } from '../../../test/support/fake-clock.ts'
import { gatewayOfAChain } from '../../../test/support/gateway-of-a-chain.ts'
import type { DrainOrder, DrainReport } from '../../control/control-messages.ts'
import type { LocalAdmission } from '../admission/local-admission.ts'
import type { TokenWindow } from '../admission/token-window.ts'
import { ownIdentity } from '../../lib/process-identity.ts'
import { Predecessors } from './predecessors.ts'

const identity = ownIdentity()

function setUp(): {
  predecessors: Predecessors
  admission: LocalAdmission
  budget: TokenWindow
  clock: FakeClock
  ordersTo: (name: string) => readonly DrainOrder[]
  takenBy: (name: string) => number[]
  report: Report
} {
  const clock = new FakeClock()
  const { slots, ...parts } = gatewayOfAChain('own', clock, true)
  const { admission, budget } = parts
  const predecessors = new Predecessors(parts, () => [{ name: '', admission, slots }])
  admission.watch(() => slots.changed())
  budget.watch({ added: () => {}, reserved: () => predecessors.changed() })
  const orders = new Map<string, DrainOrder[]>()
  const listeners = new Map<string, ReturnType<Predecessors['listen']>>()
  const report: Report = (instance, more) => {
    const told = orders.get(instance) ?? []
    orders.set(instance, told)
    const listener = listeners.get(instance) ?? predecessors.listen((order) => told.push(order))
    listeners.set(instance, listener)
    const sync = { holder: instance, epoch: null, life: 1, base: 0, given: 0, granted: 0, ages: [] }
    listener.report({
      instance,
      identity,
      sync,
      calls: 1,
      used: [],
      reserved: 0,
      counted: 0,
      predecessors: [],
      clients: [],
      upstreams: [],
      ...more,
    })
    return listener
  }
  const ordersTo = (instance: string): readonly DrainOrder[] => orders.get(instance) ?? []
  const takenBy = (instance: string): number[] =>
    ordersTo(instance).flatMap((order) => ('taken' in order ? [order.taken] : []))
  return { predecessors, admission, budget, clock, ordersTo, takenBy, report }
}

type Report = (instance: string, more: Partial<DrainReport>) => ReturnType<Predecessors['listen']>

test('what the calls of predecessors may use is kept free, until they end', () => {
  const { predecessors, budget, report } = setUp()
  predecessors.expect({ instance: 'b', identity, clients: [], upstreams: [], reserved: 900 })
  assert.equal(budget.reservedInAll, 900)
  // Of the 900 most belonged to one before it, which has yet to report.
  const b = report('b', {
    reserved: 100,
    predecessors: [{ instance: 'a', identity, clients: [], upstreams: [], reserved: 800 }],
  })
  assert.equal(budget.reservedInAll, 900)
  const a = report('a', { reserved: 700 })
  assert.equal(budget.reservedInAll, 800)
  a.ended()
  assert.equal(budget.reservedInAll, 100)
  b.ended()
  assert.equal(budget.reservedInAll, 0)
})

test('predecessors are told what is taken elsewhere: reserved, or used unknown to them', async () => {
  const { predecessors, budget, takenBy, report } = setUp()
  predecessors.expect({ instance: 'b', identity, clients: [], upstreams: [], reserved: 0 })
  report('b', { reserved: 100, counted: 50 })
  report('a', { reserved: 200, counted: 20 })
  budget.addTo({ minute: Date.UTC(2026, 10, 21, 6) / 60_000, tokens: 60 })
  budget.reserve(300)
  await turn()
  assert.equal(takenBy('b').at(-1), 60 - 50 + 300 + 200)
  assert.equal(takenBy('a').at(-1), 60 - 20 + 300 + 100)
  budget.reserve(-300)
  await turn()
  assert.equal(takenBy('b').at(-1), 60 - 50 + 200)
})

test('who has handed over itself keeps what others may use free on until it is told anew', () => {
  const { predecessors, budget, report } = setUp()
  predecessors.expect({ instance: 'b', identity, clients: [], upstreams: [], reserved: 0 })
  const b = report('b', { reserved: 900 })
  assert.equal(predecessors.sendOn()[0]?.reserved, 900)
  b.ended()
  assert.equal(budget.reservedInAll, 900)
})

test('one that was not expected keeps the slots that it uses: nobody has any before it has said how many', async () => {
  const { admission, ordersTo, report } = setUp()
  const active = async (): Promise<number> => {
    for (let turns = 0; turns < 5; turns++) await turn()
    return admission.snapshot().active
  }
  // It was of a pool that is gone.
  report('a', {})
  assert.equal(await active(), 0)
  void admission.acquire(new AbortController().signal)
  assert.equal(await active(), 0)
  const answer = ordersTo('a').find((order) => 'slots' in order)
  assert.equal(answer?.slots.known, false)
  const joined = { holder: 'a', epoch: answer.slots.epoch, life: 2, base: 4, granted: 4, ages: [] }
  report('a', { sync: { ...joined, given: 0 } })
  assert.equal(await active(), 0)
  report('a', { sync: { ...joined, given: 1 } })
  assert.equal(await active(), 1)
})

test('one that ends before it has said how many keeps none', async () => {
  const { admission, report } = setUp()
  report('a', {})
  report('b', {}).ended()
  const permit = admission.acquire(new AbortController().signal)
  report('a', {}).ended()
  await permit
})

test('a stop waits for the processes of those that have reported their end', async () => {
  const { predecessors, clock, report } = setUp()
  const child = spawn('sleep', ['60'])
  const b = report('b', { identity: { pid: child.pid!, startTicks: null, bootId: null } })
  let isOver = false
  const stopped = predecessors.stop(1000).then(() => (isOver = true))
  b.ended()
  await clock.advance(1000)
  assert.equal(isOver, false)
  child.kill('SIGKILL')
  await once(child, 'exit')
  await clock.advance(1000)
  await stopped
})

test('one that is slow to tell its calls is left out, but is waited for longer where it is to cancel one', async () => {
  const { predecessors, clock, ordersTo, report } = setUp()
  const a = report('a', {})
  const answered = async (cancel: string | null): Promise<number> => {
    const answers = predecessors.ask(cancel)
    await clock.advance(1000)
    const { seq = 0 } =
      ordersTo('a')
        .flatMap((order) => ('ask' in order ? order.ask : []))
        .at(-1) ?? {}
    a.answer({ seq, live: { calls: [], more: 0 }, cancelled: cancel !== null })
    return (await answers).length
  }
  assert.deepEqual([await answered(null), await answered('1')], [0, 1])
})
