import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { Failure } from '../../call/failure.ts'
import { FakeClock } from '../../../test/support/fake-clock.ts'
import { SlotLimiter, type AdmissionOptions } from './slot-limiter.ts'
import type { Permit } from './admission.ts'
import { draws } from '../../../test/support/draws.ts'

const never = new AbortController().signal

/** Notes who was given a permit, in that order, and who was refused, with the reason. */
class Callers {
  readonly admission: SlotLimiter
  readonly permits = new Map<string, Permit>()
  readonly admitted: string[] = []
  readonly refused = new Map<string, unknown>()

  constructor(admission: SlotLimiter) {
    this.admission = admission
  }

  arrive(name: string, signal: AbortSignal = never, order: 'arrival' | 'back' = 'arrival'): void {
    this.admission.acquire(signal, order).then(
      (permit) => {
        this.admitted.push(name)
        this.permits.set(name, permit)
      },
      (reason: unknown) => {
        this.refused.set(name, reason)
      },
    )
  }

  finish(name: string): void {
    this.permits.get(name)?.release()
    this.permits.delete(name)
  }

  failure(name: string): Failure {
    const reason = this.refused.get(name)
    assert.ok(reason instanceof Failure, `${name} was not refused`)
    return reason
  }
}

function setUp({
  clock = new FakeClock(),
  ...options
}: Partial<AdmissionOptions> & { clock?: FakeClock } = {}) {
  const defaults = { clock, maxConcurrent: 1, slotCooldownMs: 50, queueLimit: 10_000, queueTimeoutMs: 0 }
  const admission = new SlotLimiter({ ...defaults, ...options })
  return { admission, clock, callers: new Callers(admission) }
}

