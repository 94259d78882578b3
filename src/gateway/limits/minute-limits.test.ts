import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { fullestMinute } from '../../../test/limits/limited-provider.ts'
import { ownerOfEntry } from '../admission/owner.ts'
import { MinuteLimits } from './minute-limits.ts'
import { LimitsAcrossRestarts } from './limits-across-restarts.ts'
import { draws } from '../../../test/support/draws.ts'

const use = { upstream: 'default', model: 'm', key: null }
const call = { caller: { client: null, keyFingerprint: null }, requestBytes: 4, tokensAsked: 1, sinceMs: 0 }

/** A gateway that takes as many calls as it may. */
class Greedy {
  readonly limits: MinuteLimits
  readonly #now: () => number

  constructor(now: () => number, learns = false) {
    this.#now = now
    this.limits = new MinuteLimits(now, learns)
    this.limits.set([{ name: 'default', models: [], max_rpm: 60 }], new Map())
  }

  /** What the provider says of a call. */
  see(seen: Partial<Parameters<MinuteLimits['applySeen']>[1]>, asked = call): void {
    const sighting = { limits: [], waitMs: null, isRefusal: false, isOverload: false, ...seen }
    this.limits.applySeen(this.limits.stakeOf(use, asked)!, sighting)
  }

  restarts(waitedFor: ReturnType<MinuteLimits['list']> = []): LimitsAcrossRestarts {
    return new LimitsAcrossRestarts(this.limits, this.#now, () => new Set(waitedFor))
  }

  take(): number {
    for (let taken = 0; ; taken++) {
      const stake = this.limits.stakeOf(use, call)!
      if (stake.waitMs(this.#now(), new Set()) > 0) return taken
      stake.charge(this.#now())
    }
  }
}

const sumOf = (taken: readonly (readonly [atMs: number, amount: number])[]): number =>
  taken.reduce((sum, [, amount]) => sum + amount, 0)

test('property: gateways that come and go are together never over in any sliding minute', () => {
  const changes = fc.array(fc.tuple(fc.integer({ min: 1, max: 90_000 }), fc.boolean(), fc.nat(3)), {
    maxLength: 12,
  })
  fc.assert(
    fc.property(changes, (steps) => {
      let nowMs = 1_000_000
      const now = (): number => nowMs
      let all = [new Greedy(now)]
      all[0]!.limits.divide(1)
      const taken: [number, number][] = []
      const run = (untilMs: number): void => {
        for (; nowMs < untilMs; nowMs += 500) for (const each of all) taken.push([nowMs, each.take()])
      }
      for (const [afterMs, joins, at] of steps) {
        run(nowMs + afterMs)
        if (joins) {
          const next = new Greedy(now)
          next.limits.divide(all.length + 1)
          all.push(next)
        } else if (all.length > 1) all.splice(at % all.length, 1)
        // The others see it within two seconds.
        run(nowMs + 1500)
        for (const each of all) each.limits.divide(all.length)
      }
      run(nowMs + 120_000)
      const most = fullestMinute(taken)
      assert.ok(most <= 60, String(most))
      const atTheEnd = sumOf(taken.filter(([atMs]) => atMs >= nowMs - 60_000))
      assert.ok(atTheEnd >= 50, `only ${atTheEnd} in the last minute`)
    }),
    { numRuns: draws(50) },
  )
})

test('a gateway goes on with what the one before it has used, and waits while calls wait there', () => {
  let nowMs = 100_000
  const before = new Greedy(() => nowMs)
  const taken: [number, number][] = []
  for (; nowMs < 130_000; nowMs += 500) taken.push([nowMs, before.take()])
  const old = before.restarts(before.limits.list())
  // The clock of a process begins with it.
  const next = new Greedy(() => nowMs - 130_000)
  const acrossRestarts = next.restarts()
  const handed = old.handover()
  taken.push([nowMs, before.take()])
  acrossRestarts.adopt('old', handed)
  acrossRestarts.addReport('old', old.report())
  assert.equal(next.take(), 0, 'calls wait at the old one')
  acrossRestarts.removeGateway('old')
  for (; nowMs < 300_000; nowMs += 500) taken.push([nowMs, next.take()])
  assert.ok(fullestMinute(taken) <= 60)
  assert.ok(sumOf(taken) >= 190, String(sumOf(taken)))
})

test('a call that an old gateway tries again counts with those of the new one', () => {
  let nowMs = 100_000
  const before = new Greedy(() => nowMs)
  const next = new Greedy(() => nowMs)
  const [old, young] = [before.restarts(), next.restarts()]
  const taken: [number, number][] = [[nowMs, before.take()]]
  young.adopt('old', old.handover())
  for (; nowMs < 400_000; nowMs += 500) {
    for (const gateway of [next, before]) {
      taken.push([nowMs, gateway.take()])
      const report = old.report()
      old.applyAnswer(report, young.addReport('old', report))
    }
  }
  assert.ok(fullestMinute(taken) <= 60, String(fullestMinute(taken)))
  assert.ok(sumOf(taken) >= 280, String(sumOf(taken)))
  for (const { limits } of [before, next]) assert.equal(limits.list()[0]!.total, sumOf(taken))
})

test('what was learned is handed over, and what a gateway that learns nothing cannot use is passed over', () => {
  const now = (): number => 0
  const before = new Greedy(now, true)
  before.see({ limits: [{ kind: 'tokens', limit: 1000, remaining: 10, resetMs: 60_000, windowMs: 60_000 }] })
  const handed = before.restarts().handover()
  const learning = new Greedy(now, true)
  learning.restarts().adopt('old', handed)
  const tokens = learning.limits.list().find(({ kind }) => kind === 'tokens')
  assert.deepEqual([tokens?.limit, tokens?.used(0)], [1000, 990])
  const other = new Greedy(now)
  other.restarts().adopt('old', handed)
  assert.equal(
    other.limits
      .list()
      .map(({ kind }) => kind)
      .join(),
    'requests',
  )
})

test('a pace that was derived from refusals is handed over, and grows at the new gateway', () => {
  let nowMs = 100_000
  const before = new Greedy(() => nowMs, true)
  before.take()
  before.see({ isRefusal: true })
  const paceOf = (gateway: Greedy): number => {
    gateway.limits.stakeOf(use, call)
    return gateway.limits.list().find(({ owner }) => owner.of === 'learned')!.limit
  }
  const learning = new Greedy(() => nowMs, true)
  learning.restarts().adopt('old', before.restarts().handover())
  const pace = paceOf(before)
  assert.equal(paceOf(learning), pace)
  nowMs += 15 * 60_000
  assert.ok(paceOf(learning) > 10 * pace, String(paceOf(learning)))
  assert.equal(paceOf(learning), paceOf(before))
})

test('refusals of few calls, and of calls after hours of rest, slow nobody down to these few', () => {
  let nowMs = 0
  const learning = new Greedy(() => nowMs, true)
  const large = { ...call, tokensAsked: 1000 }
  const charge = (): void => learning.limits.stakeOf(use, large)!.charge(nowMs)
  const learned = (): number =>
    learning.limits.list().find(({ owner }) => owner.of === 'learned')?.limit ?? Infinity
  charge()
  learning.see({ isRefusal: true }, large)
  assert.equal(learned(), Infinity, 'one call shows no pace')
  for (const atMs of [100_000, 4 * 3_600_000]) {
    nowMs = atMs
    for (let times = 0; times < 20; times++) charge()
    learning.see({ isRefusal: true }, large)
    assert.ok(learned() > 15_000, `${learned()} tokens a minute after ${atMs} ms`)
  }
})

test('resets and waits that cannot be do no harm', () => {
  let nowMs = 0
  const learning = new Greedy(() => nowMs, true)
  const refused = (waitMs: number | null): void => learning.see({ waitMs, isRefusal: true })
  refused(null)
  refused(1e12)
  assert.ok(learning.take() > 0, 'a wait of 31 years stops nobody')
  nowMs = 60_500
  refused(5000)
  assert.equal(learning.take(), 0)
  nowMs = 65_500
  assert.ok(learning.take() > 0)
})

test('what others used counts until the provider says that all is left again', () => {
  let nowMs = 100_000
  const learning = new Greedy(() => nowMs, true)
  const report = (resetMs: number | null): void =>
    learning.see({ limits: [{ kind: 'tokens', limit: 1000, remaining: 0, resetMs, windowMs: 60_000 }] })
  const used = (): number | undefined =>
    learning.limits
      .list()
      .find(({ kind }) => kind === 'tokens')
      ?.used(nowMs)
  report(0)
  assert.equal(used(), 0, 'a reset in the past: all of it is left')
  report(5000)
  assert.equal(used(), 1000)
  nowMs += 5300
  assert.equal(used(), 0)
  report(null)
  nowMs += 59_000
  assert.equal(used(), 1000)
})

test('a refusal of which calls are not the cause makes no pace, and a pace that is too slow does not stay', () => {
  let nowMs = 100_000
  const learning = new Greedy(() => nowMs, true)
  const refused = (isOverload: boolean): void => learning.see({ isRefusal: true, isOverload })
  const paceOf = (): number | undefined => {
    learning.limits.stakeOf(use, call)
    return learning.limits.list().find(({ kind }) => kind === 'tokens')?.limit
  }
  learning.take()
  nowMs += 10_000
  refused(true)
  assert.equal(paceOf(), undefined, 'overloaded')
  refused(false)
  const pace = paceOf()!
  assert.ok(pace > 0)
  learning.limits.forgive(learning.limits.stakeOf(use, call)!)
  assert.equal(paceOf(), undefined, 'a quota that is used up')
  refused(false)
  nowMs += 15 * 60_000
  assert.ok(paceOf()! >= 10 * pace)
})

test('a client’s large call at one upstream is not passed for ever by its small ones at another', () => {
  let nowMs = 100_000
  const limits = new MinuteLimits(() => nowMs, false)
  limits.set([], new Map([[ownerOfEntry('c'), { max_tpm: 60_000 }]]))
  const stakeAt = (upstream: string, tokensAsked: number) =>
    limits.stakeOf(
      { upstream, model: 'm', key: null },
      { caller: { client: 'c', keyFingerprint: null }, requestBytes: 4, tokensAsked, sinceMs: nowMs },
    )!
  let large: ReturnType<typeof stakeAt> | null = null
  let small = stakeAt('other', 1000)
  let smallOnes = 0
  const run = (untilMs: number): void => {
    for (; nowMs < untilMs; nowMs += 100) {
      if (small.waitMs(nowMs, new Set()) === 0) {
        small.charge(nowMs)
        small = stakeAt('other', 1000)
        smallOnes++
      }
      if (large?.waitMs(nowMs, new Set()) !== 0) continue
      large.charge(nowMs)
      return
    }
  }
  run(160_000)
  large = stakeAt('one', 40_000)
  run(260_000)
  assert.ok(nowMs < 210_000, `the large one waited ${nowMs - 160_000} ms`)
  large = stakeAt('one', 40_000)
  assert.ok(large.waitMs(nowMs, new Set()) > 0)
  // The large call leaves.
  large = null
  const soFar = smallOnes
  run(nowMs + 70_000)
  assert.ok(smallOnes > soFar + 10, `${smallOnes - soFar} small ones`)
})
