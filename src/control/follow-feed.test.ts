import assert from 'node:assert/strict'
import { PassThrough, type Readable } from 'node:stream'
import { test } from 'node:test'
import { Condition } from '../../test/support/condition.ts'
import { FakeClock } from '../../test/support/fake-clock.ts'
import { sseComment, sseEvent } from '../lib/http/http.ts'
import { followFeed } from './follow-feed.ts'

/** A feed that is opened as often as the test allows, and what a follower heard of it. */
class Following {
  readonly clock = new FakeClock()
  readonly condition = new Condition()
  opened = 0
  readonly heard: string[] = []
  readonly ended: Promise<unknown>
  readonly #end = new AbortController()
  stream: PassThrough | null = null
  isThere = true

  constructor(onEvent: (data: string) => void = () => {}) {
    this.ended = followFeed({
      clock: this.clock,
      open: () => this.#open(),
      onEvent: ({ data }) => {
        this.#hear(data)
        onEvent(data)
      },
      onLost: () => this.#hear('lost'),
      signal: this.#end.signal,
    }).catch((error: unknown) => error)
  }

  async until(heard: readonly string[]): Promise<void> {
    await this.condition.until(() => (this.heard.length >= heard.length ? true : undefined), heard.join())
    assert.deepEqual(this.heard, heard)
  }

  abort(): void {
    this.#end.abort()
  }

  #open(): Promise<Readable | null> {
    this.opened += 1
    this.stream = this.isThere ? new PassThrough() : null
    this.condition.changed()
    return Promise.resolve(this.stream)
  }

  #hear(what: string): void {
    this.heard.push(what)
    this.condition.changed()
  }
}

test('it goes on after each loss, told once, and ends when it is told to', async () => {
  const following = new Following()
  following.stream?.write(sseEvent(null, 'a', '7') + sseEvent(null, 'b'))
  await following.until(['a', 'b'])
  following.stream?.end()
  await following.until(['a', 'b', 'lost'])
  following.isThere = false
  await following.clock.advance(60_000)
  assert.ok(following.opened > 20, 'it goes on trying')
  assert.ok(following.opened < 60, 'and is calm about it')
  following.isThere = true
  await following.clock.advance(2000)
  following.stream?.write(sseEvent(null, 'c', '9'))
  await following.until(['a', 'b', 'lost', 'c'])
  following.stream?.destroy(new Error('broken'))
  await following.until(['a', 'b', 'lost', 'c', 'lost'])
  await following.clock.advance(2000)
  const last = following.stream
  following.abort()
  assert.equal(await following.ended, undefined)
  assert.equal(last?.destroyed, true)
  assert.equal(following.clock.pending(), 0)
})

test('a feed that says nothing for a minute or two is given up; comments are enough', async () => {
  const following = new Following()
  await following.clock.advance(0)
  for (let seconds = 0; seconds < 300; seconds += 15) {
    following.stream?.write(sseComment)
    await following.clock.advance(15_000)
  }
  assert.deepEqual([following.opened, following.heard], [1, []])
  await following.clock.advance(120_000)
  await following.until(['lost'])
  following.abort()
  await following.ended
})

test('a feed that ends as soon as it has begun is asked for less and less often, one that held is there at once', async () => {
  const following = new Following()
  for (let seconds = 0; seconds < 60; seconds += 1) {
    await following.clock.advance(1000)
    following.stream?.write(sseEvent(null, 'connected'))
    following.stream?.end()
    await following.clock.advance(0)
  }
  assert.ok(following.opened < 40, String(following.opened))
  await following.clock.advance(10_000)
  const count = following.opened
  following.stream?.end()
  await following.clock.advance(100)
  assert.equal(following.opened, count + 1)
  following.abort()
  await following.ended
})

test('an event that is too long is left out, and the feed goes on behind it', async () => {
  const following = new Following()
  following.stream?.write(sseEvent(null, 'a', '7'))
  const piece = 'x'.repeat(2 ** 20)
  following.stream?.write('id: 8\ndata: ')
  for (let pieces = 0; pieces < 33; pieces++) following.stream?.write(piece)
  following.stream?.write(`\n\n${sseEvent(null, 'b', '9')}`)
  await following.until(['a', 'b'])
  assert.equal(following.opened, 1)
  following.abort()
  await following.ended
})

test('what the listener throws ends it', async () => {
  const fault = new Error('fault')
  const following = new Following(() => {
    throw fault
  })
  await following.clock.advance(0)
  following.stream?.write(sseEvent(null, 'a'))
  assert.equal(await following.ended, fault)
  assert.equal(following.clock.pending(), 0)
})

test('it ends too while it waits, and when it is over before it began', async () => {
  const following = new Following()
  following.isThere = false
  await following.clock.advance(0)
  following.stream?.end()
  await following.until(['lost'])
  following.abort()
  assert.equal(await following.ended, undefined)
})
