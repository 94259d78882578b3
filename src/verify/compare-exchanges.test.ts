import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareExchanges, type Finding } from './compare-exchanges.ts'
import type { AnsweredExchange, SeenAnswer, SeenRequest } from './seen-exchange.ts'

const plain = '{"model":"m","stream":true}'
const asking = '{"stream_options":{"include_usage":true},"model":"m","stream":true}'
const word = 'data: {"choices":[{"delta":{"content":"wéir"}}],"usage":null}\n\n'
const usage = 'data: {"choices":[],"usage":{"total_tokens":3}}\n\n'
const done = 'data: [DONE]\n\n'

const sent: SeenRequest = {
  method: 'POST',
  target: '/v1/chat/completions',
  headers: ['Content-Type', 'application/json', 'X-A', '1', 'x-a', '2', 'x-tokenweir-client', 'me'],
  body: Buffer.from(plain),
}
const received: SeenRequest = {
  method: 'POST',
  target: '/api/chat/completions',
  headers: [
    ['host', '127.0.0.1', 'Content-Type', 'application/json', 'X-A', '1', 'x-a', '2'],
    ['Via', '1.1 tokenweir-k3v9', 'accept-encoding', 'identity', 'content-length', '67'],
  ].flat(),
  body: Buffer.from(asking),
}
const answered: SeenAnswer = {
  status: 200,
  statusText: 'OK',
  headers: ['Content-Type', 'text/event-stream', 'X-B', 'secret', 'Transfer-Encoding', 'chunked'],
  body: Buffer.from(word + usage + done),
  isComplete: true,
  arrivals: [],
}
const got: SeenAnswer = {
  ...answered,
  headers: [
    ['Content-Type', 'text/event-stream', 'X-B', 'secret'],
    ['x-tokenweir-call-id', 'x', 'server-timing', 'q', 'Connection', 'keep-alive'],
  ].flat(),
  body: Buffer.from(word + done),
}

interface Changes {
  readonly sent?: Partial<SeenRequest>
  readonly received?: Partial<SeenRequest>
  readonly answered?: Partial<SeenAnswer>
  readonly got?: Partial<SeenAnswer>
}

function compare(changes: Changes = {}): readonly Finding[] {
  const client: AnsweredExchange = {
    request: { ...sent, ...changes.sent },
    answer: { ...got, ...changes.got },
  }
  const upstream: AnsweredExchange = {
    request: { ...received, ...changes.received },
    answer: { ...answered, ...changes.answered },
  }
  return compareExchanges(client, upstream, '/api/chat/completions')
}

/** The one thing that is found to differ. */
function differing(changes: Changes): string {
  const wrong = compare(changes).filter(({ isSame }) => !isSame)
  assert.equal(wrong.length, 1, JSON.stringify(wrong))
  return `${wrong[0]?.what}: ${wrong[0]?.detail}`
}

test('the named differences are told, and are nothing wrong', () => {
  assert.deepEqual(
    compare().map(({ what, isSame, detail }) => `${isSame ? '✓' : '✗'} ${what}: ${detail}`),
    [
      '✓ request line: POST /api/chat/completions',
      '✓ request headers: 4 as they were sent; Via added; accept-encoding is identity',
      '✓ request body: 27 bytes as they were sent; "stream_options":{"include_usage":true}, spliced in',
      '✓ status: 200 OK',
      '✓ answer headers: 2 as they were sent; x-tokenweir-call-id and server-timing added',
      `✓ answer body: ${Buffer.byteLength(word + done)} bytes as they were sent; the usage event of ${usage.length} bytes taken out`,
      '✓ ending: complete',
    ],
  )
})

test('nothing need differ but the headers that are added', () => {
  const same = compare({
    received: { headers: sent.headers.slice(0, 6), body: sent.body },
    got: { body: answered.body },
  })
  assert.ok(same.every(({ isSame }) => isSame))
  assert.match(same[5]?.detail ?? '', /^\d+ bytes as they were sent$/)
})

test('the wish is known in each of its forms', () => {
  for (const [was, is] of [
    ['{"stream_options":{}}', '{"stream_options":{"include_usage":true}}'],
    ['{"stream_options":{"a":1}}', '{"stream_options":{"include_usage":true,"a":1}}'],
    ['{"stream_options":{"include_x":1}}', '{"stream_options":{"include_usage":true,"include_x":1}}'],
    ['{"stream_options":null}', '{"stream_options":{"include_usage":true}}'],
    ['{"stream_x":1}', '{"stream_options":{"include_usage":true},"stream_x":1}'],
  ] as const) {
    const findings = compare({ sent: { body: Buffer.from(was) }, received: { body: Buffer.from(is) } })
    assert.match(findings[2]?.detail ?? '', /spliced in$/, is)
  }
})

const wrong: readonly (readonly [changes: Changes, expected: RegExp])[] = [
  [{ received: { target: '/v1/chat/completions' } }, /^request line: expected POST \/api/],
  [{ received: { headers: received.headers.with(2, 'content-type') } }, /^request headers: number 1: /],
  [{ received: { headers: received.headers.with(5, '2') } }, /^request headers: number 2: /],
  [
    { received: { headers: [...received.headers, 'X-C', ''] } },
    /^request headers: number 5: expected nothing/,
  ],
  [{ received: { headers: received.headers.slice(0, 4) } }, /^request headers: .*got nothing/],
  [{ got: { status: 201 } }, /^status: expected 200 OK; got 201 OK/],
  [{ got: { statusText: 'Fine' } }, /^status: /],
  [
    { got: { headers: got.headers.with(3, 'other!') } },
    /^answer headers: number 2: expected X-B with 6 char/,
  ],
  [{ got: { headers: got.headers.slice(4) } }, /^answer headers: number 1: /],
  [{ got: { headers: got.headers.slice(0, 4) } }, /^answer headers: x-tokenweir-call-id and .* not its last/],
  [{ got: { body: Buffer.from(done) } }, /^answer body: \d+ bytes were sent, 14 came; .* byte 6$/],
  [{ got: { body: Buffer.from(usage + done) } }, /^answer body: /],
  [{ got: { body: Buffer.from(word + usage) } }, /^answer body: /],
  [{ got: { isComplete: false } }, /^ending: expected complete; got broken off/],
]

for (const [index, [changes, expected]] of wrong.entries()) {
  test(`what must not differ is found (${index})`, () => {
    const found = differing(changes)
    assert.match(found, expected)
    assert.doesNotMatch(found, /secret/)
  })
}

test('a body that was written anew is found, and with it an event that nobody asked to take out', () => {
  const anew = compare({ received: { body: Buffer.from(asking.replaceAll(',', ', ')) } })
  assert.deepEqual(
    anew.filter(({ isSame }) => !isSame).map(({ what }) => what),
    ['request headers', 'request body', 'answer body'],
  )
})
