import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { SlotScheduler } from './slot-scheduler.ts'
import type { QueueOrder } from './admission.ts'
import type { Waiter } from './waiting-lanes.ts'
import { draws } from '../../../test/support/draws.ts'

const cooldownMs = 50

/** One step of a table test, and the calls that go in flight because of it. */
type Step =
  | { readonly arrive: string; readonly order?: QueueOrder; readonly goes?: boolean }
  | { readonly leave: string }
  | { readonly finish: number; readonly goes?: readonly string[] }
  | { readonly at: number; readonly goes: readonly string[] }
  | { readonly capacity: number; readonly goes: readonly string[] }
  | { readonly cooldown: number; readonly goes: readonly string[] }

interface Case {
  readonly rule: string
  readonly max: number
  readonly cooldownMs?: number
  readonly steps: readonly Step[]
}

const cases: readonly Case[] = [
  {
    rule: 'an arrival goes at once while a slot is free',
    max: 2,
    steps: [
      { arrive: 'a', goes: true },
      { arrive: 'b', goes: true },
      { arrive: 'c', goes: false },
    ],
  },
  {
    rule: 'with nobody waiting a freed slot is free at once',
    max: 1,
    steps: [{ arrive: 'a', goes: true }, { finish: 1 }, { arrive: 'b', goes: true }],
  },
  {
    rule: 'a freed slot cools before the longest waiting call takes it',
    max: 1,
    steps: [
      { arrive: 'a', goes: true },
      { arrive: 'b', goes: false },
      { arrive: 'c', goes: false },
      { at: 10, goes: [] },
      { finish: 1, goes: [] },
      { at: 59, goes: [] },
      { at: 60, goes: ['b'] },
      { at: 200, goes: [] },
    ],
  },
  {
    rule: 'slots cool each on its own',
    max: 2,
    steps: [
      { arrive: 'a', goes: true },
      { arrive: 'b', goes: true },
      { arrive: 'c', goes: false },
      { arrive: 'd', goes: false },
      { finish: 1, goes: [] },
      { at: 20, goes: [] },
      { finish: 1, goes: [] },
      { at: 50, goes: ['c'] },
      { at: 69, goes: [] },
      { at: 70, goes: ['d'] },
    ],
  },
  {
    rule: 'slots that are ready together are taken in order',
    max: 2,
    steps: [
      { arrive: 'a', goes: true },
      { arrive: 'b', goes: true },
      { arrive: 'c', goes: false },
      { arrive: 'd', goes: false },
      { arrive: 'e', goes: false },
      { finish: 2, goes: [] },
      { at: 50, goes: ['c', 'd'] },
    ],
  },
  {
    rule: 'an arrival does not take a cooling slot, but queues behind',
    max: 1,
    steps: [
      { arrive: 'a', goes: true },
      { arrive: 'b', goes: false },
      { finish: 1, goes: [] },
      { arrive: 'c', goes: false },
      { at: 50, goes: ['b'] },
    ],
  },
  {
    rule: 'when the last waiting call leaves, cooling slots are free at once',
    max: 2,
    steps: [
      { arrive: 'a', goes: true },
      { arrive: 'b', goes: true },
      { arrive: 'c', goes: false },
      { finish: 2, goes: [] },
      { leave: 'c' },
      { arrive: 'd', goes: true },
      { arrive: 'e', goes: true },
      { arrive: 'f', goes: false },
    ],
  },
  {
    rule: 'when the last waiting call goes, the other cooling slots are free at once',
    max: 2,
    steps: [
      { arrive: 'a', goes: true },
      { arrive: 'b', goes: true },
      { arrive: 'c', goes: false },
      { finish: 1, goes: [] },
      { at: 10, goes: [] },
      { finish: 1, goes: [] },
      { at: 50, goes: ['c'] },
      { arrive: 'd', goes: true },
      { arrive: 'e', goes: false },
    ],
  },
  {
    rule: 'a call that leaves from the middle is passed over',
    max: 1,
    steps: [
      { arrive: 'a', goes: true },
      { arrive: 'b', goes: false },
      { arrive: 'c', goes: false },
      { arrive: 'd', goes: false },
      { leave: 'c' },
      { finish: 1, goes: [] },
      { at: 50, goes: ['b'] },
      { finish: 1, goes: [] },
      { at: 100, goes: ['d'] },
    ],
  },
  {
    rule: 'without a cooldown the slot passes on at once',
    max: 1,
    cooldownMs: 0,
    steps: [
      { arrive: 'a', goes: true },
      { arrive: 'b', goes: false },
      { arrive: 'c', goes: false },
      { finish: 1, goes: ['b'] },
      { finish: 1, goes: ['c'] },
    ],
  },
  {
    rule: 'more capacity is taken at once, without cooling',
    max: 1,
    steps: [
      { arrive: 'a', goes: true },
      { arrive: 'b', goes: false },
      { arrive: 'c', goes: false },
      { arrive: 'd', goes: false },
      { capacity: 3, goes: ['b', 'c'] },
    ],
  },
  {
    rule: 'with less capacity a given-back slot is gone until the limit is met',
    max: 3,
    steps: [
      { arrive: 'a', goes: true },
      { arrive: 'b', goes: true },
      { arrive: 'c', goes: true },
      { arrive: 'd', goes: false },
      { capacity: 1, goes: [] },
      { finish: 2, goes: [] },
      { at: 100, goes: [] },
      { finish: 1, goes: [] },
      { at: 150, goes: ['d'] },
    ],
  },
  {
    rule: 'capacity lowered while slots cool leaves as many as there are places',
    max: 3,
    steps: [
      { arrive: 'a', goes: true },
      { arrive: 'b', goes: true },
      { arrive: 'c', goes: true },
      { arrive: 'd', goes: false },
      { arrive: 'e', goes: false },
      { arrive: 'f', goes: false },
      { finish: 3, goes: [] },
      { capacity: 2, goes: [] },
      { at: 50, goes: ['d', 'e'] },
      { finish: 1, goes: [] },
      { at: 100, goes: ['f'] },
    ],
  },
  {
    rule: 'a shorter cooldown also ends the pauses under way sooner',
    max: 2,
    steps: [
      { arrive: 'a', goes: true },
      { arrive: 'b', goes: true },
      { arrive: 'c', goes: false },
      { arrive: 'd', goes: false },
      { finish: 1, goes: [] },
      { at: 20, goes: [] },
      { finish: 1, goes: [] },
      { cooldown: 10, goes: [] },
      { at: 29, goes: [] },
      { at: 30, goes: ['c', 'd'] },
    ],
  },
  {
    rule: 'a longer cooldown holds for slots given back from now on',
    max: 1,
    steps: [
      { arrive: 'a', goes: true },
      { arrive: 'b', goes: false },
      { arrive: 'c', goes: false },
      { finish: 1, goes: [] },
      { cooldown: 100, goes: [] },
      { at: 50, goes: ['b'] },
      { finish: 1, goes: [] },
      { at: 149, goes: [] },
      { at: 150, goes: ['c'] },
    ],
  },
  {
    rule: 'with no capacity nobody goes until there is some',
    max: 1,
    steps: [
      { capacity: 0, goes: [] },
      { arrive: 'a', goes: false },
      { at: 1000, goes: [] },
      { capacity: 1, goes: ['a'] },
    ],
  },
  {
    rule: 'calls that come back go ahead of arrivals, in the order in which they came back',
    max: 1,
    steps: [
      { arrive: 'a', goes: true },
      { arrive: 'b', goes: false },
      { arrive: 'x', order: 'back', goes: false },
      { arrive: 'c', goes: false },
      { arrive: 'y', order: 'back', goes: false },
      { finish: 1, goes: [] },
      { at: 50, goes: ['x'] },
      { finish: 1, goes: [] },
      { at: 100, goes: ['y'] },
      { finish: 1, goes: [] },
      { at: 150, goes: ['b'] },
    ],
  },
]

