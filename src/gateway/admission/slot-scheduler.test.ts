import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { SlotScheduler } from './slot-scheduler.ts'
import type { QueueOrder } from './admission.ts'
import type { Waiter } from './sub-queue.ts'
import { draws } from '../../../test/support/draws.ts'

const cooldownMs = 50

function allNext(queue: SlotScheduler<string>, nowMs: number): readonly string[] {
  const going: string[] = []
  for (let next = queue.next(nowMs); next !== null; next = queue.next(nowMs)) going.push(next.call)
  return going
}

describe('SlotScheduler', () => {
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
