import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { followEvents, openStream } from './event-stream.ts'

/** Replaces the browser's `EventSource`. A test decides which events arrive. */
class FakeSource extends EventTarget {
  static readonly opened: FakeSource[] = []
  isClosed = false

  constructor() {
    super()
    FakeSource.opened.push(this)
  }

  close(): void {
    this.isClosed = true
  }

  tell(topic: string, data: unknown): void {
    this.dispatchEvent(new MessageEvent(topic, { data: JSON.stringify(data) }))
  }
}

function follow(t: TestContext, isThere: () => boolean) {
  const before = { EventSource: globalThis.EventSource, fetch: globalThis.fetch }
  const online = new EventTarget()
  t.after(() => Object.assign(globalThis, before))
  FakeSource.opened.length = 0
  Object.assign(globalThis, {
    EventSource: FakeSource,
    addEventListener: online.addEventListener.bind(online),
    removeEventListener: online.removeEventListener.bind(online),
    fetch: () => (isThere() ? Promise.resolve(Response.json({})) : Promise.reject(new TypeError('refused'))),
  })
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const events: unknown[] = []
  const close = openStream(['calls'], {
    onEvent: ([topic]) => events.push(topic),
    onReach: (isReached) => events.push(isReached),
  })
  return {
    close,
    events,
    /** Advances the clock, and runs everything that is due. */
    pass: async (ms: number): Promise<void> => {
      t.mock.timers.tick(ms)
      await new Promise((resolve) => setImmediate(resolve))
    },
  }
}

const last = (): FakeSource => FakeSource.opened.at(-1) ?? assert.fail('no stream was opened')

test('a stream that is silent for longer than its beats is opened anew', async (t) => {
  const { close, pass } = follow(t, () => true)
  const first = last()
  first.dispatchEvent(new Event('open'))
  first.tell('beat', { every_ms: 1000 })
  await pass(2400)
  first.tell('beat', { every_ms: 1000 })
  await pass(2400)
  assert.equal(FakeSource.opened.length, 1)
  await pass(100)
  assert.equal(first.isClosed, true)
  await pass(300)
  assert.equal(FakeSource.opened.length, 2)
  close()
  assert.equal(last().isClosed, true)
})

test('a short break is not told; a longer one is, with every attempt', async (t) => {
  let isThere = true
  const { close, events, pass } = follow(t, () => isThere)
  last().dispatchEvent(new Event('open'))
  last().dispatchEvent(new Event('error'))
  await pass(300)
  last().dispatchEvent(new Event('open'))
  assert.deepEqual(events, [true, true])

  isThere = false
  last().dispatchEvent(new Event('error'))
  await pass(300)
  await pass(2000)
  await pass(2000)
  assert.deepEqual(events.slice(2), [false, false, false])
  assert.equal(FakeSource.opened.length, 2)
  isThere = true
  await pass(2000)
  last().dispatchEvent(new Event('open'))
  assert.deepEqual([events.at(-1), FakeSource.opened.length], [true, 3])
  close()
})

test('a dashboard that hangs is told as one that is gone, also where the stream only connects', async (t) => {
  let isThere = true
  const { close, events, pass } = follow(t, () => isThere)
  last().dispatchEvent(new Event('open'))
  last().tell('beat', { every_ms: 1000 })
  isThere = false
  await pass(2500)
  await pass(300)
  assert.deepEqual(events, [true, 'beat', false])
  isThere = true
  await pass(2000)
  assert.equal(FakeSource.opened.length, 2)
  isThere = false
  // The connection attempt hangs: neither opened nor refused.
  await pass(2500)
  await pass(2000)
  assert.deepEqual(events.slice(3), [false, false])
  close()
})

test('once closed it stays closed', async (t) => {
  const { close, pass } = follow(t, () => true)
  last().dispatchEvent(new Event('error'))
  close()
  await pass(60_000)
  assert.equal(FakeSource.opened.length, 1)
})

test('a page that nobody sees gives its connection back, at once or after a while', async (t) => {
  const page = Object.assign(new EventTarget(), { hidden: false })
  const { close, pass } = follow(t, () => true)
  close()
  FakeSource.opened.length = 0
  Object.assign(globalThis, { document: page })
  t.after(() => Reflect.deleteProperty(globalThis, 'document'))
  const see = (isSeen: boolean): void => {
    page.hidden = !isSeen
    page.dispatchEvent(new Event('visibilitychange'))
  }
  const open = (): number => FakeSource.opened.filter(({ isClosed }) => !isClosed).length
  let pauses = 0
  const reader = { onEvent: () => undefined, onReach: () => undefined, onPause: () => (pauses += 1) }
  const stopAtOnce = followEvents(['gateway'], reader)
  const stopLater = followEvents(['live'], reader, 30_000)
  assert.equal(open(), 2)
  see(false)
  assert.deepEqual([open(), pauses], [1, 1])
  await pass(29_000)
  see(true)
  assert.deepEqual([open(), pauses], [2, 1])
  see(false)
  await pass(30_000)
  assert.deepEqual([open(), pauses], [0, 3])
  see(true)
  assert.equal(open(), 2)
  stopAtOnce()
  stopLater()
  see(true)
  assert.equal(open(), 0)
})
