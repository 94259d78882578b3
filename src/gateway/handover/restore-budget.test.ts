import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock } from '../../../test/support/fake-clock.ts'
import type { MinuteUsage } from '../../call/call-sink.ts'
import { LocalAdmission } from '../admission/local-admission.ts'
import { LocalBudget } from '../admission/local-budget.ts'
import { type ToldUsage, restoreBudget } from './restore-budget.ts'

const minute = Date.UTC(2026, 10, 21, 6) / 60_000

function setUp(): {
  readonly asked: (readonly [fromMinute: number, sinceMs: number])[]
  readonly read: PromiseWithResolvers<readonly MinuteUsage[] | null>
  readonly parts: {
    readonly budget: LocalBudget
    readonly admission: LocalAdmission
    readonly clock: FakeClock
  }
  readonly restore: (told?: ToldUsage, held?: LocalAdmission | null) => Promise<void>
} {
  const clock = new FakeClock()
  const slots = { maxConcurrent: 1, slotCooldownMs: 0, queueLimit: 10, queueTimeoutMs: 0 }
  const admission = new LocalAdmission({ clock, ...slots })
  const asked: (readonly [number, number])[] = []
  const read = Promise.withResolvers<readonly MinuteUsage[] | null>()
  const usageByMinute = (from: number, sinceMs: number): typeof read.promise => {
    asked.push([from, sinceMs])
    return read.promise
  }
  const budget = new LocalBudget(100, false)
  const restore: ReturnType<typeof setUp>['restore'] = (
    told = { told: [], isAll: false, sinceMs: 7 },
    held = admission,
  ) => restoreBudget(budget, held, { usageByMinute }, clock, told)
  return { asked, read, parts: { clock, admission, budget }, restore }
}

test('nobody is admitted before the database has told what was used', async () => {
  const { asked, read, parts, restore } = setUp()
  const restored = restore()
  assert.deepEqual(asked, [[minute - 1440, 7]])
  assert.deepEqual([parts.budget.isKnown, parts.admission.tryAcquire()], [false, null])
  read.resolve([{ minute, tokens: 70 }])
  await restored
  assert.equal(parts.budget.snapshot(parts.clock.wallTime()).totalUsed, 70)
  assert.ok(parts.budget.isKnown)
  assert.ok(parts.admission.tryAcquire())
})

test('what a predecessor tells is known at once', () => {
  const { asked, parts, restore } = setUp()
  void restore({ told: [{ minute, tokens: 70 }], isAll: true, sinceMs: 0 })
  assert.deepEqual([asked, parts.budget.isKnown], [[], true])
  assert.ok(parts.admission.tryAcquire())
})

test('what a predecessor counted is not read again, and what was before it is', async () => {
  const { asked, read, parts, restore } = setUp()
  const restored = restore({ told: [{ minute, tokens: 30 }], isAll: false, sinceMs: 5 })
  assert.deepEqual([parts.budget.isKnown, parts.admission.tryAcquire()], [false, null])
  assert.equal(parts.budget.snapshot(parts.clock.wallTime()).totalUsed, 30)
  read.resolve([{ minute: minute - 1, tokens: 40 }])
  await restored
  assert.deepEqual(
    [asked, parts.budget.snapshot(parts.clock.wallTime()).totalUsed],
    [[[minute - 1440, 5]], 70],
  )
  assert.ok(parts.admission.tryAcquire())
})

test('a database that is closed before it was read lets nobody in', async () => {
  const { read, parts, restore } = setUp()
  const restored = restore()
  read.resolve(null)
  await restored
  assert.deepEqual([parts.budget.isKnown, parts.admission.tryAcquire()], [false, null])
})

test('who only reports the budget holds nobody', async () => {
  const { parts, restore } = setUp()
  void restore(undefined, null)
  assert.ok(parts.admission.tryAcquire())
})
