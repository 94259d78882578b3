import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ResponseHead } from '../../call/call-observer.ts'
import { Failure } from '../../call/failure.ts'
import { FakeClock } from '../../../test/support/fake-clock.ts'
import { nobody } from '../admission/admission.ts'
import { LocalAdmission } from '../admission/local-admission.ts'
import { CallTimeline } from '../recorder/call-timeline.ts'
import type { AnswerSink } from '../http/client-answer.ts'
import { type RetriedCall, Retries429 } from './retries-429.ts'

const ok = 200
const refused = 429

function headOf(status: number, headers: readonly string[] = []): ResponseHead {
  return { status, statusText: '', headers, contentLength: null }
}

/** One call with everything around it, whose upstream answers what the test says. */
class Bench {
  readonly clock = new FakeClock()
  readonly admission: LocalAdmission
  readonly retries: Retries429
  readonly leaving = new AbortController()
  readonly call: RetriedCall
  /** What the client saw. */
  readonly seen: string[] = []
  /** When attempts began, and how many slots were in use then. */
  readonly attempts: { atMs: number; active: number }[] = []
  aborted: Failure | null = null
  over = false

  constructor(options: { max?: number; random?: number; maxConcurrent?: number } = {}) {
    const { max = 3, random = 0.5, maxConcurrent = 1 } = options
    const { clock } = this
    this.admission = new LocalAdmission({
      clock,
      maxConcurrent,
      slotCooldownMs: 0,
      queueLimit: 0,
      queueTimeoutMs: 0,
    })
    this.retries = new Retries429({ clock, admission: this.admission, max, random: () => random })
    this.call = {
      client: {
        head: ({ status }) => this.seen.push(String(status)),
        write: (chunk) => this.seen.push(Buffer.from(chunk).toString()) > 0,
        end: () => this.seen.push('end'),
        gone: null,
        signal: this.leaving.signal,
        source: { abort: (failure) => (this.aborted = failure), resume: () => undefined },
      },
      timeline: new CallTimeline(0),
      record: nobody,
      backsOffSince: null,
    }
  }

  /** Runs the call; each of the answers serves one attempt. */
  run(...answers: ((sink: AnswerSink) => void | Promise<void>)[]): Promise<void> {
    const permit = this.admission.tryAcquire()
    const run = this.retries.run(this.call, permit, async (sink) => {
      this.attempts.push({ atMs: this.clock.now(), active: this.admission.snapshot().active })
      this.call.timeline.attempt(this.clock.now())
      await answers.shift()?.(sink)
    })
    run.then(
      () => (this.over = true),
      () => (this.over = true),
    )
    return run
  }
}

function answer(status: number, ...headers: string[]): (sink: AnswerSink) => void {
  return (sink) => {
    sink.head(headOf(status, headers))
    sink.write(Buffer.from(`body of ${status}`))
    sink.end([])
  }
}

test('no 429: the answer passes, and the slot is given back', async () => {
  const bench = new Bench()
  await bench.run(answer(ok))
  assert.deepEqual(bench.seen, ['200', 'body of 200', 'end'])
  assert.equal(bench.admission.snapshot().active, 0)
  assert.deepEqual([bench.retries.total, bench.attempts.length, bench.clock.pending()], [0, 1, 0])
})

test('each wait is backed off or as asked for, without a slot; the client sees the last answer alone', async () => {
  const bench = new Bench()
  const run = bench.run(answer(refused), answer(refused, 'Retry-After', '2'), answer(refused), answer(ok))
  await bench.clock.advance(249)
  assert.deepEqual([bench.admission.snapshot().active, bench.call.backsOffSince !== null], [0, true])
  await bench.clock.advance(1)
  assert.deepEqual([bench.attempts.length, bench.call.backsOffSince !== null], [2, true])
  await bench.clock.advance(10_000)
  await run
  assert.deepEqual(
    bench.attempts.map(({ atMs }) => atMs),
    [0, 250, 2250, 3250],
  )
  assert.ok(bench.attempts.every(({ active }) => active === 1))
  assert.deepEqual(bench.seen, ['200', 'body of 200', 'end'])
  const { attempts, firstDispatchAt, dispatchedAt } = bench.call.timeline
  assert.deepEqual([attempts, firstDispatchAt, dispatchedAt], [4, 0, 3250])
  assert.deepEqual([bench.retries.total, bench.call.backsOffSince, bench.clock.pending()], [3, null, 0])
  assert.equal(bench.admission.snapshot().active, 0)
  assert.equal(bench.admission.snapshot().totalAdmitted, 1, 'one call, admitted once')
})

test('the last 429 passes as it came; so does one that asks for too long, or forbids', async () => {
  const last = new Bench({ max: 2 })
  const run = last.run(answer(refused), answer(refused), answer(refused))
  await last.clock.advance(60_000)
  await run
  assert.deepEqual(last.seen, ['429', 'body of 429', 'end'])
  assert.deepEqual([last.attempts.length, last.retries.total], [3, 2])
  for (const headers of [
    ['Retry-After', '61'],
    ['retry-after-ms', '60001'],
    ['Retry-After', '1', 'x-should-retry', 'false'],
  ]) {
    const bench = new Bench()
    await bench.run(answer(refused, ...headers))
    assert.deepEqual(bench.seen, ['429', 'body of 429', 'end'])
    assert.deepEqual([bench.attempts.length, bench.retries.total], [1, 0])
  }
  const long = new Bench()
  const twice = long.run(answer(refused, 'Retry-After', '40'), answer(refused, 'Retry-After', '21'))
  await long.clock.advance(60_000)
  await twice
  assert.deepEqual([long.attempts.length, long.seen[0]], [2, '429'])
})