function allNext(queue: SlotScheduler<string>, nowMs: number): readonly string[] {
  const going: string[] = []
  for (let next = queue.next(nowMs); next !== null; next = queue.next(nowMs)) going.push(next.call)
  return going
}

function runCase({ max, cooldownMs: ownCooldownMs = cooldownMs, steps }: Case): void {
  const queue = new SlotScheduler<string>(max, ownCooldownMs)
  const waiters = new Map<string, Waiter<string>>()
  let nowMs = 0
  for (const step of steps) {
    const what = JSON.stringify(step)
    if ('arrive' in step) {
      const goes = queue.tryAdmit(step.order)
      if (!goes) waiters.set(step.arrive, queue.wait(step.arrive, step.order))
      assert.equal(goes, step.goes, what)
      continue
    }
    if ('leave' in step) {
      assert.equal(queue.cancel(waiters.get(step.leave)!), true, what)
      assert.equal(queue.cancel(waiters.get(step.leave)!), false, what)
      continue
    }
    if ('finish' in step) for (let i = 0; i < step.finish; i++) queue.release(nowMs)
    if ('at' in step) nowMs = step.at
    if ('capacity' in step) queue.setCapacity(step.capacity)
    if ('cooldown' in step) queue.setCooldown(step.cooldown, nowMs)
    assert.deepEqual(allNext(queue, nowMs), step.goes ?? [], what)
  }
}

