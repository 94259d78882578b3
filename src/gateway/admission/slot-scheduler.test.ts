import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { FakeClock } from '../../../test/support/fake-clock.ts'
import type { Caller, QueueDiscipline, QueueOrder } from './admission.ts'
import { SlotLimiter } from './slot-limiter.ts'
import { SlotScheduler } from './slot-scheduler.ts'
import type { Waiter } from './sub-queue.ts'
import { fieldsOf } from '../../../test/support/fields-of.ts'
import { draws } from '../../../test/support/draws.ts'

const none: ReadonlyMap<string, number> = new Map()

function from(client: string, keyFingerprint: string | null = null): Caller {
  return { client, keyFingerprint }
}

/** The names of all calls that go now. */
function allNext(queue: SlotScheduler<string>, nowMs = 0): readonly string[] {
  const going: string[] = []
  for (let next = queue.next(nowMs); next !== null; next = queue.next(nowMs)) going.push(next.call)
  return going
}

/** A queue with one slot that is in use, in which these wait: `a1` is a call of `a`. */
function waitingIn(discipline: QueueDiscipline, limits: ReadonlyMap<string, number>, ...calls: string[]) {
  const queue = new SlotScheduler<string>(1, 0)
  queue.arrange(discipline, limits, [])
  assert.ok(queue.tryAdmit('arrival', from('holder')))
  for (const call of calls) queue.wait(call, 'arrival', from(call.slice(0, 1)))
  return queue
}

/** Serves one call after the other, each given back at once. */
function served(queue: SlotScheduler<string>): readonly string[] {
  const order: string[] = []
  let holder = from('holder')
  for (;;) {
    queue.release(0, holder)
    const next = queue.next(0)
    if (next === null) return order
    order.push(next.call)
    holder = next.caller
  }
}

describe('a fair queue', () => {
  it('tells in which order calls are served', () => {
    const calls = ['a1', 'a2', 'a3', 'b1', 'c1', 'c2']
    for (const discipline of ['fifo', 'fair'] as const) {
      const queue = waitingIn(discipline, none, ...calls)
      queue.wait('z1', 'back', from('z'))
      const waiting = queue.waiting.map(({ call }) => call)
      assert.deepEqual(waiting, served(queue), discipline)
    }
  })

  it('tells calls without a name apart by their key, and puts the others in one line', () => {
    const queue = waitingIn('fair', none)
    const wait = (call: string, keyFingerprint: string | null): unknown =>
      queue.wait(call, 'arrival', { client: null, keyFingerprint })
    for (const call of ['x1', 'x2', 'x3']) wait(call, 'aaaaaaaa')
    wait('y1', 'bbbbbbbb')
    for (const call of ['z1', 'z2']) wait(call, null)
    assert.deepEqual(served(queue), ['x1', 'y1', 'z1', 'x2', 'z2', 'x3'])
  })

  it('gives a client that calls itself as a key does a turn of its own, and none of that key’s limit', () => {
    const queue = waitingIn('fair', new Map([['bbbbbbbb', 1]]))
    queue.wait('x1', 'arrival', { client: null, keyFingerprint: 'aaaaaaaa' })
    queue.wait('x2', 'arrival', { client: null, keyFingerprint: 'aaaaaaaa' })
    for (const call of ['y1', 'y2']) queue.wait(call, 'arrival', from('aaaaaaaa'))
    for (const call of ['z1', 'z2']) queue.wait(call, 'arrival', from('bbbbbbbb'))
    assert.deepEqual(served(queue), ['x1', 'y1', 'z1', 'x2', 'y2', 'z2'])
    assert.equal(queue.ofLimited.get('bbbbbbbb'), 0)
  })

  it('can be made one and back, and those that wait go by it from then on', () => {
    const queue = waitingIn('fifo', none, 'a1', 'a2', 'a3', 'b1')
    queue.arrange('fair', none, [{ caller: from('holder') }])
    queue.release(0, from('holder'))
    assert.deepEqual(allNext(queue), ['a1'])
    queue.release(0, from('a'))
    assert.deepEqual(allNext(queue), ['b1'])
    queue.wait('b2', 'arrival', from('b'))
    queue.arrange('fifo', none, [{ caller: from('b') }])
    queue.release(0, from('b'))
    assert.deepEqual(served(withHolder(queue)), ['a3', 'b2'])
  })
})

/** Lets the next go, so that somebody holds the slot. */
function withHolder(queue: SlotScheduler<string>): SlotScheduler<string> {
  assert.deepEqual(allNext(queue), ['a2'])
  return queue
}

