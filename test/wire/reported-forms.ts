import { type WireForm, bodyForm, done, event, failed, streamForm, tokens } from './wire-form.ts'

const messages = '/v1/messages'
const responses = '/v1/responses'

function chunk(delta: object, more: object = {}, top: object = {}): object {
  return { object: 'chat.completion.chunk', model: 'weir-4', choices: [{ index: 0, delta, ...more }], ...top }
}

const water = chunk({ content: 'Water' })
const stopped = chunk({}, { finish_reason: 'stop' })
const answered = { response_model: 'weir-4', finish_reason: 'stop' }
const usage = { prompt_tokens: 8, completion_tokens: 30, total_tokens: 38 }

function whole(usage: object, top: object = {}): object {
  const choices = [{ index: 0, message: { role: 'assistant', content: 'Water' }, finish_reason: 'stop' }]
  return { object: 'chat.completion', model: 'weir-4', choices, usage, ...top }
}

function message(start: object, delta: object): string {
  return [
    { type: 'message_start', message: { model: 'weir-5', content: [], usage: start } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Water' } },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: delta },
    { type: 'message_stop' },
  ]
    .map((data) => event(data, data.type))
    .join('')
}

const said = { response_model: 'weir-5', finish_reason: 'end_turn', chunks: 1 }
const second = [1, 1] as const
const first = [0, 0] as const
const nothing = failed('empty_answer', null, null)
const events = [event(water), event(stopped), event({ choices: [], usage }), event(done)].join('')

/** Forms that users of gateways and local servers have reported. */
export const reportedForms: readonly WireForm[] = [
  streamForm(
    'Messages, whose last usage has zeros for what its first one told',
    message({ input_tokens: 321, output_tokens: 1 }, { input_tokens: 0, output_tokens: 16 }),
    { ...said, ...tokens(321, 16) },
    {
      path: messages,
      firstContent: second,
      earlier: [
        [321, null],
        [0, 16],
      ],
    },
  ),
  streamForm(
    'Messages with caches, whose last usage has zeros for them',
    message(
      { input_tokens: 21, cache_read_input_tokens: 5000, cache_creation_input_tokens: 300, output_tokens: 1 },
      { input_tokens: 0, cache_read_input_tokens: 0, cache_creation_input_tokens: 0, output_tokens: 16 },
    ),
    { ...said, ...tokens(5321, 16, { cached_input_tokens: 5000, cache_write_tokens: 300 }) },
    {
      path: messages,
      firstContent: second,
      earlier: [
        [5321, null],
        [0, 16],
        [5300, 16],
      ],
    },
  ),
  streamForm(
    'chat of Kimi, with the usage in a choice',
    [
      water,
      chunk(
        {},
        {
          finish_reason: 'stop',
          usage: { prompt_tokens: 19, completion_tokens: 13, total_tokens: 32, cached_tokens: 12 },
        },
      ),
      done,
    ],
    { ...answered, chunks: 1, ...tokens(19, 13, { cached_input_tokens: 12 }) },
    { firstContent: first },
  ),
  bodyForm(
    'chat of Kimi, whole',
    whole({ prompt_tokens: 1900, completion_tokens: 13, total_tokens: 1913, cached_tokens: 1800 }),
    { ...answered, ...tokens(1900, 13, { cached_input_tokens: 1800 }) },
  ),
  bodyForm(
    'chat of Perplexity, with a cost in parts',
    whole({
      ...usage,
      cost: { input_tokens_cost: 8e-6, output_tokens_cost: 3e-5, request_cost: 0.005, total_cost: 0.005038 },
    }),
    { ...answered, ...tokens(8, 30), cost_usd: 0.005038, price_source: 'upstream' },
  ),
  streamForm(
    'chat with a cost in an event of its own, as text',
    [water, stopped, { choices: [], usage }, { choices: [], cost: '0.00006972' }, done],
    { ...answered, chunks: 1, ...tokens(8, 30), cost_usd: 0.00006972, price_source: 'upstream' },
    { firstContent: first },
  ),
  bodyForm(
    'chat behind a LiteLLM proxy, which tells the cost in a header',
    whole(usage),
    { ...answered, ...tokens(8, 30), cost_usd: 0.000308, price_source: 'upstream' },
    { headers: [['x-litellm-response-cost', '3.08e-04']] },
  ),
  ...['application/json', 'text/plain; charset=utf-8', 'application/octet-stream'].map((type) =>
    streamForm(
      `a stream of chat under ${type}`,
      events,
      { ...answered, chunks: 1, ...tokens(8, 30) },
      { headers: [['Content-Type', type]], firstContent: first },
    ),
  ),
  bodyForm(
    'a transcription that is billed by the second',
    { text: 'Water', usage: { type: 'duration', seconds: 27.5 } },
    { call_type: 'other', usage_source: 'usage', audio_ms: 27_500 },
    { path: '/v1/audio/transcriptions' },
  ),
  bodyForm(
    'a response that had an image made',
    {
      id: 'resp_1',
      object: 'response',
      status: 'completed',
      output: [{ type: 'message', role: 'assistant', content: [] }],
      usage: { input_tokens: 1800, output_tokens: 200, total_tokens: 2000 },
      tool_usage: { image_gen: { input_tokens: 20, output_tokens: 7000, total_tokens: 7020 } },
    },
    { finish_reason: 'completed', ...tokens(1800, 200), image_tokens: 7020 },
    { path: responses },
  ),
  bodyForm(
    'a response to be made in the background',
    { id: 'resp_2', object: 'response', status: 'queued', output: [], usage: null },
    { finish_reason: 'queued' },
    { path: responses },
  ),
  ...['text/plain; charset=utf-8', 'application/octet-stream', 'text/html', 'application/x-ndjson'].map(
    (type) =>
      bodyForm(
        `a chat under ${type}`,
        whole(usage),
        { ...answered, ...tokens(8, 30) },
        { headers: [['Content-Type', type]] },
      ),
  ),
  bodyForm('a chat behind blanks', `${'\n'.repeat(90)}${JSON.stringify(whole(usage))}`, {
    ...answered,
    ...tokens(8, 30),
  }),
  bodyForm('a chat behind a byte order mark', `\ufeff${JSON.stringify(whole(usage))}`, {
    ...answered,
    ...tokens(8, 30),
  }),
  bodyForm(
    'a chat whose coding is a charset',
    whole(usage),
    { ...answered, ...tokens(8, 30) },
    { headers: [['Content-Encoding', 'utf-8']] },
  ),
  bodyForm('a chat of DeepInfra', whole({ ...usage, estimated_cost: 0.0000123 }), {
    ...answered,
    ...tokens(8, 30),
    cost_usd: 0.0000123,
    price_source: 'upstream',
  }),
  ...['text/plain', 'application/json', 'application/xml'].map((type) =>
    bodyForm(`words for a chat under ${type}`, 'upstream connect error', nothing, {
      headers: [['Content-Type', type]],
    }),
  ),
  bodyForm('a message alone', { code: 500, message: 'Busy' }, failed('empty_answer', '500', 'Busy')),
  bodyForm(
    'a remark alone',
    { success: false, msg: 'Busy' },
    { ...failed('empty_answer', null, 'Busy'), call_type: 'embedding' },
    { path: '/v1/embeddings' },
  ),
  bodyForm('nothing, accepted', '', nothing, { status: 202 }),
  bodyForm(
    'embeddings in bytes',
    '\u0001\u0002',
    { call_type: 'embedding' },
    { path: '/v1/embeddings', headers: [['Content-Type', 'application/octet-stream']] },
  ),
  bodyForm('a list of lists', [[0.1, 0.2]], { call_type: 'embedding' }, { path: '/v1/embeddings' }),
  ...[1, 30, -1].map((at) =>
    bodyForm(
      `a chat whose JSON is cut at ${at}`,
      JSON.stringify(whole(usage)).slice(0, at),
      failed('stream_truncated', null, null),
    ),
  ),
  bodyForm(
    'a long chat whose JSON is cut',
    JSON.stringify(whole(usage, { padding: 'x'.repeat(300_000) })).slice(0, -1),
    failed('stream_truncated', null, null),
  ),
  bodyForm('a chat with a number that only lenient parsers read', '{"choices":[{"logprobs":NaN}]}', {}),
  bodyForm('no bytes for a chat', '', nothing),
  bodyForm('no bytes for embeddings', '', { ...nothing, call_type: 'embedding' }, { path: '/v1/embeddings' }),
  bodyForm('an empty object', '{}', nothing),
  bodyForm('blanks', '\n \n', nothing),
  bodyForm('no choices', { choices: [] }, nothing),
  bodyForm('no choices, and a usage', { choices: null, usage }, { ...nothing, ...tokens(8, 30) }),
  bodyForm('an empty object for a response', '{}', nothing, { path: responses }),
  bodyForm('a page for people', '<html><body>Sign in to the network</body></html>', nothing, {
    headers: [['Content-Type', 'text/html; charset=utf-8']],
  }),
  streamForm('an end mark alone', [done], { ...nothing, chunks: 0 }),
  streamForm('a usage and an end mark', [{ choices: [], usage }, done], {
    ...nothing,
    ...tokens(8, 30),
    chunks: 0,
  }),
]
