import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { FakeClock } from '../../../test/support/fake-clock.ts'
import { Chain, type GatewayOfAChain } from '../../../test/support/gateway-of-a-chain.ts'
import type { Caller, Permit } from '../admission/admission.ts'
import { draws } from '../../../test/support/draws.ts'

const minute = Date.UTC(2026, 10, 21, 6) / 60_000

const never = new AbortController().signal
const agent: Caller = { client: 'agent', keyFingerprint: null }

interface Running {
  readonly gateway: GatewayOfAChain
  readonly permit: Permit
}

/** Calls at the gateways of a chain. */
class Calls {
  readonly running: Running[] = []
  readonly #chain: Chain
  ended = 0
  failure: unknown = null

  constructor(chain: Chain) {
    this.#chain = chain
  }

  begin(gateway: GatewayOfAChain, order: 'arrival' | 'back' = 'arrival', caller?: Caller): void {
    gateway.admission
      .acquire(never, order, caller)
      .then((permit) => this.running.push({ gateway, permit }))
      .catch((error: unknown) => (this.failure = error))
  }

  /** A call ends, which took one token; one that is to be tried again gives its slot back, and comes for another one. */
  async end(at: number, isRetried = false): Promise<void> {
    const [call] = this.running.splice(at % Math.max(1, this.running.length), 1)
    if (call === undefined) return
    call.permit.release()
    if (!isRetried) {
      call.gateway.budget.addTo({ minute, tokens: 1 })
      this.ended++
      return
    }
    await this.#chain.clock.advance(150)
    this.begin(call.gateway, 'back')
  }

  at(gateway: GatewayOfAChain): number {
    return this.running.filter((call) => call.gateway === gateway).length
  }
}

async function started(options: ConstructorParameters<typeof Chain>[1] = {}) {
  const clock = new FakeClock()
  const chain = new Chain(clock, options)
  return { clock, chain, calls: new Calls(chain) }
}

test('the old gateway keeps the slots of its calls, those that wait among them, and the new one has the rest', async () => {
  const { clock, chain, calls } = await started()
  const old = chain.get(0)
  for (let count = 0; count < 6; count++) calls.begin(old)
  await clock.advance(0)
  const next = chain.restart()
  calls.begin(next)
  await clock.advance(1000)
  assert.deepEqual([calls.at(old), calls.at(next)], [4, 0])
  for (const [ended, atOld, atNext] of [
    [2, 4, 0],
    [1, 3, 1],
  ] as const) {
    for (let count = 0; count < ended; count++) await calls.end(0)
    await clock.advance(100)
    assert.deepEqual([calls.at(old), calls.at(next)], [atOld, atNext])
  }
})

test('more or fewer slots of the new gateway hold for calls that wait at the old one, too', async () => {
  const { clock, chain, calls } = await started({ maxConcurrent: 1 })
  const old = chain.get(0)
  for (let count = 0; count < 9; count++) calls.begin(old)
  await clock.advance(0)
  const next = chain.restart(3)
  calls.begin(next)
  await clock.advance(300)
  assert.deepEqual([calls.at(old), calls.at(next)], [3, 0])
  next.admission.setCapacity(5)
  await clock.advance(300)
  assert.deepEqual([calls.at(old), calls.at(next)], [5, 0])
  next.admission.setCapacity(2)
  await clock.advance(300)
  for (let ended = 0; ended < 4; ended++) await calls.end(0)
  await clock.advance(300)
  assert.deepEqual([calls.at(old), calls.at(next)], [2, 0])
  for (let ended = 0; ended < 4; ended++) {
    await calls.end(0)
    await clock.advance(300)
  }
  assert.deepEqual([calls.at(old), calls.at(next)], [1, 1])
})

test('a slot that goes to the other gateway cools before', async () => {
  const { clock, chain, calls } = await started({ maxConcurrent: 1, slotCooldownMs: 500 })
  calls.begin(chain.get(0))
  await clock.advance(0)
  const next = chain.restart()
  calls.begin(next)
  await clock.advance(1000)
  await calls.end(0)
  await clock.advance(499)
  assert.equal(calls.at(next), 0)
  await clock.advance(50)
  assert.equal(calls.at(next), 1)
})