describe('a client’s own limit', () => {
  it('of a key goes before that of the client’s name', () => {
    const queue = new SlotScheduler<string>(4, 0)
    const limits = new Map([
      ['a', 2],
      ['12345678', 1],
    ])
    queue.arrange('fifo', limits, [])
    assert.ok(queue.tryAdmit('arrival', from('a', '12345678')))
    assert.equal(queue.tryAdmit('arrival', from('a', '12345678')), false)
    assert.ok(queue.tryAdmit('arrival', from('a', '00000000')))
    assert.ok(queue.tryAdmit('arrival', from('a')))
    assert.equal(queue.tryAdmit('arrival', from('a')), false)
  })

  it('cools no slot for calls that may not have it', () => {
    const queue = new SlotScheduler<string>(2, 50)
    queue.arrange('fifo', new Map([['a', 1]]), [])
    queue.tryAdmit('arrival', from('a'))
    queue.tryAdmit('arrival', from('b'))
    queue.wait('a2', 'arrival', from('a'))
    queue.release(0, from('b'))
    assert.equal(queue.readyAtMs, null)
    assert.ok(queue.tryAdmit('arrival', from('b')))
    queue.release(10, from('a'))
    assert.equal(queue.readyAtMs, 60)
    assert.deepEqual([allNext(queue, 59), allNext(queue, 60)], [[], ['a2']])
  })

  it('counts calls that are in flight already, whenever it is set', () => {
    const clock = new FakeClock()
    const admission = new SlotLimiter({
      clock,
      maxConcurrent: 3,
      slotCooldownMs: 0,
      queueLimit: 10,
      queueTimeoutMs: 0,
    })
    const permits = [0, 1].map(() => admission.tryAcquire(from('a')))
    admission.setLimits(new Map([['a', 2]]))
    assert.equal(admission.tryAcquire(from('a')), null)
    assert.deepEqual([...admission.byClient()], [['a', { active: 2, waiting: 0 }]])
    admission.reserveForPredecessor(0, new Map([['a', 1]]))
    permits[0]?.release()
    assert.equal(admission.tryAcquire(from('a')), null, 'one of its two is another gateway’s')
    admission.reserveForPredecessor(0, new Map())
    permits[0]?.release()
    assert.ok(admission.tryAcquire(from('a')))
    admission.setLimits(new Map())
    assert.ok(admission.tryAcquire(from('a')))
  })
})

it('a call that comes back goes behind those that wait since longer, and before the others', () => {
  for (const discipline of ['fifo', 'fair'] as const) {
    const queue = new SlotScheduler<string>(1, 0)
    queue.arrange(discipline, new Map(), [])
    queue.tryAdmit('arrival', from('a'))
    queue.wait('b', 'arrival', from('b'), 10)
    queue.wait('c', 'arrival', from('c'), 20)
    queue.wait('young', 'back', from('a'), 25)
    queue.wait('middle', 'back', from('a'), 15)
    queue.wait('d', 'arrival', from('d'), 30)
    queue.wait('old', 'back', from('a'), 5)
    const order = ['old', 'b', 'middle', 'c', 'young', 'd']
    if (discipline === 'fifo') assert.deepEqual(fieldsOf(queue.waiting, 'call'), order)
    const served = order.map(() => {
      queue.release(0)
      return queue.next(0)?.call
    })
    assert.deepEqual(served, order)
  }
})

const clients = ['a', 'b', 'c', 'd'] as const
const limitsOf = fc.dictionary(fc.constantFrom(...clients), fc.integer({ min: 1, max: 3 }), {
  noNullPrototype: true,
})
const event = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ kind: fc.constant('arrive' as const), of: fc.nat(3), isBack: fc.nat(9) }),
  },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('finish' as const), n: fc.nat(99) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('leave' as const), n: fc.nat(99) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('limit' as const), limits: limitsOf }) },
)

/** Checks, call by call, what is promised of a queue. */
class Witness {
  readonly queue: SlotScheduler<string>
  readonly discipline: QueueDiscipline
  readonly max: number
  limits: ReadonlyMap<string, number> = none
  /** In the order of arrival. */
  readonly waiting = new Map<string, Waiter<string>>()
  readonly active: { readonly caller: Caller; readonly name: string }[] = []
  readonly over = new Set<string>()
  /** Of each client whose turn comes: how often each other one was served before it. */
  readonly passedBy = new Map<string, Map<string, number>>()
  names = 0

  constructor(discipline: QueueDiscipline, max: number) {
    this.discipline = discipline
    this.max = max
    this.queue = new SlotScheduler(max, 0)
    this.limit(none)
  }

  room(client: string): number {
    const active = this.active.filter(({ caller }) => caller.client === client).length
    return (this.limits.get(client) ?? Infinity) - active
  }

  limit(limits: ReadonlyMap<string, number>): void {
    this.limits = limits
    this.queue.arrange(this.discipline, limits, this.active)
    this.passedBy.clear()
    this.look()
  }

