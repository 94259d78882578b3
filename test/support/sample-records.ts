import type { OutgoingRecord, PayloadRecord } from '../../src/api/raw-log.ts'

/** What a client sent, as the raw log and the feed tell it. */
export const sampleIncoming: PayloadRecord = {
  id: '0tk3v9x2ab4',
  seq: 11,
  timestamp: '2026-11-21T14:03:22.500Z',
  direction: 'incoming',
  method: 'POST',
  path: '/v1/chat/completions',
  status: null,
  headers: {},
  body: { messages: [{ role: 'user', content: 'What is a weir?' }] },
  body_bytes: 100,
  truncated: false,
  model: 'small',
  stream: false,
}

/** What it got. */
export const sampleOutgoing: OutgoingRecord = {
  ...sampleIncoming,
  seq: 12,
  direction: 'outgoing',
  status: 200,
  body: { choices: [] },
  outcome: 'ok',
  failure_code: null,
  duration_ms: 1800,
}