describe('SlotLimiter', () => {
  it('does not use slots that others use, and refuses no call for the lack of one that may come back', async () => {
    const { admission, clock, callers } = setUp({ maxConcurrent: 2, queueLimit: 0 })
    admission.setCeiling(0)
    for (const name of ['first', 'second', 'third']) callers.arrive(name)
    await clock.advance(0)
    assert.deepEqual(callers.admitted, [])
    assert.equal(callers.failure('third').code, 'queue_full')
    admission.setCeiling(1)
    await clock.advance(0)
    assert.deepEqual(callers.admitted, ['first'])
    assert.equal(admission.snapshot().maxConcurrent, 2)
    admission.setCeiling(Infinity)
    await clock.advance(0)
    assert.deepEqual(callers.admitted, ['first', 'second'])
  })

  it('asks for no time that has passed where a busy machine is late for a slot', async () => {
    const delaysMs: number[] = []
    class NotingClock extends FakeClock {
      override after(...timer: Parameters<FakeClock['after']>): () => void {
        delaysMs.push(timer[0])
        return super.after(...timer)
      }
    }
    const { admission, clock, callers } = setUp({ clock: new NotingClock(), maxConcurrent: 2 })
    for (const name of ['first', 'second', 'third', 'fourth']) callers.arrive(name)
    await clock.advance(0)
    callers.finish('first')
    await clock.advance(10)
    callers.finish('second')
    // Meanwhile the second slot is ready, too.
    admission.watch(() => {
      admission.watch(null)
      clock.tick(20)
    })
    await clock.advance(100)
    assert.deepEqual(callers.admitted, ['first', 'second', 'third', 'fourth'])
    assert.deepEqual(delaysMs, [50, 0])
  })

  it('tells who watches of every change in what is in flight or waits', async () => {
    const { admission } = setUp({ maxConcurrent: 1 })
    const states: string[] = []
    admission.watch(() => {
      const { active, queued } = admission.snapshot()
      states.push(`${active}+${queued}`)
    })
    const permit = admission.tryAcquire()
    const leaving = new AbortController()
    const waiting = admission.acquire(leaving.signal)
    leaving.abort(new Error('gone'))
    await assert.rejects(waiting)
    permit?.release()
    assert.deepEqual(states, ['1+0', '1+1', '1+0', '0+0'])
  })

  it('takes a permit back once, however often it is given back', () => {
    const { admission } = setUp({ maxConcurrent: 2 })
    const other = admission.tryAcquire()
    const permit = admission.tryAcquire()
    permit?.release()
    permit?.release()
    assert.equal(admission.snapshot().active, 1)
    other?.release()
    assert.equal(admission.snapshot().active, 0)
  })

  it('waits for the rest of the cooldown when the timer comes too early', async () => {
    let earlierMs = 0.4
    class HastyClock extends FakeClock {
      override after(...[ms, ...timer]: Parameters<FakeClock['after']>): () => void {
        const dueMs = ms - earlierMs
        earlierMs = 0
        return super.after(dueMs, ...timer)
      }
    }
    const { clock, callers } = setUp({ clock: new HastyClock() })
    callers.arrive('a')
    callers.arrive('b')
    await clock.advance(0)
    callers.finish('a')
    await clock.advance(49.8)
    assert.deepEqual(callers.admitted, ['a'])
    await clock.advance(1)
    assert.deepEqual(callers.admitted, ['a', 'b'])
  })

  it('lets a waiting call leave, with the reason of its signal, and frees what cooled for it', async () => {
    const { admission, clock, callers } = setUp()
    const controller = new AbortController()
    callers.arrive('a')
    callers.arrive('b', controller.signal)
    await clock.advance(0)
    callers.finish('a')
    const clientGone = new Failure('client_gone', 'The client left.')
    controller.abort(clientGone)
    await clock.advance(0)
    assert.equal(callers.refused.get('b'), clientGone)
    assert.equal(clock.pending(), 0, 'no timer is left behind')
    assert.ok(admission.tryAcquire(), 'the slot is free at once')
    await clock.advance(1000)
    assert.deepEqual(callers.admitted, ['a'])
  })

  it('lets go of the signal of a call that has had its turn', async () => {
    const { clock, callers } = setUp({ slotCooldownMs: 0 })
    const { signal } = new AbortController()
    callers.arrive('a')
    callers.arrive('b', signal)
    await clock.advance(0)
    assert.equal(getEventListeners(signal, 'abort').length, 1)
    callers.finish('a')
    assert.equal(getEventListeners(signal, 'abort').length, 0)
  })

  it('gives nothing to a call that has left already, and lets an admitted one be', async () => {
    const { admission, clock, callers } = setUp()
    const controller = new AbortController()
    callers.arrive('a', controller.signal)
    await clock.advance(0)
    controller.abort(new Error('late'))
    await clock.advance(0)
    assert.deepEqual([...callers.permits.keys()], ['a'])
    callers.finish('a')
    callers.arrive('b', controller.signal)
    await clock.advance(0)
    assert.deepEqual(callers.admitted, ['a'])
    assert.equal(admission.snapshot().active, 0)
  })

  it('refuses arrivals beyond the queue limit, and says when to come again', async () => {
    const { admission, clock, callers } = setUp({ queueLimit: 2, slotCooldownMs: 0 })
    for (const name of ['a', 'b', 'c']) callers.arrive(name)
    await clock.advance(3000)
    callers.finish('a')
    callers.arrive('d')
    callers.arrive('e')
    await clock.advance(0)
    assert.equal(callers.failure('e').code, 'queue_full')
    assert.equal(callers.failure('e').retryAfterS, 6, 'two calls wait, and one went in 3 s')
    assert.match(callers.failure('e').message, /2 calls wait for one of 1 slots/)
    assert.equal(admission.snapshot().queued, 2)
    assert.equal(admission.tally.totalQueued, 3)
  })

  it('takes a call back ahead of the queue, beyond its limit, and counts it once', async () => {
    const { admission, clock, callers } = setUp({ queueLimit: 1 })
    callers.arrive('a')
    callers.arrive('b')
    await clock.advance(0)
    callers.finish('a')
    callers.arrive('a again', never, 'back')
    await clock.advance(50)
    assert.deepEqual(callers.admitted, ['a', 'a again'])
    callers.finish('a again')
    await clock.advance(50)
    assert.deepEqual(callers.admitted, ['a', 'a again', 'b'])
    assert.equal(admission.tally.totalAdmitted, 2)
    assert.equal(admission.tally.totalQueued, 1)
  })

  it('lets waiting calls in when there are more slots', async () => {
    const { admission, clock, callers } = setUp()
    for (const name of ['a', 'b', 'c', 'd']) callers.arrive(name)
    admission.setCapacity(3)
    await clock.advance(0)
    assert.deepEqual(callers.admitted, ['a', 'b', 'c'])
    assert.equal(admission.snapshot().maxConcurrent, 3)
  })

  it('ends a pause sooner when the cooldown is made shorter', async () => {
    const { admission, clock, callers } = setUp()
    for (const name of ['a', 'b', 'c']) callers.arrive(name)
    await clock.advance(0)
    callers.finish('a')
    await clock.advance(10)
    admission.setCooldown(0)
    await clock.advance(0)
    assert.deepEqual(callers.admitted, ['a', 'b'])
    assert.equal(admission.snapshot().slotCooldownMs, 0)
  })

  it('refuses those who wait and those who come when it drains, and keeps permits good', async () => {
    const { admission, clock, callers } = setUp()
    for (const name of ['a', 'b', 'c']) callers.arrive(name)
    await clock.advance(0)
    admission.refuseNew()
    callers.arrive('d')
    assert.equal(admission.tryAcquire(), null)
    await clock.advance(0)
    for (const name of ['b', 'c', 'd']) {
      assert.equal(callers.failure(name).code, 'draining')
      assert.ok((callers.failure(name).retryAfterS ?? 0) > 0)
    }
    assert.equal(admission.snapshot().active, 1)
    callers.finish('a')
    assert.deepEqual([admission.snapshot().active, admission.snapshot().queued], [0, 0])
    assert.equal(admission.tryAcquire(), null)
    assert.equal(clock.pending(), 0)
  })

  it('tells what each minute was like', async () => {
    const { admission, clock, callers } = setUp({ maxConcurrent: 2 })
    callers.arrive('a')
    await clock.advance(1000)
    callers.arrive('b')
    callers.arrive('c')
    await clock.advance(2000)
    callers.finish('a')
    await clock.advance(57_000)
    assert.equal(admission.atLimitMs(true), 59_000)
    callers.finish('b')
    await clock.advance(60_000)
    assert.equal(admission.atLimitMs(true), 0)
  })

  it('is not at its limit while it has lent its slots and nobody wants one', async () => {
    const { admission, clock, callers } = setUp({ maxConcurrent: 2 })
    callers.arrive('a')
    await clock.advance(0)
    callers.finish('a')
    admission.setCeiling(0)
    await clock.advance(5000)
    assert.equal(admission.atLimitMs(true), 0)
    callers.arrive('b')
    await clock.advance(5000)
    assert.equal(admission.atLimitMs(true), 5000)
  })
})

