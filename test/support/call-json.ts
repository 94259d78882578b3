import { namedFields } from '../../src/call/fields/call-fields.ts'
import type { CallJson } from '../../src/call/call-record.ts'

/** The fields of a call of which nothing is known. */
export const unknownJson = Object.fromEntries(
  namedFields.map(({ name }) => [name, null]),
) as unknown as CallJson

/** A recorded call as readers show it: a plain streamed chat call that went well, but for what is given. */
export function callJson(fields: Partial<CallJson> = {}): CallJson {
  return {
    ...unknownJson,
    id: '0fh3k9a2b1c',
    started_at: '2026-11-21T06:00:00.000Z',
    call_type: 'chat',
    endpoint: '/v1/chat/completions',
    method: 'POST',
    stream: true,
    model: 'gpt-5-mini',
    response_model: 'gpt-5-mini-2025-08-07',
    upstream: 'api.openai.com',
    instance: 'k3v9',
    status: 200,
    outcome: 'ok',
    failed: false,
    finish_reason: 'stop',
    attempts: 1,
    receive_ms: 0.2,
    queue_ms: 0,
    retry_wait_ms: 0,
    connect_ms: 0,
    ttfb_ms: 380.1,
    ttft_ms: 412.3,
    ttft_total_ms: 412.8,
    ttfo_ms: 412.3,
    duration_ms: 3214.5,
    overhead_ms: 0.4,
    tpot_ms: 16.3,
    output_tokens_per_s: 61.3,
    chunks: 172,
    gap_p50_ms: 15,
    gap_p95_ms: 31,
    gap_max_ms: 80,
    stalls: 0,
    input_tokens: 1204,
    output_tokens: 172,
    cached_input_tokens: 0,
    cache_write_tokens: 0,
    cache_write_1h_tokens: 0,
    reasoning_tokens: 0,
    total_tokens: 1376,
    usage_source: 'usage',
    request_bytes: 4200,
    response_bytes: 38_000,
    client: 'OpenAI/Python',
    user_agent: 'OpenAI/Python 2.1.0',
    ...fields,
  }
}
