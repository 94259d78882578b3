import { chunk, lastChunk, plain, rises, role, spoken, stop, usage, water, withMore } from './chat-chunks.ts'
import { type WireForm, done, event, streamForm, tokens } from './wire-form.ts'

/** Streams of `/v1/chat/completions` of those who sell them, by whose shape they have. */
export const hostedStreams: readonly WireForm[] = [
  streamForm('OpenAI, usage not asked for', [...plain, done], spoken, { firstContent: [1, 1] }),

  streamForm(
    'OpenAI, usage asked for',
    [
      ...withMore({ service_tier: 'default', system_fingerprint: 'fp_w', usage: null, obfuscation: 'qZ8' }),
      lastChunk({
        service_tier: 'default',
        usage: {
          prompt_tokens: 1480,
          completion_tokens: 210,
          total_tokens: 1690,
          prompt_tokens_details: { cached_tokens: 1024, audio_tokens: 12, cache_write_tokens: 256 },
          completion_tokens_details: { reasoning_tokens: 64, audio_tokens: 5, rejected_prediction_tokens: 0 },
        },
      }),
      done,
    ],
    {
      ...spoken,
      ...tokens(1480, 210, {
        cached_input_tokens: 1024,
        cache_write_tokens: 256,
        reasoning_tokens: 64,
        input_audio_tokens: 12,
        output_audio_tokens: 5,
      }),
      service_tier: 'default',
      upstream_request_id: 'req_7c01',
    },
    {
      headers: [
        ['x-request-id', 'req_7c01'],
        ['openai-processing-ms', '412'],
      ],
      firstContent: [1, 1],
    },
  ),

  streamForm(
    'Mistral, usage with the finish reason, and a filler',
    [role, water, rises, chunk({ content: '' }, 'model_length', { usage, p: 'abcdefgh' }), done],
    { ...spoken, ...tokens(21, 8), finish_reason: 'model_length', upstream_request_id: '01a-weir' },
    { headers: [['mistral-correlation-id', '01a-weir']], firstContent: [1, 1] },
  ),

  streamForm(
    'Mistral, audio beside the tokens of the prompt',
    [
      role,
      water,
      rises,
      chunk({ content: '' }, 'stop', {
        usage: {
          prompt_audio_seconds: 12,
          prompt_tokens: 6,
          completion_tokens: 2,
          total_tokens: 383,
          prompt_tokens_details: { cached_tokens: 0, audio_tokens: 375 },
        },
      }),
      done,
    ],
    { ...spoken, ...tokens(381, 2, { input_audio_tokens: 375 }), audio_ms: 12_000 },
    { firstContent: [1, 1] },
  ),

  streamForm(
    'DashScope, cache writes among the details',
    [
      role,
      water,
      rises,
      stop,
      lastChunk({
        usage: {
          prompt_tokens: 2059,
          completion_tokens: 201,
          total_tokens: 2260,
          prompt_tokens_details: {
            cached_tokens: 0,
            cache_type: 'ephemeral',
            cache_creation_input_tokens: 2048,
            cache_creation: { ephemeral_5m_input_tokens: 2048 },
          },
        },
      }),
      done,
    ],
    { ...spoken, ...tokens(2059, 201, { cache_write_tokens: 2048 }) },
    { firstContent: [1, 1] },
  ),

  streamForm(
    'Mistral, content in parts: reasoning, text, a reference',
    [
      chunk({
        role: 'assistant',
        content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'Why' }] }],
      }),
      chunk({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: ' not?' }] }] }),
      chunk({ content: [{ type: 'thinking', closed: true, thinking: [] }] }),
      chunk({ content: [{ type: 'text', text: 'So.' }] }),
      chunk({ content: ' Done.' }, 'stop', { usage }),
      done,
    ],
    { ...spoken, ...tokens(21, 8), chunks: 4 },
    { firstContent: [0, 3] },
  ),

  streamForm(
    'OpenRouter, comments first, its cost at the end',
    [
      ': OPENROUTER PROCESSING\n\n',
      ': OPENROUTER PROCESSING\n\n',
      ...withMore({ provider: 'Sluice' }).map((each) => event(each)),
      event(
        chunk({ role: 'assistant', content: '' }, null, {
          provider: 'Sluice',
          usage: {
            prompt_tokens: 40,
            completion_tokens: 6,
            total_tokens: 46,
            cost: 0.0000875,
            is_byok: false,
            prompt_tokens_details: { cached_tokens: 32, cache_write_tokens: 4, audio_tokens: 0 },
            cost_details: { upstream_inference_cost: null },
            completion_tokens_details: { reasoning_tokens: 1 },
          },
        }),
      ),
      event(done),
    ].join(''),
    {
      ...spoken,
      ...tokens(40, 6, {
        cached_input_tokens: 32,
        cache_write_tokens: 4,
        reasoning_tokens: 1,
        input_audio_tokens: 0,
      }),
      upstream_request_id: 'gen-55',
      cost_usd: 0.0000875,
      price_source: 'upstream',
    },
    { headers: [['X-Generation-Id', 'gen-55']], firstContent: [1, 1] },
  ),

  streamForm(
    'DeepSeek, keep-alive comments, reasoning first',
    [
      ': keep-alive\n\n',
      event(role),
      event(chunk({ content: null, reasoning_content: 'Let me' })),
      ': keep-alive\n\n',
      event(chunk({ content: null, reasoning_content: ' see.' })),
      event(chunk({ content: 'Water', reasoning_content: null })),
      event(
        chunk({ content: '', reasoning_content: null }, 'stop', {
          usage: {
            prompt_tokens: 80,
            completion_tokens: 15,
            total_tokens: 95,
            prompt_tokens_details: { cached_tokens: 64 },
            completion_tokens_details: { reasoning_tokens: 11 },
            prompt_cache_hit_tokens: 64,
            prompt_cache_miss_tokens: 16,
          },
        }),
      ),
      event(done),
    ].join(''),
    {
      ...spoken,
      ...tokens(80, 15, { cached_input_tokens: 64, reasoning_tokens: 11 }),
      chunks: 3,
      upstream_request_id: 'ds-9f',
    },
    { headers: [['x-ds-trace-id', 'ds-9f']], firstContent: [1, 3] },
  ),

  streamForm(
    'Groq, usage and times beside the choices',
    [
      { ...role, x_groq: { id: 'req_g1' } },
      water,
      rises,
      {
        ...stop,
        x_groq: {
          id: 'req_g1',
          usage: {
            queue_time: 0.025,
            prompt_tokens: 33,
            prompt_time: 0.004,
            completion_tokens: 7,
            completion_time: 0.032,
            total_tokens: 40,
            total_time: 0.036,
          },
        },
      },
      done,
    ],
    {
      ...spoken,
      ...tokens(33, 7),
      upstream_request_id: 'req_g1',
      upstream_queue_ms: 25,
      upstream_prompt_ms: 4,
      upstream_decode_ms: 32,
    },
    { firstContent: [1, 1] },
  ),

  streamForm(
    'Cerebras, its times beside the usage',
    [
      ...plain,
      lastChunk({
        usage,
        time_info: {
          queue_time: 0.0005,
          prompt_time: 0.002,
          completion_time: 0.0125,
          total_time: 0.02,
          created: 1790000000,
        },
      }),
      done,
    ],
    { ...spoken, ...tokens(21, 8), upstream_queue_ms: 0.5, upstream_prompt_ms: 2, upstream_decode_ms: 12.5 },
    { firstContent: [1, 1] },
  ),

  streamForm(
    'xAI, cumulative, reasoning beside the completion, cost in ticks',
    [
      chunk({ role: 'assistant', reasoning_content: 'Hm' }),
      chunk({ content: 'Water' }, null, {
        usage: {
          prompt_tokens: 30,
          completion_tokens: 1,
          total_tokens: 81,
          completion_tokens_details: { reasoning_tokens: 50 },
        },
      }),
      {
        ...chunk({ content: '' }, 'stop'),
        usage: {
          prompt_tokens: 30,
          completion_tokens: 4,
          total_tokens: 84,
          prompt_tokens_details: { text_tokens: 30, audio_tokens: 0, image_tokens: 0, cached_tokens: 28 },
          completion_tokens_details: { reasoning_tokens: 50, audio_tokens: 0 },
          num_sources_used: 0,
          cost_in_usd_ticks: 12500000,
        },
      },
      done,
    ],
    {
      ...spoken,
      ...tokens(30, 54, {
        cached_input_tokens: 28,
        reasoning_tokens: 50,
        input_audio_tokens: 0,
        output_audio_tokens: 0,
      }),
      cost_usd: 0.00125,
      price_source: 'upstream',
    },
    { firstContent: [0, 1], earlier: [[30, 51]] },
  ),

  streamForm(
    'Gemini, cumulative usage whose total alone shows the thinking',
    [
      chunk({ role: 'assistant', content: 'Water' }, null, {
        usage: { prompt_tokens: 9, completion_tokens: 1, total_tokens: 70 },
      }),
      chunk({ role: 'assistant', content: ' rises.' }, 'stop', {
        usage: { prompt_tokens: 9, completion_tokens: 4, total_tokens: 73 },
      }),
      done,
    ],
    { ...spoken, ...tokens(9, 64) },
    { firstContent: [0, 0], earlier: [[9, 61]] },
  ),

  streamForm(
    'Azure, filter frames around the answer',
    [
      {
        choices: [],
        created: 0,
        id: '',
        model: '',
        object: '',
        prompt_filter_results: [
          { prompt_index: 0, content_filter_results: { violence: { filtered: false, severity: 'safe' } } },
        ],
      },
      ...plain,
      {
        choices: [
          {
            content_filter_offsets: { check_offset: 0, start_offset: 0, end_offset: 13 },
            content_filter_results: {},
            finish_reason: null,
            index: 0,
          },
        ],
        created: 0,
        id: '',
        model: '',
        object: '',
      },
      done,
    ],
    { ...spoken, upstream_request_id: 'apim-3' },
    {
      headers: [
        ['apim-request-id', 'apim-3'],
        ['x-ms-region', 'Nowhere'],
      ],
      firstContent: [2, 2],
    },
  ),
]
