import { chunk, lastChunk, rises, role, spoken, stop, usage, water } from './chat-chunks.ts'
import { type WireForm, done, event, streamForm, tokens } from './wire-form.ts'

function choiceUsage(output: number): object {
  const details = { prompt_tokens_details: { cached_tokens: 3 } }
  return { completion_tokens: output, prompt_tokens: 7, total_tokens: 7 + output, ...details }
}

function choiceTimings(output: number, decodeMs: number): object {
  return { cache_n: 3, prompt_n: 4, prompt_ms: 9, predicted_n: output, predicted_ms: decodeMs }
}

/** Streams of `/v1/chat/completions` of servers that people run themselves. */
export const localStreams: readonly WireForm[] = [
  streamForm(
    'vLLM, cumulative usage in every chunk, metrics at the end',
    [
      chunk({ role: 'assistant', content: '' }, null, {
        usage: { prompt_tokens: 21, completion_tokens: 0, total_tokens: 21 },
      }),
      chunk({ reasoning: 'Hm.' }, null, {
        usage: { prompt_tokens: 21, completion_tokens: 3, total_tokens: 24 },
      }),
      chunk({ content: 'Water' }, null, {
        usage: { prompt_tokens: 21, completion_tokens: 5, total_tokens: 26 },
      }),
      chunk({}, 'stop', {
        usage: { prompt_tokens: 21, completion_tokens: 8, total_tokens: 29 },
        stop_reason: null,
      }),
      lastChunk({
        usage: { ...usage, prompt_tokens_details: null },
        metrics: {
          time_to_first_token_ms: 40.5,
          generation_time_ms: 210.25,
          queue_time_ms: 3,
          mean_itl_ms: 30,
          tokens_per_second: 32,
        },
      }),
      done,
    ],
    {
      ...spoken,
      ...tokens(21, 8),
      upstream_queue_ms: 3,
      upstream_prompt_ms: 40.5,
      upstream_decode_ms: 210.25,
    },
    {
      firstContent: [1, 2],
      earlier: [
        [21, 0],
        [21, 3],
        [21, 5],
      ],
    },
  ),

  streamForm(
    'TGI, no space after the colon',
    [role, water, chunk({ content: ' rises.' }, 'eos_token'), { ...chunk({}), choices: [], usage }, done]
      .map((data) => event(data).replace('data: ', 'data:'))
      .join(''),
    { ...spoken, ...tokens(21, 8), finish_reason: 'eos_token' },
    { firstContent: [1, 1] },
  ),

  streamForm(
    'Ollama, a role in every delta',
    [
      chunk({ role: 'assistant', content: '', reasoning: 'Hm' }),
      chunk({ role: 'assistant', content: 'Water' }),
      chunk({ role: 'assistant', content: '' }, 'stop'),
      { ...chunk({}), choices: [], usage },
      done,
    ],
    { ...spoken, ...tokens(21, 8) },
    { firstContent: [0, 1] },
  ),

  streamForm(
    'llama.cpp, progress first, pings, usage, timings last',
    [
      chunk({ role: 'assistant', content: null }, null, {
        prompt_progress: { total: 44, cache: 32, processed: 40, time_ms: 12 },
      }),
      ':\n\n',
      chunk({ role: 'assistant', content: null }, null, {
        prompt_progress: { total: 44, cache: 32, processed: 44, time_ms: 20 },
      }),
      water,
      rises,
      stop,
      lastChunk({
        usage: {
          completion_tokens: 5,
          prompt_tokens: 44,
          total_tokens: 49,
          prompt_tokens_details: { cached_tokens: 32 },
        },
        timings: {
          cache_n: 32,
          prompt_n: 12,
          prompt_ms: 20.5,
          prompt_per_token_ms: 1.7,
          predicted_n: 5,
          predicted_ms: 90.25,
          predicted_per_second: 55.4,
          draft_n: 3,
          draft_n_accepted: 2,
        },
      }),
      done,
    ]
      .map((data) => (data === ':\n\n' ? data : event(data)))
      .join(''),
    {
      ...spoken,
      ...tokens(44, 5, { cached_input_tokens: 32 }),
      upstream_prompt_ms: 20.5,
      upstream_decode_ms: 90.25,
    },
    { firstContent: [2, 2] },
  ),

  streamForm(
    'llama.cpp, two choices, each with its usage when it ends',
    [
      water,
      chunk({ content: 'Rain' }, null, {}, 1),
      chunk({ content: ' falls' }, null, {}, 1),
      stop,
      { ...chunk({}), choices: [], usage: choiceUsage(12), timings: choiceTimings(12, 300) },
      chunk({ content: ' on.' }, null, {}, 1),
      chunk({}, 'length', {}, 1),
      { ...chunk({}), choices: [], usage: choiceUsage(16), timings: choiceTimings(16, 300) },
      done,
    ],
    {
      ...spoken,
      ...tokens(7, 28, { cached_input_tokens: 3 }),
      finish_reason: 'stop,length',
      chunks: 4,
      upstream_prompt_ms: 9,
      upstream_decode_ms: 300,
    },
    {
      firstContent: [0, 0],
      earlier: [
        [7, 12],
        [7, 16],
      ],
    },
  ),

  streamForm(
    'llama.cpp, three choices with timings as they go',
    [
      chunk({ content: 'Water' }, null, { timings: choiceTimings(1, 240) }, 0),
      chunk({ content: 'Rain' }, null, { timings: choiceTimings(1, 240) }, 2),
      chunk({ content: 'Dew' }, null, { timings: choiceTimings(1, 240) }, 1),
      chunk({}, 'stop', { timings: choiceTimings(12, 240) }, 0),
      chunk({}, 'stop', { timings: choiceTimings(12, 240) }, 2),
      chunk({}, 'stop', { timings: choiceTimings(12, 240) }, 1),
      done,
    ],
    {
      ...spoken,
      ...tokens(7, 36, { cached_input_tokens: 3 }),
      usage_source: 'timings',
      finish_reason: 'stop,stop,stop',
      chunks: 3,
      upstream_prompt_ms: 9,
      upstream_decode_ms: 240,
    },
    {
      firstContent: [0, 0],
      earlier: [1, 2, 3, 12, 13, 14, 23, 24, 25].map((output) => [7, output] as const),
    },
  ),

  streamForm(
    'llama.cpp, timings alone, some of them null',
    [
      water,
      rises,
      {
        ...stop,
        timings: {
          cache_n: 0,
          prompt_n: 12,
          prompt_ms: 18.5,
          prompt_per_second: null,
          predicted_n: 2,
          predicted_ms: null,
        },
      },
      done,
    ],
    { ...spoken, ...tokens(12, 2), usage_source: 'timings', upstream_prompt_ms: 18.5 },
    { firstContent: [0, 0] },
  ),
]