test('only 429 is tried again', async () => {
  for (const status of [400, 408, 409, 500, 503, 529]) {
    const bench = new Bench()
    await bench.run(answer(status, 'Retry-After', '1'))
    assert.deepEqual([bench.seen[0], bench.attempts.length], [String(status), 1])
  }
})

test('while a call waits another has its slot; back again, it goes ahead of an arrival', async () => {
  const bench = new Bench()
  const order: string[] = []
  const run = bench.run(answer(refused, 'Retry-After', '1'), (sink) => {
    order.push('back')
    answer(ok)(sink)
  })
  await bench.clock.advance(500)
  const other = bench.admission.tryAcquire()
  assert.ok(other !== null, 'its slot is free for others')
  await bench.clock.advance(1000)
  assert.deepEqual([bench.attempts.length, bench.admission.snapshot().queued], [1, 1])
  assert.equal(bench.admission.tryAcquire(), null)
  other.release()
  await run
  assert.deepEqual(order, ['back'])
  assert.equal(bench.attempts[1]?.atMs, 1500)
  assert.equal(bench.admission.snapshot().active, 0)
})

test('a client that leaves during the wait, or in the queue after it, ends it; nothing is kept', async () => {
  const gone = new Failure('client_gone', 'The client left.')
  const waiting = new Bench()
  const first = waiting.run(answer(refused, 'Retry-After', '10'))
  await waiting.clock.advance(5000)
  waiting.leaving.abort(gone)
  await assert.rejects(first, (error) => error === gone)
  assert.deepEqual([waiting.attempts.length, waiting.retries.total, waiting.clock.pending()], [1, 0, 0])
  assert.equal(waiting.call.timeline.dispatchedAt, null, 'no attempt answered')

  const queued = new Bench()
  const second = queued.run(answer(refused, 'Retry-After', '1'))
  await queued.clock.advance(500)
  const other = queued.admission.tryAcquire()
  await queued.clock.advance(1000)
  assert.equal(queued.admission.snapshot().queued, 1)
  queued.leaving.abort(gone)
  await assert.rejects(second, (error) => error === gone)
  other?.release()
  assert.deepEqual([queued.admission.snapshot().active, queued.admission.snapshot().queued], [0, 0])
})

test('a gateway that stops refuses the call that comes back', async () => {
  const bench = new Bench()
  const run = bench.run(answer(refused, 'Retry-After', '1'))
  const ended = assert.rejects(run, (error) => error instanceof Failure && error.code === 'draining')
  await bench.clock.advance(500)
  bench.admission.drain()
  await bench.clock.advance(1000)
  await ended
})

test('a 429 whose body breaks off, goes on for ever, or never ends, is a 429', async () => {
  const broken = new Failure('upstream_reset', 'broke off')
  const bodies: Record<string, (sink: AnswerSink) => Promise<void>> = {
    'breaks off': () => Promise.reject(broken),
    'is longer than a connection is worth': async (sink) => {
      for (let i = 0; i < 65; i++) sink.write(Buffer.alloc(1024))
      await Promise.resolve()
    },
  }
  for (const [what, body] of Object.entries(bodies)) {
    const bench = new Bench()
    const run = bench.run(async (sink) => {
      sink.head(headOf(refused))
      await body(sink)
    }, answer(ok))
    await bench.clock.advance(1000)
    await run
    assert.deepEqual([bench.seen[0], bench.attempts.length], ['200', 2], what)
  }

  const bench = new Bench()
  const stalled = Promise.withResolvers<void>()
  const run = bench.run((sink) => {
    sink.head(headOf(refused))
    return stalled.promise
  }, answer(ok))
  await bench.clock.advance(999)
  assert.equal(bench.aborted, null)
  await bench.clock.advance(1)
  const { aborted } = bench
  assert.ok(aborted !== null)
  stalled.reject(aborted)
  await bench.clock.advance(1000)
  await run
  assert.deepEqual([bench.seen[0], bench.attempts.length], ['200', 2])
})

test('what is no answer is not tried again: not a break before one, nor our own end of a 429', async () => {
  for (const code of ['upstream_unreachable', 'upstream_timeout', 'upstream_protocol_error'] as const) {
    const bench = new Bench()
    const failure = new Failure(code, 'no answer')
    await assert.rejects(
      bench.run(() => Promise.reject(failure)),
      (error) => error === failure,
    )
    assert.equal(bench.admission.snapshot().active, 0)
  }
  const abandoned = new Bench()
  const draining = new Failure('draining', 'The gateway stopped.')
  await assert.rejects(
    abandoned.run((sink) => {
      sink.head(headOf(refused))
      return Promise.reject(draining)
    }),
    (error) => error === draining,
  )
  const cut = new Bench()
  const reset = new Failure('upstream_reset', 'broke off')
  await assert.rejects(
    cut.run((sink) => {
      sink.head(headOf(ok))
      return Promise.reject(reset)
    }),
    (error) => error === reset,
  )
  assert.deepEqual([cut.seen, cut.attempts.length], [['200'], 1])
})

test('a call that needs no slot takes none', async () => {
  const bench = new Bench({ maxConcurrent: 1 })
  const holder = bench.admission.tryAcquire()
  assert.ok(holder)
  const run = bench.run(answer(refused), answer(ok))
  await bench.clock.advance(1000)
  await run
  assert.deepEqual(bench.seen, ['200', 'body of 200', 'end'])
  assert.equal(bench.admission.snapshot().active, 1)
})
