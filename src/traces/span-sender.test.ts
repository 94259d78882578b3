import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock } from '../../test/support/fake-clock.ts'
import { chatCall, sampleStartMs } from '../../test/store/sample-call.ts'
import { idsPerMs } from '../call/call-id.ts'
import type { Warning } from '../call/call-sink.ts'
import { type CallSpan, spanAttributes, spanOf } from './call-span.ts'
import { jsonSpans } from './json-spans.ts'
import type { Reply, SpanReceiver } from './span-receiver.ts'
import { SpanSender } from './span-sender.ts'

const url = 'http://receiver/v1/traces'
const ok: Reply = { status: 200, retryAfter: null, body: Buffer.alloc(0) }
const source = { resource: { 'service.name': 'x' }, name: 'tokenweir', version: '1' }
let calls = 0
const nextSpan = (): CallSpan => spanOf(chatCall(sampleStartMs * idsPerMs + calls++))!

/** A sender whose receiver answers as told: with a reply, an error, or never. */
function makeSender(options: { secrets?: readonly string[] } = {}) {
  const clock = new FakeClock()
  const warnings = new Map<string, Warning>()
  /** How many spans each post held. */
  const posts: number[] = []
  const posted: number[] = []
  let answer: () => Promise<Reply> = () => Promise.resolve(ok)
  let isClosed = false
  const receiver: SpanReceiver = {
    post: async (body, signal) => {
      posts.push(body.toString().split('"spanId"').length - 1)
      posted.push(clock.now())
      const gaveUp = new Promise<never>((_, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason)),
      )
      return Promise.race([answer(), gaveUp])
    },
    close: () => (isClosed = true),
  }
  const sender = new SpanSender({
    encoder: jsonSpans(
      spanAttributes(() => ({})),
      source,
    ),
    receiver,
    url,
    secrets: options.secrets ?? [],
    clock,
    warn: (about, warning) => (warning === null ? warnings.delete(about) : warnings.set(about, warning)),
    random: () => 0,
  })
  const add = (count: number): void => {
    for (let i = 0; i < count; i++) sender.add(nextSpan())
  }
  return {
    clock,
    sender,
    posts,
    posted,
    add,
    answers: (next: () => Promise<Reply>) => (answer = next),
    codes: () => [...warnings.values()].map(({ code }) => code),
    said: (code: string) => [...warnings.values()].find((warning) => warning.code === code)?.message ?? '',
    isClosed: () => isClosed,
  }
}

const replies =
  (status: number, more: Partial<Reply> = {}) =>
  (): Promise<Reply> =>
    Promise.resolve({ ...ok, status, ...more })
const unreachable = (): Promise<Reply> => Promise.reject(new Error('connect ECONNREFUSED'))

test('spans go in batches of 512, and what is fewer after 5 s', async () => {
  const { clock, sender, posts, posted, add } = makeSender()
  add(1025)
  await clock.advance(4999)
  assert.deepEqual(posts, [512, 512])
  await clock.advance(1)
  assert.deepEqual(posts, [512, 512, 1])
  add(1)
  await clock.advance(60_000)
  assert.deepEqual([posts.at(-1), posted.at(-1)], [1, 10_000])
  assert.equal(posts.length, 4)
  assert.equal(sender.figures.spans, 0)
  assert.equal(clock.pending(), 0)
})

test('one batch is on its way at a time, and those behind it follow at once', async () => {
  const { clock, posts, add, answers } = makeSender()
  const answer = Promise.withResolvers<Reply>()
  answers(() => answer.promise)
  add(3 * 512 + 7)
  await clock.advance(60_000)
  assert.deepEqual(posts, [512])
  answers(replies(200))
  answer.resolve(ok)
  await clock.advance(0)
  assert.deepEqual(posts, [512, 512, 512, 7])
})

