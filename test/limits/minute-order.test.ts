import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import type { Permit } from '../../src/gateway/admission/admission.ts'
import { SlotLimiter } from '../../src/gateway/admission/slot-limiter.ts'
import { type Owner, clientOwner } from '../../src/gateway/admission/owner.ts'
import type { LimitStake } from '../../src/gateway/limits/owned-limit.ts'
import { MinuteLimits, type MinuteSetting } from '../../src/gateway/limits/minute-limits.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { fullestMinute } from './limited-provider.ts'
import { draws } from '../support/draws.ts'

interface Asked {
  readonly afterMs: number
  readonly client: string
  readonly model: string
  readonly tokens: number
  readonly runsMs: number
}

interface Seen extends Asked {
  readonly at: number
  cameMs: number
  wentMs: number | null
  stake: LimitStake | null
}

const patterns = [
  { pattern: 'a*', takes: (model: string) => model.startsWith('a'), max_rpm: 30, max_tpm: 20_000 },
]
const upstream = { max_rpm: 60, max_tpm: 50_000 }
const clients: ReadonlyMap<Owner, MinuteSetting> = new Map([[clientOwner('x'), { max_rpm: 20 }]])

const asked = fc.record<Asked>({
  afterMs: fc.constantFrom(0, 0, 0, 10, 300, 2000, 30_000),
  client: fc.constantFrom('x', 'y', 'z'),
  model: fc.constantFrom('a1', 'a2', 'b'),
  tokens: fc.integer({ min: 1, max: 6000 }),
  runsMs: fc.constantFrom(1, 500, 4000),
})

/** Calls that come as asked, each until all have gone; looked at whenever something may have changed. */
async function run(all: readonly Asked[], order: 'fifo' | 'fair', slots: number, jumps: boolean) {
  const clock = new FakeClock()
  const admission = new SlotLimiter({
    clock,
    maxConcurrent: slots,
    slotCooldownMs: 0,
    queueLimit: 10_000,
    queueTimeoutMs: 0,
    queueOrder: order,
  })
  const kept = new MinuteLimits(() => clock.now(), false)
  kept.onRoom = () => admission.wake()
  kept.set([{ name: 'default', models: patterns, ...upstream }], clients)
  const calls: Seen[] = []
  const went: Seen[] = []

  /** No call waits that could go, in the order in which they came. */
  const assertBusy = (): void => {
    if (admission.snapshot().active >= slots) return
    const claims = new Set<object>()
    for (const call of calls.filter(({ wentMs }) => wentMs === null)) {
      // Timers are whole milliseconds.
      const waitMs = call.stake!.waitMs(clock.now() - 1, claims)
      assert.ok(order === 'fair' || waitMs > 0, `call ${call.at} could go at ${clock.now()}`)
    }
  }

  for (const [at, each] of all.entries()) {
    await clock.advance(each.afterMs)
    if (jumps && at % 7 === 0) clock.stepWallTime(at % 2 === 0 ? 3_600_000 : -7_200_000)
    const call: Seen = { ...each, at, cameMs: clock.now(), wentMs: null, stake: null }
    calls.push(call)
    const caller = { client: each.client, keyFingerprint: null }
    const stakeOf = () =>
      (call.stake = kept.stakeOf(
        { upstream: 'default', model: each.model, key: null },
        { caller, requestBytes: 4 * each.tokens, tokensAsked: 1, sinceMs: call.cameMs },
      ))
    const permit: Promise<Permit> = admission.acquire(
      new AbortController().signal,
      'arrival',
      caller,
      0,
      stakeOf,
    )
    void permit.then(async (held) => {
      call.wentMs = clock.now()
      went.push(call)
      await clock.delay(each.runsMs)
      held.release()
      kept.settle(call.stake!, { input: each.tokens, output: 0 })
    })
    await clock.advance(0)
    assertBusy()
  }
  for (let turns = 0; went.length < all.length; turns++) {
    assert.ok(turns < 10_000, 'some call never went')
    await clock.advance(500)
    assertBusy()
  }
  return went
}

function assertNeverOver(went: readonly Seen[]): void {
  const most = (of: readonly Seen[], amount: (call: Seen) => number): number =>
    fullestMinute(of.map((call) => [call.wentMs!, amount(call)]))
  const ofA = went.filter(({ model }) => model.startsWith('a'))
  assert.ok(most(went, () => 1) <= 60 && most(went, ({ tokens }) => tokens) <= 50_000)
  assert.ok(most(ofA, () => 1) <= 30 && most(ofA, ({ tokens }) => tokens) <= 20_000)
  assert.ok(
    most(
      went.filter(({ client }) => client === 'x'),
      () => 1,
    ) <= 20,
  )
}

for (const order of ['fifo', 'fair'] as const) {
  test(`property: with ${order}, no sliding minute is over any limit, no call waits that could go, and each goes in its turn`, async () => {
    const calls = fc.array(asked, { minLength: 1, maxLength: 60 })
    await fc.assert(
      fc.asyncProperty(calls, fc.constantFrom(1, 3, 100), fc.boolean(), async (all, slots, jumps) => {
        const went = await run(all, order, slots, jumps)
        assertNeverOver(went)
        // Calls of one client and model need the same: they go as they came.
        for (const group of Map.groupBy(went, ({ client, model }) => `${client} ${model}`).values()) {
          const came = group.map(({ at }) => at)
          assert.deepEqual(
            came,
            came.toSorted((one, other) => one - other),
          )
        }
      }),
      { numRuns: draws(40) },
    )
  })
}

test('clients take turns for the calls of a minute, however many of one wait', async () => {
  const one = { afterMs: 0, model: 'b', tokens: 1, runsMs: 1 }
  const went = await run(
    [
      ...Array.from({ length: 20 }, () => ({ ...one, client: 'y' })),
      { ...one, client: 'z' },
      { ...one, client: 'w' },
    ],
    'fair',
    100,
    false,
  )
  const places = ['z', 'w'].map((client) => went.findIndex((call) => call.client === client))
  assert.ok(
    places.every((place) => place <= 6),
    String(places),
  )
})