  arrive(client: string, order: QueueOrder): void {
    const name = `${client}${this.names++}`
    const caller = from(client)
    const mayGo = this.active.length < this.max && this.room(client) > 0 && !this.somebodyMayGo()
    const goes = this.queue.tryAdmit(order, caller)
    assert.equal(goes, mayGo, 'an arrival goes at once if a slot is free that nobody waits for')
    if (goes) this.active.push({ caller, name })
    else this.waiting.set(name, this.queue.wait(name, order, caller))
    this.look()
  }

  finish(n: number): void {
    const [call] = this.active.splice(n % Math.max(1, this.active.length), 1)
    if (call === undefined) return
    this.over.add(call.name)
    this.queue.release(0, call.caller)
    this.look()
  }

  leave(n: number): void {
    const name = [...this.waiting.keys()][n % Math.max(1, this.waiting.size)]
    if (name === undefined) return
    assert.ok(this.queue.cancel(this.waiting.get(name)!))
    this.waiting.delete(name)
    this.over.add(name)
    this.look()
  }

  somebodyMayGo(): boolean {
    return [...this.waiting.values()].some(({ caller }) => this.room(caller.client!) > 0)
  }

  /** Calls that lack nothing but a slot; calls that come back first. */
  next(): readonly Waiter<string>[] {
    const able = [...this.waiting.values()].filter(({ caller }) => this.room(caller.client!) > 0)
    const back = able.filter(({ order }) => order === 'back')
    return back.length > 0 ? back : able
  }

  /** At its limit, or with nobody waiting, a client has no turn; it comes last when it has one again. */
  forgetWhoHasNoTurn(): void {
    for (const one of this.passedBy.keys()) {
      const hasArrivals = [...this.waiting.values()].some(
        ({ caller, order }) => caller.client === one && order === 'arrival',
      )
      if (!hasArrivals || this.room(one) <= 0) this.passedBy.delete(one)
    }
  }

  look(): void {
    this.forgetWhoHasNoTurn()
    for (;;) {
      const able = this.next()
      const next = this.queue.next(0)
      if (next === null) break
      const client = next.caller.client!
      assert.ok(this.waiting.delete(next.call) && !this.over.has(next.call), 'each goes once')
      assert.ok(this.active.length < this.max && this.room(client) > 0, 'no limit is exceeded')
      assert.ok(able.includes(next))
      const first = this.discipline === 'fifo' ? able[0] : able.find(({ caller }) => caller.client === client)
      assert.equal(next.call, first?.call, 'first in, first out')
      this.active.push({ caller: next.caller, name: next.call })
      this.countTurn(client, next.order, able)
      this.forgetWhoHasNoTurn()
    }
    const isFull = this.active.length >= this.max
    assert.ok(isFull || !this.somebodyMayGo(), 'a call waits beside a slot that it may have')
    const { active, queued } = this.queue.tally
    assert.deepEqual([active, queued], [this.active.length, this.waiting.size])
    assert.equal(this.queue.demand >= this.active.length, true)
  }

  /** Of k clients whose calls wait for a slot alone, each is served after at most k − 1 others. */
  countTurn(client: string, order: QueueOrder, able: readonly Waiter<string>[]): void {
    if (this.discipline === 'fifo' || order === 'back') return
    this.passedBy.delete(client)
    const others = new Set(able.map(({ caller }) => caller.client!))
    others.delete(client)
    for (const other of others) {
      const passed = this.passedBy.get(other) ?? new Map<string, number>()
      this.passedBy.set(other, passed)
      passed.set(client, (passed.get(client) ?? 0) + 1)
      assert.equal(passed.get(client), 1, `${client} was served twice while ${other} waited`)
    }
  }
}

for (const discipline of ['fifo', 'fair'] as const) {
  it(`${discipline}: no limit is exceeded, nobody is passed over, and each is served or leaves once, whatever happens`, () => {
    const property = fc.property(
      fc.array(event, { maxLength: 400, size: 'max' }),
      fc.integer({ min: 1, max: 5 }),
      (events, max) => {
        const witness = new Witness(discipline, max)
        for (const each of events) {
          if (each.kind === 'arrive')
            witness.arrive(clients[each.of]!, each.isBack === 0 ? 'back' : 'arrival')
          else if (each.kind === 'finish') witness.finish(each.n)
          else if (each.kind === 'leave') witness.leave(each.n)
          else {
            // A limit below what is in flight is met as calls end.
            const limits = Object.entries(each.limits).map(([client, most]) => {
              const active = witness.active.filter(({ caller }) => caller.client === client).length
              return [client, Math.max(most, active)] as const
            })
            witness.limit(new Map(limits))
          }
        }
        while (witness.active.length > 0) witness.finish(0)
        assert.equal(witness.over.size, witness.names, 'every call is over')
        assert.deepEqual([witness.queue.tally.queued, witness.waiting.size], [0, 0])
      },
    )
    fc.assert(property, { numRuns: draws(200) })
  })
}
