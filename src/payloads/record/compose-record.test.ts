import assert from 'node:assert/strict'
import { test } from 'node:test'
import zlib from 'node:zlib'
import * as fc from 'fast-check'
import type { OutgoingRecord } from '../../api/raw-log.ts'
import { RecordComposer } from './compose-record.ts'
import type { RawAnswer, RawBody, RawRequest } from './raw-payload.ts'
import { streamEvents } from './stream-events.ts'
import { readStreamText } from './stream-text.ts'
import { draws } from '../../../test/support/draws.ts'

const composer = new RecordComposer({ salt: Buffer.alloc(16, 7), maxBodyBytes: 1_000_000 })
const request: RawRequest = {
  callId: 7_218_000_000_000_000,
  wallTimeMs: Date.UTC(2026, 10, 21, 12),
  method: 'POST',
  path: '/v1/chat/completions',
  headers: ['Content-Type', 'application/json'],
  ...bodyOf('{"model":"m"}'),
  model: 'm',
  stream: false,
}
const answer: RawAnswer = {
  ...request,
  status: 200,
  outcome: 'ok',
  failureCode: null,
  durationMs: 12.345,
  chunkOffsetsMs: [],
}
const eventStream = ['Content-Type', 'text/event-stream; charset=utf-8']

function bodyOf(text: string | Buffer, truncated = false): RawBody {
  const bytes = Buffer.from(text)
  return { bytes, totalBytes: bytes.length, truncated }
}

function parsed(line: string): OutgoingRecord {
  assert.doesNotMatch(line, /[\r\n]/)
  return JSON.parse(line) as OutgoingRecord
}

const sse = (event: object): string => `data: ${JSON.stringify(event)}\n\n`
const event = (content: string): string => sse({ choices: [{ index: 0, delta: { content } }] })

test('the record of a request', () => {
  assert.deepEqual(
    parsed(composer.composeRequest({ ...request, headers: ['Authorization', 'Bearer x', 'A', 'b'] }, 42)),
    {
      id: '6d4qeazt800',
      seq: 42,
      timestamp: '2026-11-21T12:00:00.000Z',
      direction: 'incoming',
      method: 'POST',
      path: '/v1/chat/completions',
      status: null,
      headers: { authorization: 'Bearer hmac:01b73041(1)', a: 'b' },
      body: { model: 'm' },
      body_bytes: 13,
      truncated: false,
      model: 'm',
      stream: false,
    },
  )
})

test('the record of a streamed answer', () => {
  const call = { index: 0, id: 'call_1', function: { name: 'f', arguments: '{}' } }
  const last = sse({ choices: [{ delta: { tool_calls: [call] } }] })
  const body = `${event('Hel')}${event('lo')}${last}data: [DONE]\n\n`
  const record = parsed(
    composer.composeAnswer(
      { ...answer, headers: eventStream, ...bodyOf(body), chunkOffsetsMs: [1, 2.345], stream: true },
      43,
    ),
  )
  assert.equal(record.body, body)
  assert.partialDeepStrictEqual(record, {
    direction: 'outgoing',
    status: 200,
    outcome: 'ok',
    failure_code: null,
    duration_ms: 12.3,
    chunks: [1, 2.3],
    text: 'Hello',
    reasoning: null,
    tool_calls: [{ id: 'call_1', name: 'f', arguments: '{}' }],
  })
})

test('an answer that is no stream has nothing put together, and an answer that was not sent no status', () => {
  const record = parsed(composer.composeAnswer({ ...answer, status: null, headers: [], ...bodyOf('') }, 1))
  assert.equal(record.status, null)
  assert.equal(record.body, null)
  assert.ok(!('text' in record) && !('chunks' in record))
})

test('a stream that was coded and cut is put together as far as it goes', () => {
  const coded = zlib.gzipSync(Buffer.from(Array.from({ length: 300 }, (_, i) => event(`word${i} `)).join('')))
  const headers = [...eventStream, 'Content-Encoding', 'gzip']
  const half = bodyOf(coded.subarray(0, coded.length >> 1), true)
  const record = parsed(composer.composeAnswer({ ...answer, headers, ...half }, 1))
  assert.match(record.text ?? '', /^word0 word1 /)
  assert.ok(record.truncated)
})

test('a key that a stream spells out is withheld, whatever the stream is written in and called', () => {
  const parts = ['my key is sk-pro', 'j-abcdEFGH', '1234ijkl, ok?']
  const forms: readonly string[] = [
    parts.map((part) => `data: ${part}\n\n`).join(''),
    parts.map((part) => `data: ${JSON.stringify(part)}\n\n`).join(''),
    parts.map((content) => `${JSON.stringify({ message: { content } })}\n`).join(''),
    parts.map((text) => sse({ candidates: [{ content: { parts: [{ text }] } }] })).join(''),
    parts.map((content) => sse({ choices: [{ index: 3, delta: { content } }] })).join(''),
  ]
  for (const body of forms) {
    const headers = ['Content-Type', 'text/plain']
    const record = parsed(composer.composeAnswer({ ...answer, headers, ...bodyOf(body) }, 1))
    assert.equal(record.body, null, body)
    assert.match(record.body_withheld ?? '', /several events/)
    assert.ok(!JSON.stringify(record).includes('j-abcd'))
  }
})

