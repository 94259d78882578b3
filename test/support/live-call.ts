import type { LiveCall } from '../../src/api/live-calls.ts'

/** A call under way as a gateway tells it. */
export const sampleLiveCall: LiveCall = {
  id: '7n0000000aa',
  started_at: '2026-11-21T12:00:00.000Z',
  method: 'POST',
  path: '/v1/chat/completions',
  model: 'm',
  client: null,
  session: null,
  upstream: '127.0.0.1:11434',
  state: 'streaming',
  queue_place: null,
  waits_for: null,
  state_since: '2026-11-21T12:00:00.000Z',
  chunks: 0,
  chunks_per_s: null,
  request_bytes: 100,
  response_bytes: 0,
  receive_ms: 1,
  queue_ms: 0,
  retry_wait_ms: 0,
  ttfb_ms: 100,
  ttft_ms: null,
}
