import { chunk, model, role, spoken, water } from './chat-chunks.ts'
import { type WireForm, done, event, failed, streamForm } from './wire-form.ts'

/** Streams of `/v1/chat/completions` that fail, or stop without a word. */
export const chatFailures: readonly WireForm[] = [
  streamForm(
    'Groq, its own error in a chunk',
    [role, water, { ...chunk({}, 'error'), x_groq: { id: 'req_g2', error: 'over capacity' } }],
    {
      ...spoken,
      ...failed('stream_error', null, 'over capacity'),
      finish_reason: 'error',
      chunks: 1,
      upstream_request_id: 'req_g2',
    },
    { firstContent: [1, 1] },
  ),

  streamForm(
    'TGI, an error in one text',
    event({ error: 'The sluice is shut', error_type: 'generation' }).replace('data: ', 'data:'),
    { ...failed('stream_error', 'generation', 'The sluice is shut'), chunks: 0 },
  ),

  streamForm(
    'llama.cpp of old, an error in a field of its own',
    event(role) + event(water) + 'error: {"code":500,"message":"slot lost","type":"server_error"}\n\n',
    {
      ...spoken,
      ...failed('stream_error', 'server_error', 'slot lost'),
      finish_reason: null,
      chunks: 1,
      upstream_error_code: '500',
    },
    { firstContent: [1, 1] },
  ),

  streamForm(
    'an error object in the place of a chunk',
    [role, water, { error: { code: 502, message: 'the backend went away', type: 'bad_gateway' } }],
    { ...spoken, ...failed('stream_error', '502', 'the backend went away'), finish_reason: null, chunks: 1 },
    { firstContent: [1, 1] },
  ),

  streamForm(
    'an event called error',
    event(role) + event({ error: { message: 'no room', type: 'overload', code: null } }, 'error'),
    { response_model: model, chunks: 0, ...failed('stream_error', 'overload', 'no room') },
  ),

  streamForm(
    'vLLM of old, a flat error, and its end mark',
    [
      role,
      { object: 'error', message: 'bad grammar', type: 'BadRequestError', param: null, code: 422 },
      done,
    ],
    { response_model: model, chunks: 0, ...failed('stream_error', '422', 'bad grammar') },
  ),

  streamForm(
    'OpenRouter, an error beside a choice',
    [
      role,
      water,
      { ...chunk({ content: '' }, 'error'), error: { code: 'server_error', message: 'Provider left' } },
    ],
    {
      ...spoken,
      ...failed('stream_error', 'server_error', 'Provider left'),
      finish_reason: 'error',
      chunks: 1,
    },
    { firstContent: [1, 1] },
  ),

  streamForm(
    'a stream that stops without a word',
    [role, water],
    { ...spoken, ...failed('stream_truncated', null, null), finish_reason: null, chunks: 1 },
    { firstContent: [1, 1] },
  ),

  streamForm('no event at all', ': nothing\n\n', { ...failed('stream_truncated', null, null), chunks: 0 }),
]
