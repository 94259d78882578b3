import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type ServerResponse, createServer } from 'node:http'
import { test } from 'node:test'
import type { RawLogStatus } from '../../src/api/raw-log.ts'
import type { Clock } from '../../src/call/clock.ts'
import { Failure } from '../../src/call/failure.ts'
import { portOf } from '../../src/gateway/http/listen.ts'
import type { PayloadListener } from '../../src/call/payload-port.ts'
import { PayloadFeed } from '../../src/gateway/raw-log/payload-feed.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { type FeedReader, openFeed } from '../support/feed-reader.ts'

/** A feed behind a server, over a log that says what the test says. */
class FeedUnderTest implements AsyncDisposable {
  readonly feed: PayloadFeed
  readonly #server = createServer((_, res) => this.#answer(res))
  #listener: PayloadListener | null = null
  watches = 0
  port = 0

  constructor(clock: Clock) {
    const status = (): RawLogStatus => ({ enabled: true }) as RawLogStatus
    const log = { status, watch: (listener: PayloadListener) => this.#watch(listener) }
    this.feed = new PayloadFeed(log, clock)
  }

  async start(): Promise<this> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    this.port = portOf(this.#server)
    return this
  }

  get isWatched(): boolean {
    return this.#listener !== null
  }

  record(seq: number, bytes = 20): void {
    const json = Buffer.from(JSON.stringify({ seq, body: 'x'.repeat(bytes) }))
    this.#listener?.events([{ seq, json }])
  }

  started(id: string): void {
    this.#listener?.events([{ seq: null, json: Buffer.from(JSON.stringify({ type: 'started', id })) }])
  }

  dropped(count: number): void {
    this.#listener?.dropped(count)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.feed.close()
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #watch(listener: PayloadListener): Disposable {
    this.#listener = listener
    this.watches += 1
    return { [Symbol.dispose]: () => (this.#listener = null) }
  }

  #answer(res: ServerResponse): void {
    try {
      this.feed.open(res)
    } catch (error) {
      res.writeHead(error instanceof Failure ? (error.kind.status ?? 500) : 500).end()
    }
  }
}

/** Lets time pass, a little with every turn of the loop, until this holds. */
async function passUntil(clock: FakeClock, holds: () => boolean): Promise<void> {
  while (!holds()) {
    clock.tick(1)
    await new Promise(setImmediate)
  }
}

function dataOf(reader: FeedReader): unknown[] {
  return reader.events.map(({ id, data }) => (id === null ? data : id))
}

test('a reader is told that it is connected, and then all that passes, in order', async () => {
  const clock = new FakeClock()
  await using under = await new FeedUnderTest(clock).start()
  assert.equal(under.isWatched, false)
  using reader = await openFeed(under.port)
  assert.equal(under.feed.readers, 1)
  const { headers, rawHeaders } = reader.response
  assert.equal(headers['content-type'], 'text/event-stream; charset=utf-8')
  assert.equal(headers['cache-control'], 'no-store')
  assert.ok(!rawHeaders.some((name) => /^access-control|^transfer-encoding/i.test(name)))
  under.started('a')
  under.record(7)
  under.dropped(3)
  under.record(9)
  clock.tick(100)
  await reader.waitFor(5)
  assert.deepEqual(dataOf(reader), [
    { type: 'connected', enabled: true },
    { type: 'started', id: 'a' },
    7,
    { type: 'dropped', count: 3 },
    9,
  ])
  assert.deepEqual(reader.records[0], { seq: 7, body: 'x'.repeat(20) })
})

test('what passed before a reader came is not sent to it; two readers get the same', async () => {
  const clock = new FakeClock()
  await using under = await new FeedUnderTest(clock).start()
  using first = await openFeed(under.port)
  under.record(1)
  clock.tick(100)
  using second = await openFeed(under.port)
  under.record(2)
  clock.tick(100)
  await first.waitForRecords(2)
  await second.waitForRecords(1)
  assert.deepEqual(dataOf(second), [{ type: 'connected', enabled: true }, 2])
  assert.equal(under.watches, 1)
})

test('a reader that comes back gets what passes from then on', async () => {
  const clock = new FakeClock()
  await using under = await new FeedUnderTest(clock).start()
  using stays = await openFeed(under.port)
  const first = await openFeed(under.port)
  under.record(10)
  clock.tick(100)
  await first.waitForRecords(1)
  first[Symbol.dispose]()
  while (under.feed.readers > 1) await new Promise(setImmediate)
  under.record(20)
  clock.tick(100)
  await stays.waitForRecords(2)
  // As an `EventSource` does.
  using again = await openFeed(under.port, { headers: { 'Last-Event-ID': '10' } })
  under.record(30)
  clock.tick(100)
  await again.waitForRecords(1)
  assert.deepEqual(dataOf(again), [{ type: 'connected', enabled: true }, 30])
})

test('when the last reader has left, nobody watches and nothing is held', async () => {
  const clock = new FakeClock()
  await using under = await new FeedUnderTest(clock).start()
  const first = await openFeed(under.port)
  under.record(1)
  first[Symbol.dispose]()
  while (under.feed.readers > 0) await new Promise(setImmediate)
  assert.equal(under.isWatched, false)
  assert.equal(clock.pending(), 0)
  using second = await openFeed(under.port)
  under.record(2)
  clock.tick(100)
  await second.waitForRecords(1)
  assert.deepEqual(dataOf(second), [{ type: 'connected', enabled: true }, 2])
  assert.equal(under.watches, 2)
})

test('a burst of more than is collected at a time is cut, and the count of the rest is told', async () => {
  const clock = new FakeClock()
  await using under = await new FeedUnderTest(clock).start()
  using reader = await openFeed(under.port)
  for (let seq = 1; seq <= 40; seq++) under.record(seq, 1_000_000)
  under.dropped(5)
  clock.tick(100)
  const missed = (): number =>
    reader.events.reduce((sum, { data }) => sum + (data['type'] === 'dropped' ? Number(data['count']) : 0), 0)
  await passUntil(clock, () => reader.records.length + missed() === 45)
  assert.ok(reader.records.length >= 1 && missed() >= 5 + 40 - 18, `${missed()} are missing`)
})

test('a reader that does not read loses records, others lose none, and it is told how many', async () => {
  const clock = new FakeClock()
  await using under = await new FeedUnderTest(clock).start()
  using slow = await openFeed(under.port)
  using quick = await openFeed(under.port)
  slow.stopReading()
  const records = 12_000
  for (let seq = 1; seq <= records; seq++) {
    under.record(seq, 2000)
    if (seq % 10 === 0) await passUntil(clock, () => quick.records.length === seq)
  }
  assert.equal(quick.events.length, records + 1)
  slow.resumeReading()
  const lostCounts = (): number[] =>
    slow.events.filter(({ data }) => data['type'] === 'dropped').map(({ data }) => Number(data['count']))
  // The reader is told without that anything more passes; then what comes next comes whole.
  const lost = (): number => lostCounts().reduce((sum, count) => sum + count, 0)
  await slow.until(() => (slow.records.length + lost() === records ? true : undefined), 'the count')
  assert.ok(lost() > 1000 && lostCounts().every((count) => count > 0))
  under.record(records + 1)
  await passUntil(clock, () => slow.records.at(-1)?.['seq'] === records + 1)
  assert.equal(slow.records.length + lost(), records + 1)
  const seqs = slow.records.map((record) => Number(record['seq']))
  assert.deepEqual(
    seqs,
    seqs.toSorted((a, b) => a - b),
  )
})

test('the 129th reader is refused, and when one has left there is room', async () => {
  await using under = await new FeedUnderTest(new FakeClock()).start()
  const readers = await Promise.all(Array.from({ length: 128 }, () => openFeed(under.port)))
  await assert.rejects(openFeed(under.port), /answered 503/)
  readers[0]?.[Symbol.dispose]()
  while (under.feed.readers === 128) await new Promise(setImmediate)
  using again = await openFeed(under.port)
  assert.ok(again)
  for (const reader of readers) reader[Symbol.dispose]()
})

test('a silent feed is kept in use, and a reader that takes nothing for a minute is let go of', async () => {
  const clock = new FakeClock()
  await using under = await new FeedUnderTest(clock).start()
  using reader = await openFeed(under.port)
  using stuck = await openFeed(under.port)
  stuck.stopReading()
  for (let seq = 1; seq <= 20; seq++) {
    under.record(seq, 1_000_000)
    await passUntil(clock, () => reader.records.length === seq)
  }
  // One that has no room is waited for, not asked again and again.
  await clock.advance(100)
  assert.equal(clock.pending(false), 0)
  const had = reader.beats
  // The first tells where it stands.
  for (let beat = 1; beat <= 5; beat++) {
    assert.equal(under.feed.readers, 2)
    await clock.advance(15_000)
    await passUntil(clock, () => reader.beats >= had + beat)
  }
  while (under.feed.readers > 1) await new Promise(setImmediate)
  stuck.resumeReading()
  await stuck.waitForEnd()
})

test('readers are served in slices, so that a call never waits for all of them', async () => {
  /** Every look at the clock takes a tenth of a millisecond. */
  class SlowClock extends FakeClock {
    looks = 0
    override now(): number {
      this.looks += 1
      return super.now() + this.looks * 0.1
    }
  }
  const clock = new SlowClock()
  await using under = await new FeedUnderTest(clock).start()
  const readers = await Promise.all(Array.from({ length: 40 }, () => openFeed(under.port)))
  under.record(1)
  const before = clock.looks
  clock.tick(50)
  const looks = clock.looks - before
  await Promise.all(readers.map((reader) => reader.waitForRecords(1)))
  // Half a millisecond is five looks, or six where they do not add up to it: one a reader, and one a slice to begin.
  assert.ok(looks >= 40 + 7 && looks <= 40 + 8, `${looks}`)
  for (const reader of readers) reader[Symbol.dispose]()
})

test('when it closes every stream ends, and it takes no more readers', async () => {
  const clock = new FakeClock()
  await using under = await new FeedUnderTest(clock).start()
  using reader = await openFeed(under.port)
  under.feed.close()
  await reader.waitForEnd()
  assert.equal(under.isWatched, false)
  assert.equal(clock.pending(), 0)
  await assert.rejects(openFeed(under.port), /answered 503/)
})