const keys = [
  'sk-proj-abcdEFGH1234ijklMNOP5678qrst',
  'AIzaSyaB3dE6gH9jK2mN5pQ8rS1tU4vW7xY0zAa',
  'ghp_aB3dE6gH9jK2mN5pQ8rS1tU4vW7xY0zAaB3d',
  'AKIAIOSFODNN7EXAMPLE',
  'hvs.CAESIaB3dE6gH9jK2mN5pQ8rS1tU4',
  'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV',
]
const key = fc.constantFrom(...keys)
const left = fc.constantFrom(...'; ;key: ;\n;";{"k":";é;=;x/;\\;\t;(;🔑;http://u:'.split(';'))
const right = fc.constantFrom('', ' ', '\n', '"}', '. And', 'é', ',', '@host/', "'", '\\n')

/** True if a part of the key that is of use can be read: in the line, or in what its body says. */
function assertGone(line: string, planted: string): void {
  const record = parsed(line)
  const texts = [line, JSON.stringify(record).replaceAll('\\', '')]
  if (typeof record.body === 'string') {
    const { objects, others } = streamEvents(record.body, 'events')
    texts.push(...readStreamText(objects).all, others)
    if (record.body_encoding === 'base64') texts.push(Buffer.from(record.body, 'base64').toString('latin1'))
  }
  for (let at = 0; at + 14 <= planted.length; at++) {
    const part = planted.slice(at, at + 14)
    for (const text of texts) assert.ok(!text.includes(part), `${part} in ${text}`)
  }
}

test('a planted key survives in no field of a record, wherever it stands', () => {
  fc.assert(
    fc.property(key, left, right, (planted, before, after) => {
      const text = `${before}${planted}${after}`
      const nested = JSON.stringify({ arguments: JSON.stringify({ text }) })
      const bodies = [text, JSON.stringify({ text }), nested, JSON.stringify({ error: { message: text } })]
      for (const body of [
        ...bodies.map((each) => bodyOf(each)),
        bodyOf(Buffer.concat([Buffer.from([0xff]), Buffer.from(text), Buffer.from([0xfe])])),
      ]) {
        const path = `/x/${encodeURIComponent(text)}?a=${text}`
        const raw = { ...request, body, method: planted, model: text, path }
        const headers = ['X-A', text, planted, 'b', 'Authorization', text]
        assertGone(composer.composeRequest({ ...raw, headers }, 1), planted)
        assertGone(composer.composeAnswer({ ...answer, ...raw, headers, outcome: planted }, 1), planted)
      }
    }),
    { numRuns: draws(300) },
  )
})

test('a key that lies over several events is shown neither whole nor in pieces', () => {
  fc.assert(
    fc.property(
      key,
      left,
      right,
      fc.array(fc.nat(120), { minLength: 1, maxLength: 8, size: 'max' }),
      fc.boolean(),
      (planted, before, after, at, inArguments) => {
        const text = `${before}${planted}${after}`
        const cuts = [0, ...at.filter((cut) => cut < text.length).sort((a, b) => a - b), text.length]
        const pieces = cuts.slice(1).map((cut, i) => text.slice(cuts[i], cut))
        const argument = (partial_json: string): string =>
          sse({ type: 'content_block_delta', index: 1, delta: { partial_json } })
        const body = pieces.map(inArguments ? argument : event).join('')
        const line = composer.composeAnswer({ ...answer, headers: eventStream, ...bodyOf(body) }, 1)
        assertGone(line, planted)
        const { body_withheld: why } = parsed(line)
        if (pieces.filter((piece) => piece !== '').length === 1) assert.equal(why, undefined)
      },
    ),
    { numRuns: draws(500) },
  )
})

test('any bytes, cut anywhere, make one line', () => {
  const type = fc.constantFrom(
    'text/event-stream',
    'application/json',
    'application/x-ndjson',
    'image/png',
    '',
  )
  const coding = fc.constantFrom('gzip', 'br', 'zstd', 'deflate', 'x', 'gzip, br', '')
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 300, size: 'max' }),
    fc.json().map((json) => Buffer.from(json)),
    fc.json().map((json) => zlib.gzipSync(Buffer.from(json))),
    fc
      .array(fc.json(), { maxLength: 5 })
      .map((all) => Buffer.from(all.map((json) => `data: ${json}\n\n`).join(''))),
  )
  fc.assert(
    fc.property(
      bytes,
      type,
      coding,
      fc.nat(300),
      fc.string({ unit: 'binary' }),
      (all, contentType, contentCoding, cut, text) => {
        const headers = ['Content-Type', contentType, 'content-encoding', contentCoding, text, text]
        const body = bodyOf(Buffer.from(all).subarray(0, cut), cut < all.length)
        const raw = { ...answer, headers, body, path: text, model: text }
        parsed(composer.composeAnswer(raw, 1))
        parsed(composer.composeRequest(raw, 1))
      },
    ),
    { numRuns: draws(500) },
  )
})