test('a call of the old gateway that comes for a slot later gets the next one that is free', async () => {
  const { clock, chain, calls } = await started({ maxConcurrent: 1 })
  const old = chain.get(0)
  calls.begin(old)
  await clock.advance(0)
  const next = chain.restart()
  await calls.end(0)
  calls.begin(next)
  await clock.advance(50)
  assert.equal(calls.at(next), 1)
  calls.begin(old, 'back')
  calls.begin(next)
  await clock.advance(500)
  assert.deepEqual([calls.at(old), calls.at(next)], [0, 1])
  await calls.end(0)
  await clock.advance(150)
  assert.deepEqual([calls.at(old), calls.at(next)], [1, 0])
  await calls.end(0)
  await clock.advance(50)
  assert.equal(calls.at(next), 1)
})

test('without a successor one slot serves those that wait, and the next gateway learns of the calls', async () => {
  const { clock, chain, calls } = await started({ maxConcurrent: 3 })
  const old = chain.get(0)
  calls.begin(old)
  await clock.advance(0)
  chain.restart()
  await calls.end(0)
  await clock.advance(50)
  chain.newest = null
  await clock.advance(200)
  for (let count = 0; count < 3; count++) calls.begin(old)
  await clock.advance(1000)
  assert.equal(calls.at(old), 0)
  await clock.advance(1500)
  assert.equal(calls.at(old), 1)
  const next = chain.startAnew()
  await clock.advance(200)
  assert.equal(calls.at(old), 3, 'it is granted slots again')
  calls.begin(next)
  await clock.advance(200)
  assert.equal(calls.at(next), 0)
})

test('a client’s own limit holds over three gateways', async () => {
  const { clock, chain, calls } = await started({ maxConcurrent: 9 })
  let most = 0
  for (let restarts = 0; restarts < 3; restarts++) {
    const gateway = restarts === 0 ? chain.get(0) : chain.restart()
    gateway.admission.setLimits(new Map([['agent', 2]]))
    await clock.advance(10)
    for (let count = 0; count < 5; count++) calls.begin(gateway, 'arrival', agent)
    await clock.advance(150)
  }
  for (let ended = 0; ended < 15; ended++) {
    most = Math.max(most, calls.running.length)
    await calls.end(ended)
    await clock.advance(250)
  }
  assert.deepEqual([calls.running.length, most], [0, 2])
})

const action = fc.record({
  kind: fc.constantFrom(
    'arrive',
    'arrive',
    'arrive',
    'late',
    'end',
    'end',
    'end',
    'retry',
    'rest',
    'restart',
  ),
  at: fc.nat(100),
})

test('whatever comes and ends in which generation, never more are in flight than there are slots, and all are served and counted', async () => {
  const options = { maxConcurrent: fc.integer({ min: 1, max: 5 }), slotCooldownMs: fc.constantFrom(0, 20) }
  await fc.assert(
    fc.asyncProperty(fc.record(options), fc.array(action, { maxLength: 80 }), async (given, actions) => {
      const { clock, chain, calls } = await started(given)
      const look = (): void => assert.ok(calls.running.length <= given.maxConcurrent, 'over the limit')
      for (const { kind, at } of actions) {
        if (kind === 'arrive') calls.begin(chain.get(-1))
        else if (kind === 'late') calls.begin(chain.get(at % chain.gateways.length))
        else if (kind === 'rest') await clock.advance(at)
        else if (kind === 'restart') {
          if (chain.gateways.filter(({ calls: left }) => left > 0).length < 4) chain.restart()
        } else await calls.end(at, kind === 'retry')
        await clock.advance(at % 3)
        look()
      }
      const left = (): number => chain.gateways.reduce((sum, gateway) => sum + gateway.calls, 0)
      for (let round = 0; round < 400 && left() > 0; round++) {
        while (calls.running.length > 0) await calls.end(0)
        await clock.advance(50)
        look()
      }
      assert.deepEqual([calls.failure, left()], [null, 0])
      // All slots are the newest one's again, and what calls used anywhere is counted there once.
      await clock.advance(1000)
      const newest = chain.get(-1)
      assert.equal(newest.budget.snapshot(clock.wallTime()).totalUsed, calls.ended)
      for (let slot = 0; slot < given.maxConcurrent; slot++) assert.ok(newest.admission.tryAcquire() !== null)
    }),
    { numRuns: draws(150) },
  )
})
