import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RawLogStatus } from '../../src/api/raw-log.ts'
import { captureWords, clearPoints, loggingText } from './payload-logging-text.ts'

const off: RawLogStatus = {
  enabled: false,
  enabled_until: null,
  capture: 'all',
  file_path: 'logger/payloads.jsonl',
  file_size_bytes: 0,
  file_size_formatted: '0 bytes',
  subscribers_count: 0,
  dropped: 0,
  trouble: null,
}

test('the state of the file is told in words', () => {
  const nowMs = Date.UTC(2026, 10, 21, 12)
  assert.equal(loggingText(off, null, nowMs).title, 'Payload capture is off')
  assert.match(loggingText({ ...off, file_size_bytes: 1_200_000 }, null, nowMs).about, /still has 1\.2.MB\.$/)
  const on = { ...off, enabled: true, file_size_bytes: 5000 }
  assert.equal(loggingText(on, null, nowMs).title, 'Payload capture is on')
  assert.match(loggingText(on, null, nowMs).about, /all calls, with API keys redacted.*In the file: 5.kB\.$/)
  const until = { ...on, enabled_until: new Date(nowMs + 599_000).toISOString() }
  assert.match(loggingText(until, '12:10', nowMs).title, /^Payload capture is on until 12:10 \(9.min left\)$/)
  assert.match(loggingText(until, '12:10', nowMs + 590_000).title, /less than a minute left/)
})

test('what is kept depends on the rule', () => {
  assert.match(captureWords('errors'), /of failed calls$/)
  assert.match(captureWords('sample:1/10'), /one call in 10$/)
  assert.match(captureWords('something new'), /something new/)
})

test('clearing says what is lost and what is not', () => {
  const points = clearPoints({ ...off, file_size_bytes: 12_300_000 })
  assert.match(points[0] ?? '', /^12\.3.MB of requests and responses will be deleted/)
  assert.equal(points.length, 3)
})