describe('SlotScheduler', () => {
  for (const each of cases) it(each.rule, () => runCase(each))

  it('counts who went, who had to wait, and the peak', () => {
    const queue = new SlotScheduler<string>(2, cooldownMs)
    assert.ok(queue.tryAdmit())
    assert.ok(queue.tryAdmit())
    const gone = queue.wait('c')
    queue.wait('d')
    queue.wait('e', 'back')
    queue.cancel(gone)
    queue.release(0)
    queue.release(0)
    assert.deepEqual(queue.figures(), {
      maxConcurrent: 2,
      slotCooldownMs: 50,
      active: 0,
      queued: 2,
      totalAdmitted: 2,
      totalQueued: 2,
      peakActive: 2,
    })
    assert.deepEqual(allNext(queue, 50), ['e', 'd'])
    assert.deepEqual(queue.figures(), {
      maxConcurrent: 2,
      slotCooldownMs: 50,
      active: 2,
      queued: 0,
      totalAdmitted: 3,
      totalQueued: 2,
      peakActive: 2,
    })
  })

  it('names the instant at which the next slot is ready', () => {
    const queue = new SlotScheduler<string>(2, cooldownMs)
    queue.tryAdmit()
    queue.tryAdmit()
    const waiter = queue.wait('c')
    assert.equal(queue.readyAtMs, null)
    queue.release(7)
    queue.release(9)
    assert.equal(queue.readyAtMs, 57)
    queue.cancel(waiter)
    assert.equal(queue.readyAtMs, null)
  })

  it('puts a call that comes back behind those that wait since longer, and before the others', () => {
    for (const discipline of ['fifo', 'fair'] as const) {
      const queue = new SlotScheduler<string>(1, 0)
      queue.arrange(discipline, new Map(), [])
      const from = (client: string) => ({ client, keyFingerprint: null })
      queue.tryAdmit('arrival', from('a'))
      queue.wait('b', 'arrival', from('b'), 10)
      queue.wait('c', 'arrival', from('c'), 20)
      queue.wait('young', 'back', from('a'), 25)
      queue.wait('middle', 'back', from('a'), 15)
      queue.wait('d', 'arrival', from('d'), 30)
      queue.wait('old', 'back', from('a'), 5)
      const order = ['old', 'b', 'middle', 'c', 'young', 'd']
      if (discipline === 'fifo')
        assert.deepEqual(
          queue.waiting.map(({ call }) => call),
          order,
        )
      const served = order.map(() => {
        queue.release(0)
        return queue.next(0)?.call
      })
      assert.deepEqual(served, order)
    }
  })

  it('refuses to take back a slot that nobody holds', () => {
    assert.throws(() => new SlotScheduler<string>(1, 0).release(0), /nobody holds/)
  })
})

/** The rules once more, as naive as can be: lists that are searched and sorted. */
class Model {
  max: number
  cooldownMs = cooldownMs
  active: string[] = []
  cooling: number[] = []
  waiting: { name: string; order: QueueOrder }[] = []

  constructor(max: number) {
    this.max = max
  }

  arrive(name: string, order: QueueOrder): boolean {
    const goes = this.waiting.length === 0 && this.active.length + this.cooling.length < this.max
    if (goes) this.active.push(name)
    else this.waiting.push({ name, order })
    return goes
  }

