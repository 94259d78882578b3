import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock } from '../../../test/support/fake-clock.ts'
import type { MinuteUsage } from '../../call/call-sink.ts'
import { LocalAdmission } from '../admission/local-admission.ts'
import { LocalBudget } from '../admission/local-budget.ts'
import { type ToldUsage, restoreBudget } from './restore-budget.ts'

const minute = Date.UTC(2026, 10, 21, 6) / 60_000

function setUp(): {
  readonly asked: number[]
  readonly read: PromiseWithResolvers<readonly MinuteUsage[] | null>
  readonly parts: {
    readonly budget: LocalBudget
    readonly admission: LocalAdmission
    readonly clock: FakeClock
  }
  readonly restore: (told: ToldUsage | null, held?: LocalAdmission | null) => Promise<void>
} {
  const clock = new FakeClock()
  const slots = { maxConcurrent: 1, slotCooldownMs: 0, queueLimit: 10, queueTimeoutMs: 0 }
  const admission = new LocalAdmission({ clock, ...slots })
  const asked: number[] = []
  const read = Promise.withResolvers<readonly MinuteUsage[] | null>()
  const usageByMinute = (from: number): typeof read.promise => {
    asked.push(from)
    return read.promise
  }
  const budget = new LocalBudget(100, false)
  const restore: ReturnType<typeof setUp>['restore'] = (told, held = admission) =>
    restoreBudget(budget, held, { usageByMinute }, clock, told)
  return { asked, read, parts: { clock, admission, budget }, restore }
}

test('nobody is admitted before the database has told what was used', async () => {
  const { asked, read, parts, restore } = setUp()
  const restored = restore(null)
  assert.deepEqual(asked, [minute - 1440])
  assert.deepEqual([parts.budget.isKnown, parts.admission.tryAcquire()], [false, null])
  read.resolve([{ minute, tokens: 70 }])
  await restored
  assert.equal(parts.budget.snapshot(parts.clock.wallTime()).totalUsed, 70)
  assert.ok(parts.budget.isKnown)
  assert.ok(parts.admission.tryAcquire())
})

test('what a predecessor tells is known at once', () => {
  const { asked, parts, restore } = setUp()
  void restore({ used: [{ minute, tokens: 70 }], usedIsAll: true, past: Promise.resolve(null) })
  assert.deepEqual([asked, parts.budget.isKnown], [[], true])
  assert.ok(parts.admission.tryAcquire())
})

test('a predecessor that does not know the past tells its own calls, and the past once it knows', async () => {
  const { asked, parts, restore } = setUp()
  const past = Promise.withResolvers<readonly MinuteUsage[]>()
  const restored = restore({ used: [{ minute, tokens: 30 }], usedIsAll: false, past: past.promise })
  assert.deepEqual([parts.budget.isKnown, parts.admission.tryAcquire()], [false, null])
  assert.equal(parts.budget.snapshot(parts.clock.wallTime()).totalUsed, 30)
  past.resolve([{ minute: minute - 1, tokens: 40 }])
  await restored
  assert.deepEqual([asked, parts.budget.snapshot(parts.clock.wallTime()).totalUsed], [[], 70])
  assert.ok(parts.admission.tryAcquire())
})

test('one that ends before it knows leaves the database to be asked', async () => {
  const { asked, read, parts, restore } = setUp()
  const restored = restore({ used: [], usedIsAll: false, past: Promise.resolve(null) })
  read.resolve([{ minute, tokens: 70 }])
  await restored
  assert.deepEqual([asked.length, parts.budget.snapshot(parts.clock.wallTime()).totalUsed], [1, 70])
})

test('a database that is closed before it was read lets nobody in', async () => {
  const { read, parts, restore } = setUp()
  const restored = restore(null)
  read.resolve(null)
  await restored
  assert.deepEqual([parts.budget.isKnown, parts.admission.tryAcquire()], [false, null])
})

test('who only reports the budget holds nobody', async () => {
  const { parts, restore } = setUp()
  void restore(null, null)
  assert.ok(parts.admission.tryAcquire())
})
