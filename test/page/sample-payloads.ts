import type { OutgoingRecord, PayloadRecord } from '../../src/api/raw-log.ts'

const head = {
  seq: 1,
  timestamp: '2026-11-21T12:00:00.000Z',
  method: 'POST',
  path: '/v1/chat/completions',
  truncated: false,
  model: 'gpt-5-mini',
  stream: true,
} as const

/** What a client sent, unless told otherwise with a key, an image and what a tool has answered. */
export function sampleRequest(id: string, rest: Partial<PayloadRecord> = {}): PayloadRecord {
  return {
    ...head,
    id,
    direction: 'incoming',
    status: null,
    headers: { authorization: 'Bearer hmac:3fa9c01b(51)', accept: ['text/event-stream', 'application/json'] },
    body: {
      model: 'gpt-5-mini',
      temperature: 0.2,
      tools: [{ type: 'function', function: { name: 'get_weather' } }],
      messages: [
        { role: 'system', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'How is the weather in Lyon?' },
            { type: 'image_url', image_url: { url: `data:image/png;base64,${'A'.repeat(4000)}` } },
          ],
        },
      ],
    },
    body_bytes: 4321,
    ...rest,
  }
}

/** What it got: unless told otherwise a stream in which the model thinks, speaks, and calls a tool. */
export function sampleAnswer(id: string, rest: Partial<OutgoingRecord> = {}): OutgoingRecord {
  return {
    ...head,
    id,
    seq: 2,
    direction: 'outgoing',
    status: 200,
    headers: { 'content-type': 'text/event-stream' },
    body: 'data: {"choices":[{"delta":{"content":"I "}}]}\n\ndata: [DONE]\n\n',
    body_bytes: 64,
    outcome: 'ok',
    failure_code: null,
    duration_ms: 1234.5,
    chunks: [400, 410],
    text: 'I look it up.',
    reasoning: 'There is a tool for that.',
    tool_calls: [{ id: 'call_1', name: 'get_weather', arguments: '{"city":"Lyon"}' }],
    ...rest,
  }
}
