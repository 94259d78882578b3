import { type WireForm, bodyForm, failed, tokens } from './wire-form.ts'

const usage = { prompt_tokens: 21, completion_tokens: 8, total_tokens: 29 }

function chat(more: object = {}, finish = 'stop', index = 0): Record<string, unknown> {
  return {
    id: 'chatcmpl-W2',
    object: 'chat.completion',
    created: 1790000000,
    model: 'weir-2-0101',
    choices: [
      {
        index,
        message: { role: 'assistant', content: 'Water', refusal: null },
        logprobs: null,
        finish_reason: finish,
      },
    ],
    ...more,
  }
}

const answered = { response_model: 'weir-2-0101', finish_reason: 'stop' }

/** Answers that are one JSON text. */
export const wholeBodies: readonly WireForm[] = [
  bodyForm(
    'chat of OpenAI',
    chat({
      usage: {
        ...usage,
        prompt_tokens_details: { cached_tokens: 16, audio_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 5, audio_tokens: 0, accepted_prediction_tokens: 0 },
      },
      service_tier: 'priority',
    }),
    {
      ...answered,
      ...tokens(21, 8, {
        cached_input_tokens: 16,
        reasoning_tokens: 5,
        input_audio_tokens: 0,
        output_audio_tokens: 0,
      }),
      service_tier: 'priority',
      upstream_request_id: 'req_b1',
    },
    { headers: [['X-Request-ID', 'req_b1']] },
  ),
  bodyForm(
    'chat of DeepSeek, after blank lines',
    `\n\n\n${JSON.stringify(chat({ usage: { ...usage, prompt_cache_hit_tokens: 13, prompt_cache_miss_tokens: 8 } }))}`,
    { ...answered, ...tokens(21, 8, { cached_input_tokens: 13 }) },
  ),
  bodyForm('chat, pretty and in another order', JSON.stringify({ usage, ...chat() }, null, 4), {
    ...answered,
    ...tokens(21, 8),
  }),
  bodyForm(
    'chat of llama.cpp, the cache told by its timings',
    chat({ usage, timings: { cache_n: 20, prompt_n: 1, prompt_ms: 7.5, predicted_n: 8, predicted_ms: 160 } }),
    {
      ...answered,
      ...tokens(21, 8, { cached_input_tokens: 20 }),
      upstream_prompt_ms: 7.5,
      upstream_decode_ms: 160,
    },
  ),
  bodyForm(
    'chat of Groq',
    chat({
      usage: { ...usage, queue_time: 0.5, prompt_time: 0.125, completion_time: 0.25, total_time: 0.375 },
      x_groq: { id: 'req_g3' },
    }),
    {
      ...answered,
      ...tokens(21, 8),
      upstream_request_id: 'req_g3',
      upstream_queue_ms: 500,
      upstream_prompt_ms: 125,
      upstream_decode_ms: 250,
    },
  ),
  bodyForm(
    'chat of vLLM, with metrics',
    chat({
      usage,
      prompt_logprobs: null,
      metrics: { time_to_first_token_ms: 61, generation_time_ms: 900.5, queue_time_ms: 0 },
    }),
    {
      ...answered,
      ...tokens(21, 8),
      upstream_queue_ms: 0,
      upstream_prompt_ms: 61,
      upstream_decode_ms: 900.5,
    },
  ),
  bodyForm(
    'chat of Cerebras',
    chat({ usage, time_info: { queue_time: 0.001, prompt_time: 0.002, completion_time: 0.004 } }),
    { ...answered, ...tokens(21, 8), upstream_queue_ms: 1, upstream_prompt_ms: 2, upstream_decode_ms: 4 },
  ),
  bodyForm(
    'chat of xAI',
    chat({
      usage: {
        prompt_tokens: 32,
        completion_tokens: 9,
        total_tokens: 131,
        completion_tokens_details: { reasoning_tokens: 90 },
        cost_in_usd_ticks: 4000000,
      },
    }),
    { ...answered, ...tokens(32, 99, { reasoning_tokens: 90 }), cost_usd: 0.0004, price_source: 'upstream' },
  ),
  bodyForm('chat without usage', chat(), answered),
  bodyForm(
    'two choices',
    chat({ usage, choices: [...(chat({}, 'length', 1)['choices'] as []), ...(chat()['choices'] as [])] }),
    { ...answered, ...tokens(21, 8), finish_reason: 'stop,length' },
  ),
  bodyForm(
    'legacy completions',
    {
      id: 'cmpl-W',
      object: 'text_completion',
      model: 'weir-1',
      choices: [{ index: 0, text: 'Water', finish_reason: 'stop' }],
      usage,
    },
    { ...tokens(21, 8), response_model: 'weir-1', finish_reason: 'stop' },
    { path: '/v1/completions' },
  ),
  bodyForm(
    'Responses',
    {
      id: 'resp_w',
      object: 'response',
      status: 'completed',
      error: null,
      incomplete_details: null,
      model: 'weir-2',
      output: [{ type: 'message', content: [{ type: 'output_text', text: 'Water' }] }],
      service_tier: 'default',
      usage: {
        input_tokens: 36,
        output_tokens: 9,
        total_tokens: 45,
        output_tokens_details: { reasoning_tokens: 2 },
      },
    },
    {
      ...tokens(36, 9, { reasoning_tokens: 2 }),
      response_model: 'weir-2',
      finish_reason: 'completed',
      service_tier: 'default',
    },
    { path: '/v1/responses' },
  ),
  bodyForm(
    'Responses, failed within HTTP 200',
    {
      id: 'resp_w',
      object: 'response',
      status: 'failed',
      error: { code: 'server_error', message: 'It gave way' },
      model: 'weir-2',
      output: [],
      usage: null,
    },
    { ...failed('stream_error', 'server_error', 'It gave way'), response_model: 'weir-2' },
    { path: '/v1/responses' },
  ),
  bodyForm(
    'Messages, after a compaction, which the counts leave out',
    {
      id: 'msg_w',
      type: 'message',
      role: 'assistant',
      model: 'weir-3',
      content: [
        { type: 'compaction', content: 'So far: water' },
        { type: 'text', text: 'Water' },
      ],
      stop_reason: 'end_turn',
      usage: {
        input_tokens: 23_000,
        cache_creation_input_tokens: 40,
        cache_read_input_tokens: 0,
        cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 40 },
        output_tokens: 1000,
        iterations: [
          {
            type: 'compaction',
            input_tokens: 80_000,
            cache_creation_input_tokens: 0,
            cache_read_input_tokens: 100_000,
            cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
            output_tokens: 3500,
          },
          {
            type: 'message',
            input_tokens: 23_000,
            cache_creation_input_tokens: 40,
            cache_read_input_tokens: 0,
            output_tokens: 1000,
          },
          { type: 'advisor_message', model: 'weir-9', input_tokens: 900, output_tokens: 90 },
        ],
      },
    },
    {
      ...tokens(203_040, 4500, {
        cached_input_tokens: 100_000,
        cache_write_tokens: 40,
        cache_write_1h_tokens: 40,
      }),
      response_model: 'weir-3',
      finish_reason: 'end_turn',
    },
    { path: '/v1/messages' },
  ),
  bodyForm(
    'Messages',
    {
      id: 'msg_w',
      type: 'message',
      role: 'assistant',
      model: 'weir-3',
      content: [{ type: 'text', text: 'Water' }],
      stop_reason: 'max_tokens',
      stop_sequence: null,
      usage: {
        input_tokens: 5,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 300,
        output_tokens: 17,
        service_tier: 'batch',
      },
    },
    {
      ...tokens(305, 17, { cached_input_tokens: 300 }),
      response_model: 'weir-3',
      finish_reason: 'max_tokens',
      service_tier: 'batch',
      upstream_request_id: 'req_a3',
    },
    { path: '/v1/messages', headers: [['request-id', 'req_a3']] },
  ),
  bodyForm(
    'embeddings in base64',
    {
      object: 'list',
      model: 'weir-e',
      data: [{ object: 'embedding', index: 0, embedding: 'zczMPc3MTD6amZk+' }],
      usage: { prompt_tokens: 14, total_tokens: 14 },
    },
    { ...tokens(14, 0), call_type: 'embedding', response_model: 'weir-e' },
    { path: '/v1/embeddings' },
  ),
  bodyForm(
    'embeddings in numbers, the usage first',
    {
      usage: { prompt_tokens: 3, total_tokens: 3 },
      model: 'weir-e',
      data: [{ embedding: [0.25, -1e-7, 3], index: 0 }],
    },
    { ...tokens(3, 0), call_type: 'embedding', response_model: 'weir-e' },
    { path: '/v1/embeddings' },
  ),
  bodyForm(
    'rerank of Jina',
    {
      model: 'weir-r',
      object: 'list',
      usage: { prompt_tokens: 50, total_tokens: 50 },
      results: [{ index: 1, relevance_score: -2.5 }],
    },
    { ...tokens(50, 0), call_type: 'rerank', response_model: 'weir-r' },
    { path: '/v1/rerank' },
  ),
  bodyForm(
    'rerank of Voyage',
    {
      object: 'list',
      data: [{ index: 0, relevance_score: 0.5 }],
      model: 'weir-r',
      usage: { total_tokens: 26 },
    },
    { ...tokens(26, 0), call_type: 'rerank', response_model: 'weir-r' },
    { path: '/rerank' },
  ),
  bodyForm(
    'rerank of Cohere',
    {
      id: 'w',
      results: [{ index: 0, relevance_score: 0.98 }],
      meta: { api_version: { version: '2' }, billed_units: { search_units: 2 } },
    },
    { call_type: 'rerank', search_units: 2 },
    { path: '/v1/rerank' },
  ),
  bodyForm('rerank of TEI', [{ index: 0, score: 0.9 }], { call_type: 'rerank' }, { path: '/rerank' }),
  bodyForm(
    'props of llama.cpp',
    {
      default_generation_settings: { n_ctx: 8192, params: { temperature: 0.8 } },
      total_slots: 2,
      model_path: '/models/weir.gguf',
      chat_template: '{{ "usage" }}',
      modalities: { vision: false },
      build_info: 'b0-w',
      is_sleeping: false,
    },
    { call_type: 'props' },
    { method: 'GET', path: '/props' },
  ),
  bodyForm(
    'a list of models',
    { object: 'list', data: [{ id: 'weir-2', object: 'model', owned_by: 'w' }], models: [] },
    { call_type: 'props' },
    { method: 'GET', path: '/v1/models' },
  ),
  bodyForm(
    'one model, as Anthropic tells of it',
    { type: 'model', id: 'weir-3', display_name: 'Weir' },
    { call_type: 'props' },
    { method: 'GET', path: '/v1/models/weir-3' },
  ),
  bodyForm(
    'a stored response, fetched again: its tokens were counted when it was made',
    {
      id: 'resp_w',
      object: 'response',
      status: 'completed',
      model: 'weir-2',
      usage: { input_tokens: 36, output_tokens: 9 },
    },
    { call_type: 'other', response_model: 'weir-2' },
    { method: 'GET', path: '/v1/responses/resp_w' },
  ),
  bodyForm(
    'a batch, whose tokens its own calls have used',
    {
      id: 'batch_w',
      object: 'batch',
      model: 'weir-2',
      usage: { input_tokens: 9000, output_tokens: 500, total_tokens: 9500 },
    },
    { call_type: 'other', response_model: 'weir-2' },
    { method: 'GET', path: '/v1/batches/batch_w' },
  ),
  bodyForm(
    'a transcription',
    { text: 'Water', usage: { type: 'tokens', input_tokens: 14, output_tokens: 3, total_tokens: 17 } },
    { call_type: 'other', ...tokens(14, 3) },
    { path: '/v1/audio/transcriptions' },
  ),
  bodyForm(
    'a file',
    { id: 'file-w', object: 'file', status: 'error', message: 'odd', type: 'jsonl' },
    { call_type: 'other' },
    { path: '/v1/files' },
  ),
]