test('six minutes without a receiver, at 50 calls a second: what is held is bounded', async () => {
  const { clock, sender, add, answers, codes, said, posts } = makeSender()
  answers(unreachable)
  let [mostSpans, mostBytes] = [0, 0]
  for (let second = 0; second < 6 * 60; second++) {
    add(50)
    await clock.advance(1000)
    mostSpans = Math.max(mostSpans, sender.figures.spans)
    mostBytes = Math.max(mostBytes, sender.figures.bytes)
  }
  assert.ok(mostSpans <= 10_000 && mostSpans > 8000, `${mostSpans} spans`)
  assert.ok(mostBytes < 20e6, `${mostBytes} bytes`)
  const { spans, dropped } = sender.figures
  assert.equal(spans + dropped, 18_000)
  assert.deepEqual(codes().sort(), ['otlp_dropped', 'otlp_unreachable'])
  assert.match(
    said('otlp_unreachable'),
    /does not accept spans: connect ECONNREFUSED; \d+ wait, \d+ were dropped/,
  )
  // The receiver is tried every half a minute at most, and not at once for each batch.
  assert.ok(posts.length < 30, `${posts.length} tries`)
  answers(replies(200))
  await clock.advance(35_000)
  assert.deepEqual(sender.figures, { spans: 0, bytes: sender.figures.bytes, sent: spans, dropped })
  assert.deepEqual(codes(), [])
})

test('pauses double up to half a minute; one batch is sent until it is taken, and none is lost', async () => {
  const { clock, sender, posts, posted, add, answers, codes } = makeSender()
  answers(unreachable)
  add(512)
  await clock.advance(130_000)
  const gaps = posted.slice(1).map((at, index) => at - posted[index]!)
  assert.deepEqual(
    gaps,
    [500, 1000, 2000, 4000, 8000, 15_000, 15_000, 15_000, 15_000, 15_000, 15_000, 15_000],
  )
  assert.deepEqual(codes(), ['otlp_unreachable'])
  answers(replies(200))
  await clock.advance(15_000)
  assert.deepEqual(codes(), [])
  assert.deepEqual([posts.at(-1), sender.figures.spans, sender.figures.dropped], [512, 0, 0])
})

const passing = [
  [429, '7', 7000],
  [503, '0', 1000],
  [503, 'Sat, 21 Nov 2026 05:00:00 GMT', 1000],
  [503, 'Sat, 21 Nov 2026 06:00:40 GMT', 40_000],
  [429, '99999999999', 3_600_000],
  [502, null, 500],
  [504, 'soon', 500],
] as const

for (const [status, retryAfter, pauseMs] of passing) {
  test(`${status} with Retry-After ${retryAfter}: the same batch again after ${pauseMs} ms`, async () => {
    const { clock, posts, posted, add, answers, codes } = makeSender()
    answers(replies(status, { retryAfter }))
    add(512)
    await clock.advance(0)
    assert.deepEqual(codes(), ['otlp_unreachable'])
    answers(replies(200))
    add(512)
    await clock.advance(pauseMs - 1)
    assert.deepEqual(posts, [512])
    await clock.advance(1)
    assert.deepEqual(posts, [512, 512, 512])
    assert.equal(posted[1], pauseMs)
    assert.deepEqual(codes(), [])
  })
}

for (const [status, hint] of [
  [400, /--otlp-endpoint/],
  [401, /OTEL_EXPORTER_OTLP_HEADERS/],
  [404, /--otlp-endpoint/],
  [302, /--otlp-endpoint/],
  [415, /it does not accept JSON: send the spans through an OpenTelemetry Collector/],
  [500, /--otlp-endpoint/],
] as const) {
  test(`${status}: the batch is dropped and counted, and nothing is sent for a minute`, async () => {
    const { clock, sender, posted, add, answers, codes, said } = makeSender()
    answers(replies(status, { retryAfter: '1' }))
    add(513)
    await clock.advance(59_999)
    assert.deepEqual(posted, [0])
    assert.equal(sender.figures.dropped, 512)
    assert.deepEqual(codes(), ['otlp_refused'])
    assert.match(said('otlp_refused'), new RegExp(`refused 512 spans with status ${status}`))
    assert.match(said('otlp_refused'), hint)
    answers(replies(200))
    await clock.advance(1)
    assert.deepEqual(posted, [0, 60_000])
    assert.deepEqual([codes(), sender.figures], [[], { ...sender.figures, spans: 0, dropped: 512 }])
  })
}

