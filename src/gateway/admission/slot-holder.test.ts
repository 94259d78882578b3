import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { FakeClock } from '../../../test/support/fake-clock.ts'
import { SlotPool } from '../../../test/support/slot-pool.ts'
import type { Permit } from './admission.ts'
import { SlotLimiter } from './slot-limiter.ts'
import { SlotHolder, type SlotLink } from './slot-holder.ts'
import type { SlotSync } from './slot-holder-protocol.ts'
import { draws } from '../../../test/support/draws.ts'

const never = new AbortController().signal

/** Gateways that share a pool, with a link each whose messages take a while. */
class Network {
  readonly clock = new FakeClock()
  readonly pool: SlotPool
  readonly max: number
  readonly gateways: Gateway[]
  readonly latencyMs: number

  constructor({ max = 4, gateways = 2, cooldownMs = 0, latencyMs = 1, leaseMs = Infinity } = {}) {
    this.max = max
    this.latencyMs = latencyMs
    this.pool = new SlotPool({ max, leaseMs, poolId: 'a', nowMs: 0 })
    const names = Array.from({ length: gateways }, (_, at) => `gateway ${at}`)
    this.gateways = names.map((name) => new Gateway(this, name, cooldownMs, leaseMs))
  }

  get active(): number {
    return this.gateways.reduce((sum, { admission }) => sum + admission.snapshot().active, 0)
  }

  link(): SlotLink {
    return {
      sync: async (message: SlotSync) => {
        await this.clock.delay(this.latencyMs)
        const answer = this.pool.sync(message, this.clock.now())
        this.wake()
        await this.clock.delay(this.latencyMs)
        return answer
      },
    }
  }

  wake(): void {
    for (const name of this.pool.news()) {
      const gateway = this.gateways.find((one) => one.name === name)
      this.clock.after(this.latencyMs, () => gateway?.slots.sync())
    }
  }
}

class Gateway {
  readonly name: string
  readonly admission: SlotLimiter
  readonly slots: SlotHolder
  readonly permits: Permit[] = []
  readonly #network: Network

  constructor(network: Network, name: string, slotCooldownMs: number, leaseMs: number) {
    this.#network = network
    this.name = name
    const { clock, max: maxConcurrent } = network
    this.admission = new SlotLimiter({
      clock,
      maxConcurrent,
      slotCooldownMs,
      queueLimit: 100,
      queueTimeoutMs: 0,
    })
    this.slots = new SlotHolder({ admission: this.admission, clock, holder: name, leaseMs })
    this.admission.watch(() => this.slots.changed())
  }

  async arrive(): Promise<void> {
    const permit = this.admission.tryAcquire() ?? (await this.admission.acquire(never))
    this.permits.push(permit)
    assert.ok(this.#network.active <= this.#network.max, 'over the limit')
  }

  end(): void {
    this.permits.shift()?.release()
  }
}

test('a slot is used once the pool has granted it, kept while nobody else waits, and goes back after a second', async () => {
  const { clock, gateways, link, pool } = connected({ gateways: 1 })
  const [one] = gateways as [Gateway]
  one.slots.connect(link())
  void one.arrive()
  assert.equal(one.permits.length, 0)
  await clock.advance(10)
  assert.deepEqual([one.permits.length, pool.held], [1, 1])
  one.end()
  await clock.advance(900)
  assert.ok(one.admission.tryAcquire()?.release() === undefined)
  assert.equal(pool.held, 1)
  await clock.advance(3000)
  assert.equal(pool.held, 0)
})

test('an idle slot is kept as long as the pool cannot be told of it', async () => {
  const { clock, gateways, link } = connected({ gateways: 1 })
  const [one] = gateways as [Gateway]
  const pooled = link()
  let isAway = false
  one.slots.connect({ sync: (message) => (isAway ? Promise.resolve(null) : pooled.sync(message)) })
  void one.arrive()
  await clock.advance(10)
  one.end()
  isAway = true
  await clock.advance(5000)
  const permit = one.admission.tryAcquire()
  assert.ok(permit !== null)
  permit.release()
  isAway = false
  await clock.advance(3000)
  assert.equal(one.admission.tryAcquire(), null)
})

test('while calls wait on both sides and the pool is silent or away, at least half of the slots stay in use', async () => {
  for (const silence of ['lost', 'never answered'] as const) {
    const { clock, gateways, link } = connected({ gateways: 2, max: 8 })
    const [one, other] = gateways as [Gateway, Gateway]
    let isAway = false
    for (const { slots } of gateways) {
      const pooled = link()
      const sync: SlotLink['sync'] = async (message) => {
        const answer = await pooled.sync(message)
        if (!isAway) return answer
        return silence === 'lost' ? null : new Promise(() => {})
      }
      slots.connect({ sync })
    }
    for (let calls = 0; calls < 90; calls++) for (const gateway of [one, other]) void gateway.arrive()
    await clock.advance(50)
    isAway = true
    const served = (): number =>
      gateways.reduce((sum, { admission }) => sum + admission.tally.totalAdmitted, 0)
    for (let round = 0; round < 12; round++) {
      for (const gateway of gateways)
        for (let active = gateway.permits.length; active > 0; active--) gateway.end()
      await clock.advance(20)
    }
    assert.ok(served() > 45, `${silence}: ${served()} calls were served`)
    await clock.advance(1000)
    const usable = gateways.reduce((sum, { slots }) => sum + slots.usable, 0)
    assert.ok(usable >= 4, `${silence}: ${usable} slots are left`)
  }
})

const action = fc.record({
  gateway: fc.nat(2),
  kind: fc.constantFrom('arrive', 'arrive', 'end', 'end', 'rest', 'fewer', 'more'),
  restMs: fc.nat(200),
})

test('whatever comes and ends where, never more are in flight than there are slots, and all are served', async () => {
  const options = { max: fc.integer({ min: 1, max: 4 }), cooldownMs: fc.constantFrom(0, 20) }
  await fc.assert(
    fc.asyncProperty(fc.record(options), fc.array(action, { maxLength: 60 }), async (given, actions) => {
      const network = new Network({ ...given, gateways: 3 })
      const { clock, gateways } = network
      for (const { slots } of gateways) slots.connect(network.link())
      let arrived = 0
      let failure: unknown = null
      for (const { gateway: at, kind, restMs } of actions) {
        const gateway = gateways[at]!
        if (kind === 'rest') await clock.advance(restMs)
        else if (kind === 'end') gateway.end()
        else if (kind === 'arrive') {
          arrived++
          void gateway.arrive().catch((error: unknown) => (failure = error))
        } else {
          network.pool.setMax(kind === 'fewer' ? 1 : network.max, clock.now())
          network.wake()
        }
        await clock.advance(0)
      }
      network.pool.setMax(network.max, clock.now())
      let served = 0
      for (let round = 0; round < 400 && network.active + waiting(gateways) > 0; round++) {
        for (const gateway of gateways) {
          served += gateway.permits.length
          while (gateway.permits.length > 0) gateway.end()
        }
        await clock.advance(100)
      }
      assert.equal(failure, null)
      assert.equal(network.active + waiting(gateways), 0, `${served} of ${arrived} served`)
      await clock.advance(5000)
      assert.equal(network.pool.held, 0)
    }),
    { numRuns: draws(60) },
  )
})

function waiting(gateways: readonly Gateway[]): number {
  return gateways.reduce((sum, { admission }) => sum + admission.snapshot().queued, 0)
}

function connected(options: ConstructorParameters<typeof Network>[0]) {
  const network = new Network(options)
  const { clock, gateways, pool } = network
  return { clock, gateways, pool, link: () => network.link() }
}
