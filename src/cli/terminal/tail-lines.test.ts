import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import type { OutgoingRecord, PayloadRecord } from '../../api/raw-log.ts'
import { displayWidth } from './display-width.ts'
import type { LineStyle } from './paint.ts'
import { endLine, requestLine, startLine } from './tail-lines.ts'
import { draws } from '../../../test/support/draws.ts'
import { sampleIncoming, sampleOutgoing } from '../../../test/support/sample-records.ts'

const { timestamp } = sampleIncoming
const style: LineStyle = { width: 120, color: false, nowMs: Date.parse(timestamp) }
const time = new Date(timestamp).toTimeString().slice(0, 8)

const request: PayloadRecord = {
  ...sampleIncoming,
  body: { model: 'a', messages: [{ role: 'user', content: 'What is a weir?' }] },
  body_bytes: 1234,
  model: 'gpt-4o-mini',
  stream: true,
}
const answer: OutgoingRecord = {
  ...sampleOutgoing,
  model: 'gpt-4o-mini',
  stream: true,
  body: 'data: {}\n\n',
  body_bytes: 3482,
}

test('a call is a line when it begins and a line when it has ended', () => {
  const started = { type: 'started', id: request.id, timestamp, method: 'POST', path: '/v1/x?a=1' } as const
  assert.equal(startLine(started, style), `${time} ▸ 0tk3v9x2ab4  POST /v1/x?a=1`)
  assert.equal(
    requestLine(request, style),
    `${time} ▸ 0tk3v9x2ab4  POST /v1/chat/completions  gpt-4o-mini  stream  1.23 kB`,
  )
  assert.equal(endLine(answer, style), `${time} ✓ 0tk3v9x2ab4  200    1.80 s  gpt-4o-mini  stream  3.48 kB`)
  const models = { ...answer, method: 'GET', path: '/v1/models', model: null, stream: false, duration_ms: 84 }
  assert.equal(endLine(models, style), `${time} ✓ 0tk3v9x2ab4  200     84 ms  GET /v1/models  3.48 kB`)
})

test('what went wrong is told, with the words that the answer has for it', () => {
  const failed = { ...answer, status: 429, outcome: 'upstream_error', failure_code: 'upstream_http' }
  const line = `${time} ✗ 0tk3v9x2ab4  429    1.80 s  upstream_http  gpt-4o-mini  stream  3.48 kB`
  const message = 'slow down'
  for (const body of [{ error: { message } }, { error: message }, { message }])
    assert.equal(endLine({ ...failed, body }, style), `${line}\n  └ slow down`)
  for (const body of [null, 'text', [], { error: { message: 5 } }, { error: null }, { detail: [] }]) {
    assert.equal(endLine({ ...failed, body }, style), line)
  }
  const abandoned = { ...answer, status: null, outcome: 'client_disconnected', failure_code: null }
  assert.match(endLine(abandoned, style), / · 0tk3v9x2ab4 {2}– {6}1\.80 s {2}client_disconnected {2}gpt/)
})

test('colours repeat what is said, and no colour is in what is piped', () => {
  const failed = { ...answer, status: 502, outcome: 'upstream_error', body: { error: 'x' } }
  const painted = endLine(failed, { ...style, color: true })
  const [line = '', detail = ''] = endLine(failed, style).split('\n')
  assert.equal(painted, `\x1b[31m${line}\x1b[39m\n\x1b[31m${detail}\x1b[39m`)
  assert.ok(!line.includes('\x1b'))
})

test('whatever a payload holds: no line is wider than the terminal, and nothing in it is obeyed', () => {
  const controls = ['\x1b[2J', '\x9b', '\x07', '\n', '\r', '\t', '\u202e', '\ud800']
  const unit = fc.constantFrom('a', ' ', '語', '😀', ...controls)
  const text = fc.string({ unit, maxLength: 200, size: 'max' })
  fc.assert(
    fc.property(text, text, fc.integer({ min: 1, max: 100 }), (a, b, width) => {
      const record = { ...answer, path: a, model: b, failure_code: a, outcome: b, body: { error: a } }
      const narrow = { ...style, width }
      const start = startLine({ type: 'started', id: a, timestamp, method: b, path: a }, narrow)
      const lines = [start, requestLine(record, narrow), endLine(record, narrow)]
      for (const each of lines) {
        for (const line of each.split('\n')) {
          assert.doesNotMatch(line, /[\p{Cc}\u202e]/u)
          assert.ok(line.isWellFormed())
          assert.ok(displayWidth(line) <= width, line)
        }
      }
    }),
    { numRuns: draws(300) },
  )
})