test('what was taken in part is counted and said, until all is taken, in words without keys', async () => {
  const key = 'k3y-0f-the-receiver'
  const { clock, sender, add, answers, codes, said } = makeSender({ secrets: [key] })
  const errorMessage = `too many\u0007 attributes\nfor ${key} and sk-proj-${'a1B2'.repeat(12)} ${'x'.repeat(999)}`
  const body = Buffer.from(JSON.stringify({ partialSuccess: { rejectedSpans: '3', errorMessage } }))
  answers(replies(200, { body }))
  add(512)
  await clock.advance(0)
  assert.deepEqual(codes(), ['otlp_rejected'])
  assert.equal(sender.figures.dropped, 3)
  assert.match(said('otlp_rejected'), /rejected 3 of the spans: too many {2}attributes for … and \[secret\]/)
  assert.ok(said('otlp_rejected').length < 400)
  answers(replies(200))
  add(512)
  await clock.advance(0)
  assert.deepEqual(codes(), [])
})

for (const body of ['', '{}', '{"partialSuccess":{}}', '<html>thanks', '{"partialSuccess":7}', 'null']) {
  test(`a 200 that says ${JSON.stringify(body)} took all`, async () => {
    const { clock, sender, add, answers, codes } = makeSender()
    answers(replies(200, { body: Buffer.from(body) }))
    add(512)
    await clock.advance(0)
    assert.deepEqual([codes(), sender.figures.dropped, sender.figures.spans], [[], 0, 0])
  })
}

test('at the end what is left is sent, one try each', async () => {
  const { clock, sender, posts, add, isClosed } = makeSender()
  add(700)
  await sender.close()
  assert.deepEqual(posts, [512, 188])
  assert.ok(isClosed())
  assert.deepEqual([sender.figures.sent, sender.figures.dropped], [700, 0])
  add(1)
  assert.deepEqual([sender.figures.spans, sender.figures.dropped], [0, 1])
  assert.equal(clock.pending(), 0)
})

test('at the end a receiver that hangs is waited for no longer than 1.5 s, one that was away is not tried', async () => {
  const hanging = makeSender()
  hanging.answers(() => new Promise(() => {}))
  hanging.add(600)
  let isOver = false
  const closing = hanging.sender.close().then(() => (isOver = true))
  await hanging.clock.advance(1499)
  assert.equal(isOver, false)
  await hanging.clock.advance(1)
  await closing
  assert.deepEqual([hanging.posts, hanging.isClosed(), hanging.clock.pending()], [[512], true, 0])
  assert.deepEqual([hanging.sender.figures.dropped, hanging.sender.figures.spans], [600, 0])
  assert.match(hanging.said('otlp_dropped'), /^600 spans were dropped/)

  const away = makeSender()
  away.answers(unreachable)
  away.add(512)
  await away.clock.advance(0)
  await away.sender.close()
  assert.deepEqual([away.posts.length, away.isClosed(), away.clock.pending()], [1, true, 0])
  assert.equal(away.sender.figures.dropped, 512)
})

test('texts that are as long as they can be are held in no more memory', async () => {
  const { clock, sender, answers } = makeSender()
  answers(unreachable)
  const long = '€'.repeat(2000)
  for (let i = 0; i < 4000; i++) {
    const call = {
      ...chatCall(sampleStartMs * idsPerMs + i),
      model: `${i}${long}`,
      session: long,
      finishReason: long,
    }
    sender.add(spanOf(call)!)
    if (i % 500 === 0) await clock.advance(1)
  }
  const { bytes, spans, dropped } = sender.figures
  assert.ok(bytes < 20e6, `${bytes} bytes`)
  assert.ok(spans + dropped === 4000 && dropped > 0)
})
