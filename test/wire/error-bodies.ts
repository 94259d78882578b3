import { type WireForm, bodyForm, failed } from './wire-form.ts'

/** Answers that say that they failed, by status or within HTTP 200. */
export const errorBodies: readonly WireForm[] = [
  bodyForm(
    'OpenAI, too many requests',
    { error: { message: 'Slow down', type: 'requests', param: null, code: 'rate_limit_exceeded' } },
    { ...failed('upstream_http', 'rate_limit_exceeded', 'Slow down'), upstream_request_id: 'req_e1' },
    {
      status: 429,
      headers: [
        ['x-request-id', 'req_e1'],
        ['retry-after', '2'],
      ],
    },
  ),
  bodyForm(
    'Anthropic, overloaded',
    { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' }, request_id: 'req_e2' },
    { ...failed('upstream_http', 'overloaded_error', 'Overloaded'), upstream_request_id: 'req_e2' },
    { path: '/v1/messages', status: 529 },
  ),
  bodyForm(
    'Gemini, an array',
    [{ error: { code: 400, message: 'API key not valid', status: 'INVALID_ARGUMENT' } }],
    failed('upstream_http', null, 'API key not valid'),
    { status: 400 },
  ),
  bodyForm(
    'llama.cpp, a prompt too long',
    {
      error: {
        code: 400,
        message: 'too long',
        type: 'exceed_context_size_error',
        n_prompt_tokens: 9,
        n_ctx: 8,
      },
    },
    failed('upstream_http', 'exceed_context_size_error', 'too long'),
    { status: 400 },
  ),
  bodyForm(
    'llama.cpp, still loading',
    { error: { message: 'Loading model', type: 'unavailable_error', code: 503 } },
    failed('upstream_http', 'unavailable_error', 'Loading model'),
    { status: 503 },
  ),
  bodyForm(
    'vLLM of old, flat',
    { object: 'error', message: 'no such model', type: 'NotFoundError', param: null, code: 404 },
    failed('upstream_http', 'NotFoundError', 'no such model'),
    { status: 404 },
  ),
  bodyForm(
    'Mistral, details within the message',
    {
      object: 'error',
      message: {
        detail: [
          { type: 'extra_forbidden', loc: ['body', 'n'], msg: 'Extra inputs are not permitted', input: 1 },
        ],
      },
      type: 'invalid_request_error',
      param: null,
      code: null,
    },
    failed('upstream_http', 'invalid_request_error', 'Extra inputs are not permitted'),
    { status: 422 },
  ),
  bodyForm(
    'FastAPI, a list of details',
    { detail: [{ type: 'missing', loc: ['body', 'messages'], msg: 'Field required', input: {} }] },
    failed('upstream_http', null, 'Field required'),
    { status: 422 },
  ),
  bodyForm('FastAPI, one text', { detail: 'Not here' }, failed('upstream_http', null, 'Not here'), {
    status: 404,
  }),
  bodyForm(
    'TGI, a text and its type',
    { error: 'Model is overloaded', error_type: 'overloaded' },
    failed('upstream_http', 'overloaded', 'Model is overloaded'),
    { status: 429 },
  ),
  bodyForm(
    'Ollama, a text',
    { error: 'model "weir" not found' },
    failed('upstream_http', null, 'model "weir" not found'),
    { status: 404 },
  ),
  bodyForm(
    'a page of a proxy',
    '<html><body><h1>502 Bad Gateway</h1></body></html>',
    failed('upstream_http', null, null),
    { status: 502, headers: [['Content-Type', 'text/html']] },
  ),
  bodyForm(
    'a plain text of a proxy',
    'upstream connect error or disconnect: \u00FCberlast\r\n',
    failed('upstream_http', null, 'upstream connect error or disconnect: \u00FCberlast'),
    { status: 503, headers: [['Content-Type', 'text/plain; charset=utf-8']] },
  ),
  bodyForm('an empty body', '', failed('upstream_http', null, null), { status: 500 }),
  bodyForm(
    'HTTP 200 with nothing but an error',
    { error: { message: 'No credit', code: 402 } },
    failed('stream_error', '402', 'No credit'),
  ),
  bodyForm(
    'HTTP 200 with a flat error',
    { object: 'error', message: 'bad', type: 'BadRequestError', code: 400 },
    failed('stream_error', '400', 'bad'),
  ),
  bodyForm(
    'HTTP 200 with an error in one text',
    { error: 'It broke', error_type: 'generation' },
    failed('stream_error', 'generation', 'It broke'),
  ),
  bodyForm(
    'OpenRouter, an error within a choice',
    {
      id: 'gen-w',
      model: 'weir-2',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Wat' },
          finish_reason: 'error',
          error: { code: 502, message: 'Provider left' },
        },
      ],
    },
    { ...failed('stream_error', '502', 'Provider left'), response_model: 'weir-2', finish_reason: 'error' },
  ),
  bodyForm(
    'an error with a key in its words',
    { error: { message: 'Incorrect API key provided: sk-weir-0123456789abcdef' } },
    failed('upstream_http', null, 'Incorrect API key provided: [secret]'),
    { status: 401 },
  ),
]
