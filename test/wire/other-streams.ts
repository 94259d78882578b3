import { type WireForm, done, event, failed, streamForm, tokens } from './wire-form.ts'

const responses = '/v1/responses'
const messages = '/v1/messages'
const completions = '/v1/completions'

function named(
  ...events: readonly ({ readonly type: string } & Readonly<Record<string, unknown>>)[]
): string {
  return events.map((data) => event(data, data.type)).join('')
}

function response(status: string, more: object = {}): object {
  return { id: 'resp_w', object: 'response', status, model: 'weir-2', output: [], usage: null, ...more }
}

const responseUsage = {
  input_tokens: 61,
  input_tokens_details: { cached_tokens: 32 },
  output_tokens: 14,
  output_tokens_details: { reasoning_tokens: 6 },
  total_tokens: 75,
}
const responseTokens = tokens(61, 14, { cached_input_tokens: 32, reasoning_tokens: 6 })
const created = { type: 'response.created', sequence_number: 0, response: response('in_progress') }
const thought = { type: 'response.reasoning_summary_text.delta', sequence_number: 1, delta: 'Hm' }
const text = { type: 'response.output_text.delta', sequence_number: 2, item_id: 'i', delta: 'Water' }

const started = {
  type: 'message_start',
  message: {
    id: 'msg_w',
    type: 'message',
    role: 'assistant',
    model: 'weir-3',
    content: [],
    stop_reason: null,
    usage: {
      input_tokens: 12,
      cache_creation_input_tokens: 100,
      cache_read_input_tokens: 2000,
      cache_creation: { ephemeral_5m_input_tokens: 70, ephemeral_1h_input_tokens: 30 },
      output_tokens: 2,
      service_tier: 'standard',
    },
  },
}
const thinking = { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Hm' } }
const said = { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'Water' } }
const messageParts = { cached_input_tokens: 2000, cache_write_tokens: 100, cache_write_1h_tokens: 30 }

function completion(text: string, finish: string | null = null, more: object = {}, index = 0): object {
  return {
    id: 'cmpl-W',
    object: 'text_completion',
    created: 1790000000,
    model: 'weir-1',
    choices: [{ index, text, logprobs: null, finish_reason: finish }],
    ...more,
  }
}

const zero = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }

/** Streams of the Responses and Messages APIs, and of legacy completions. */
export const otherStreams: readonly WireForm[] = [
  streamForm(
    'Responses, from creation to completion, served in another tier than was asked for',
    named(
      { ...created, response: response('in_progress', { service_tier: 'auto' }) },
      thought,
      { type: 'response.output_item.added' },
      text,
      {
        type: 'response.completed',
        response: response('completed', { usage: responseUsage, service_tier: 'flex' }),
      },
    ),
    {
      ...responseTokens,
      response_model: 'weir-2',
      finish_reason: 'completed',
      service_tier: 'flex',
      upstream_request_id: 'req_r1',
      chunks: 2,
    },
    { path: responses, headers: [['x-request-id', 'req_r1']], firstContent: [1, 3] },
  ),

  streamForm(
    'Responses of vLLM, with metrics',
    named(created, text, {
      type: 'response.completed',
      response: response('completed', {
        usage: responseUsage,
        metrics: { time_to_first_token_ms: 12.5, generation_time_ms: 80, queue_time_ms: null },
      }),
    }),
    {
      ...responseTokens,
      response_model: 'weir-2',
      finish_reason: 'completed',
      chunks: 1,
      upstream_prompt_ms: 12.5,
      upstream_decode_ms: 80,
    },
    { path: responses, firstContent: [1, 1] },
  ),

  streamForm(
    'Responses, a function call and an early end',
    named(
      created,
      { type: 'response.function_call_arguments.delta', delta: '{"at":' },
      { type: 'response.function_call_arguments.delta', delta: '' },
      {
        type: 'response.incomplete',
        response: response('incomplete', {
          usage: responseUsage,
          incomplete_details: { reason: 'max_output_tokens' },
        }),
      },
    ),
    { ...responseTokens, response_model: 'weir-2', finish_reason: 'max_output_tokens', chunks: 1 },
    { path: responses, firstContent: [1, 1] },
  ),

  streamForm(
    'Responses, a failure',
    named(created, text, {
      type: 'response.failed',
      response: response('failed', { error: { code: 'server_error', message: 'It gave way' } }),
    }),
    { ...failed('stream_error', 'server_error', 'It gave way'), response_model: 'weir-2', chunks: 1 },
    { path: responses, firstContent: [1, 1] },
  ),

  streamForm(
    'Responses, an error event',
    named(created, {
      type: 'error',
      code: 'rate_limit_exceeded',
      message: 'Too much water',
      param: null,
      sequence_number: 1,
    }),
    {
      ...failed('stream_error', 'rate_limit_exceeded', 'Too much water'),
      response_model: 'weir-2',
      chunks: 0,
    },
    { path: responses },
  ),

  streamForm(
    'Responses, broken off by a whole message',
    named(created, text),
    { ...failed('stream_truncated', null, null), response_model: 'weir-2', chunks: 1 },
    { path: responses, firstContent: [1, 1] },
  ),

  streamForm(
    'Messages, thinking, text, caches',
    named(
      started,
      { type: 'ping' },
      { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '' } },
      thinking,
      { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'Zm9v' } },
      { type: 'content_block_stop' },
      said,
      {
        type: 'message_delta',
        delta: { stop_reason: 'end_turn', stop_sequence: null },
        usage: { output_tokens: 55 },
      },
      { type: 'message_stop' },
    ),
    {
      ...tokens(2112, 55, messageParts),
      response_model: 'weir-3',
      finish_reason: 'end_turn',
      service_tier: 'standard',
      upstream_request_id: 'req_a1',
      chunks: 2,
    },
    { path: messages, headers: [['request-id', 'req_a1']], firstContent: [3, 6], earlier: [[2112, null]] },
  ),

  streamForm(
    'Messages, a tool without arguments, whole counts at the end',
    named(
      started,
      {
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'tool_use', id: 'toolu_w', name: 'gauge', input: {} },
      },
      { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '' } },
      {
        type: 'message_delta',
        delta: { stop_reason: 'tool_use' },
        usage: {
          input_tokens: 12,
          cache_creation_input_tokens: 100,
          cache_read_input_tokens: 2000,
          output_tokens: 31,
          server_tool_use: { web_search_requests: 0 },
        },
      },
      { type: 'message_stop' },
    ),
    {
      ...tokens(2112, 31, messageParts),
      response_model: 'weir-3',
      finish_reason: 'tool_use',
      service_tier: 'standard',
      chunks: 1,
    },
    { path: messages, firstContent: [1, 1], earlier: [[2112, null]] },
  ),

  streamForm(
    'Messages, only a compaction',
    named(
      started,
      { type: 'content_block_start', index: 0, content_block: { type: 'compaction', content: '' } },
      {
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'compaction_delta', content: 'So far: water' },
      },
      {
        type: 'message_delta',
        delta: { stop_reason: 'compaction', stop_sequence: null },
        usage: {
          input_tokens: 0,
          cache_creation_input_tokens: 0,
          cache_read_input_tokens: 0,
          output_tokens: 0,
          iterations: [
            {
              type: 'compaction',
              input_tokens: 12,
              cache_creation_input_tokens: 100,
              cache_read_input_tokens: 2000,
              output_tokens: 350,
            },
          ],
        },
      },
      { type: 'message_stop' },
    ),
    {
      ...tokens(2112, 350, messageParts),
      response_model: 'weir-3',
      finish_reason: 'compaction',
      service_tier: 'standard',
      chunks: 0,
    },
    { path: messages, earlier: [[2112, null]] },
  ),

  streamForm(
    'Messages, overloaded',
    named(started, thinking, {
      type: 'error',
      error: { type: 'overloaded_error', message: 'Overloaded' },
      request_id: 'req_a2',
    }),
    {
      ...tokens(2112, null, messageParts),
      ...failed('stream_error', 'overloaded_error', 'Overloaded'),
      response_model: 'weir-3',
      service_tier: 'standard',
      upstream_request_id: 'req_a2',
      chunks: 1,
    },
    { path: messages, firstContent: [1, null] },
  ),

  streamForm(
    'legacy completions, usage with the finish reason',
    [
      completion('Water'),
      completion(' rises.'),
      completion('', 'length', { usage: { prompt_tokens: 4, completion_tokens: 2, total_tokens: 6 } }),
      done,
    ],
    { ...tokens(4, 2), response_model: 'weir-1', finish_reason: 'length', chunks: 2 },
    { path: completions, firstContent: [0, 0] },
  ),

  streamForm(
    'legacy completions of Ollama, zeros before the counts',
    [
      completion('Water', null, { usage: zero }),
      completion(' rises.', null, { usage: zero }),
      completion('', 'stop', { usage: zero }),
      { ...completion(''), choices: [], usage: { prompt_tokens: 6, completion_tokens: 3, total_tokens: 9 } },
      done,
    ],
    { ...tokens(6, 3), response_model: 'weir-1', finish_reason: 'stop', chunks: 2 },
    { path: completions, firstContent: [0, 0] },
  ),

  streamForm(
    'legacy completions, two prompts',
    [
      'null',
      completion('A', 'stop', {}, 0),
      completion('B', 'length', { usage: { prompt_tokens: 2, completion_tokens: 1, total_tokens: 3 } }, 1),
      done,
    ],
    { ...tokens(2, 1), response_model: 'weir-1', finish_reason: 'stop,length', chunks: 2 },
    { path: completions, firstContent: [1, 1] },
  ),
]