  leave(name: string): void {
    this.waiting = this.waiting.filter((each) => each.name !== name)
    if (this.waiting.length === 0) this.cooling = []
  }

  finish(name: string, nowMs: number): void {
    this.active = this.active.filter((each) => each !== name)
    if (this.waiting.length > 0 && this.active.length + this.cooling.length < this.max) {
      this.cooling.push(nowMs + this.cooldownMs)
    }
  }

  go(nowMs: number): readonly string[] {
    const going: string[] = []
    const goNext = (): void => {
      const next = this.waiting.find((each) => each.order === 'back') ?? this.waiting[0]
      assert.ok(next)
      this.active.push(next.name)
      going.push(next.name)
      this.leave(next.name)
    }
    while (this.waiting.length > 0 && this.active.length + this.cooling.length < this.max) goNext()
    while (this.waiting.length > 0 && this.cooling.length > 0 && this.cooling[0]! <= nowMs) {
      this.cooling.shift()
      if (this.active.length < this.max) goNext()
    }
    return going
  }
}

const event = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('arrive' as const), n: fc.nat(9) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('finish' as const), n: fc.nat(99) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('leave' as const), n: fc.nat(99) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('pass' as const), n: fc.nat(80) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('capacity' as const), n: fc.nat(6) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('cooldown' as const), n: fc.nat(100) }) },
)

it('SlotScheduler does what a naive reading of the rules does, whatever happens', () => {
  const property = fc.property(
    fc.array(event, { maxLength: 1000, size: 'max' }),
    fc.integer({ min: 1, max: 5 }),
    (events, max) => {
      const queue = new SlotScheduler<string>(max, cooldownMs)
      const model = new Model(max)
      const waiters = new Map<string, Waiter<string>>()
      const left = new Set<string>()
      let nowMs = 0
      let lowered = 0
      let nameCount = 0

      const check = (): void => {
        const going = allNext(queue, nowMs)
        assert.deepEqual(going, model.go(nowMs))
        for (const name of going) assert.ok(waiters.delete(name) && !left.has(name), `${name} may not go`)
        assert.equal(queue.active, model.active.length)
        assert.equal(queue.queued, model.waiting.length)
        assert.equal(queue.readyAtMs, model.cooling[0] ?? null)
        lowered = Math.max(0, Math.min(lowered, queue.active - model.max))
        assert.ok(queue.active <= model.max + lowered, 'more in flight than slots')
        assert.ok(queue.queued === 0 || queue.full, 'a call waits beside a free slot')
        assert.ok(queue.queued > 0 || queue.readyAtMs === null, 'a slot cools for nobody')
      }

      for (const { kind, n } of events) {
        if (kind === 'arrive') {
          const name = `call ${nameCount++}`
          const order = n === 0 ? 'back' : 'arrival'
          const goes = queue.tryAdmit(order)
          if (!goes) waiters.set(name, queue.wait(name, order))
          assert.equal(goes, model.arrive(name, order))
        } else if (kind === 'finish') {
          if (model.active.length === 0) continue
          model.finish(model.active[n % model.active.length]!, nowMs)
          queue.release(nowMs)
        } else if (kind === 'leave') {
          const name = [...waiters.keys()][n % Math.max(1, waiters.size)]
          if (name === undefined) continue
          assert.ok(queue.cancel(waiters.get(name)!))
          waiters.delete(name)
          left.add(name)
          model.leave(name)
        } else if (kind === 'pass') {
          nowMs += n
        } else if (kind === 'cooldown') {
          queue.setCooldown(n, nowMs)
          model.cooldownMs = n
          model.cooling = model.cooling.map((readyAtMs) => Math.min(readyAtMs, nowMs + n))
        } else {
          lowered = Math.max(0, queue.active - n)
          queue.setCapacity(n)
          model.max = n
        }
        check()
      }

      queue.setCapacity(max)
      model.max = max
      lowered = Math.max(0, queue.active - max)
      check()
      while (queue.active > 0 || queue.queued > 0) {
        for (const name of model.active) {
          model.finish(name, nowMs)
          queue.release(nowMs)
        }
        nowMs += model.cooldownMs
        check()
      }
      assert.deepEqual([queue.active, queue.queued, waiters.size], [0, 0, 0])
    },
  )
  fc.assert(property, { numRuns: draws(200) })
})
