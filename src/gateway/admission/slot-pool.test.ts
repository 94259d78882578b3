import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { kinds, runSchedules } from '../../../test/faults/slot-schedules.ts'
import { KeptSlots } from './kept-slots.ts'
import { SlotPool } from './slot-pool.ts'

const leaseMs = 1000

/** A gateway whose messages arrive at once. */
class Member {
  readonly slots: KeptSlots
  readonly #pool: SlotPool
  /** Since when its calls wait. */
  waiting: number[] = []
  active = 0

  constructor(pool: SlotPool, holder: string) {
    this.#pool = pool
    this.slots = new KeptSlots({ holder, leaseMs, inUse: () => this.active })
    this.sync(0)
  }

  sync(nowMs: number): void {
    const message = this.slots.message(this.waiting.map((sinceMs) => nowMs - sinceMs))
    const sent = { monotonicMs: nowMs, wallMs: nowMs, life: message.life }
    if (this.slots.answered(this.#pool.sync(message, nowMs), sent)) this.sync(nowMs)
  }

  take(nowMs: number): boolean {
    const mayTake = this.slots.idle > 0 && this.slots.isSure({ monotonicMs: nowMs, wallMs: nowMs })
    if (mayTake) this.active++
    return mayTake
  }

  /** Says whether the slot was given back. */
  release(): boolean {
    this.active--
    if (this.slots.contended) this.slots.give()
    return this.slots.contended
  }
}

const poolOf = (max: number): SlotPool => new SlotPool({ max, leaseMs, epoch: 'a', nowMs: 0 })

test('a slot goes to the call that has waited the longest, wherever it waits', () => {
  const pool = poolOf(1)
  const [one, other] = [new Member(pool, 'one'), new Member(pool, 'other')]
  one.waiting = [5]
  one.sync(10)
  assert.ok(one.take(10))
  one.waiting = [7, 20]
  one.sync(20)
  other.waiting = [6]
  other.sync(21)
  assert.deepEqual(pool.news(), ['one'], 'it learns that somebody else waits')
  one.sync(22)
  assert.ok(one.release(), 'what is free while others wait is given back')
  one.sync(23)
  assert.deepEqual([pool.news(), one.slots.idle], [['other'], 0])
  other.sync(24)
  assert.ok(other.take(24))
})

test('a slot that nobody elsewhere wants is kept, and goes back when it is idle', () => {
  const pool = poolOf(2)
  const one = new Member(pool, 'one')
  one.waiting = [1]
  one.sync(1)
  assert.ok(one.take(1))
  one.waiting = []
  assert.equal(one.release(), false)
  assert.ok(one.take(2))
  one.release()
  assert.deepEqual([one.slots.giveIdle(), one.slots.giveIdle(), one.slots.held], [true, false, 0])
})

test('one that waits is granted one slot, however often it says so before it hears of it', () => {
  const pool = poolOf(3)
  const one = new Member(pool, 'one')
  one.waiting = [1]
  const message = one.slots.message(one.waiting)
  for (let again = 0; again < 3; again++) pool.sync(message, 1)
  assert.equal(pool.held, 1)
})

test('fewer slots: what becomes free goes back until no more are held than there are', () => {
  const pool = poolOf(2)
  const one = new Member(pool, 'one')
  one.waiting = [1, 1]
  one.sync(1)
  assert.ok(one.take(1) && one.take(1))
  one.waiting = []
  pool.setMax(1, 1)
  one.sync(2)
  assert.ok(one.release())
  one.sync(3)
  assert.equal(one.release(), false)
  assert.equal(pool.held, 1)
})

test('who comes back after its lease takes no call into a slot that another holds by now', () => {
  const pool = poolOf(1)
  const [one, other] = [new Member(pool, 'one'), new Member(pool, 'other')]
  one.waiting = [1]
  one.sync(1)
  assert.ok(one.take(1))
  one.waiting = []
  other.waiting = [1001]
  other.sync(leaseMs + 1)
  assert.ok(other.take(leaseMs + 1))
  const message = one.slots.message([])
  const sent = { monotonicMs: leaseMs + 2, wallMs: leaseMs + 2, life: message.life }
  assert.ok(one.slots.answered(pool.sync(message, leaseMs + 2), sent), 'it is to join, in a new life')
  const joins = one.slots.message([])
  one.active--
  one.slots.answered(pool.sync(joins, leaseMs + 3), { ...sent, life: joins.life })
  assert.deepEqual([one.take(leaseMs + 3), one.slots.held], [false, 0])
})

test('nothing is used later than nine tenths of a lease after what was answered last, by either clock', () => {
  const pool = poolOf(1)
  const one = new Member(pool, 'one')
  one.waiting = [1]
  one.sync(1)
  for (const [monotonicMs, wallMs] of [
    [901, 1],
    [1, 901],
    [1, -899],
  ] as const)
    assert.equal(one.slots.isSure({ monotonicMs, wallMs }), false)
  assert.ok(one.slots.isSure({ monotonicMs: 900, wallMs: 900 }))
})

describe('random schedules: never over the limit but by calls whose holder was given up, and all are served', () => {
  for (const kind of Object.keys(kinds)) test(kind, () => runSchedules(kind, 60))
})