const kinds = ['arrive', 'arrive', 'finish', 'abort', 'pass'] as const
const event = fc.record({ kind: fc.constantFrom(...kinds), n: fc.nat(60) })

it('SlotLimiter serves in the order of arrival and ends empty, whoever comes, finishes or leaves', async () => {
  const property = fc.asyncProperty(
    fc.array(event, { maxLength: 120, size: 'max' }),
    fc.integer({ min: 1, max: 4 }),
    fc.constantFrom(0, 200),
    async (events, maxConcurrent, queueTimeoutMs) => {
      const { admission, clock, callers } = setUp({ maxConcurrent, queueTimeoutMs })
      const controllers = new Map<string, AbortController>()
      const arrivals: string[] = []
      for (const { kind, n } of events) {
        if (kind === 'arrive') {
          const name = `call ${arrivals.length}`
          const controller = new AbortController()
          arrivals.push(name)
          controllers.set(name, controller)
          callers.arrive(name, controller.signal)
        } else if (kind === 'finish') {
          const name = [...callers.permits.keys()][n % Math.max(1, callers.permits.size)]
          if (name !== undefined) callers.finish(name)
        } else if (kind === 'abort') {
          const name = arrivals[n % Math.max(1, arrivals.length)]
          if (name !== undefined) controllers.get(name)?.abort(new Error(name))
        }
        await clock.advance(kind === 'pass' ? n : 0)
        assert.ok(admission.snapshot().active <= maxConcurrent)
        assert.equal(admission.snapshot().active, callers.permits.size)
      }
      while (callers.admitted.length + callers.refused.size < arrivals.length || callers.permits.size > 0) {
        for (const name of callers.permits.keys()) callers.finish(name)
        await clock.advance(50)
      }
      const served = new Set(callers.admitted)
      const inOrder = arrivals.filter((name) => served.has(name))
      assert.deepEqual(callers.admitted, inOrder)
      for (const name of callers.refused.keys())
        assert.ok(!served.has(name), `${name} was both served and refused`)
      assert.deepEqual([admission.snapshot().active, admission.snapshot().queued, clock.pending()], [0, 0, 0])
      assert.equal(admission.tally.totalAdmitted, served.size)
    },
  )
  await fc.assert(property, { numRuns: draws(100) })
})
