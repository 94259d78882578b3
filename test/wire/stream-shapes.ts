import { chunk, plain, rises, role, spoken, stop, usage, water } from './chat-chunks.ts'
import { type WireForm, done, event, streamForm, tokens } from './wire-form.ts'

/** What a stream may be like, whoever sends it. */
export const streamShapes: readonly WireForm[] = [
  streamForm(
    'a finish reason and no end mark, no blank line, no line end',
    [event(role), event(water), event(chunk({}, 'length', { usage }))].join('').trimEnd(),
    { ...spoken, ...tokens(21, 8), finish_reason: 'length', chunks: 1 },
    { firstContent: [1, 1] },
  ),

  streamForm(
    'tool calls',
    [
      chunk({
        role: 'assistant',
        content: null,
        tool_calls: [
          { index: 0, id: 'call_w', type: 'function', function: { name: 'gauge', arguments: '' } },
        ],
      }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '{"at":' } }] }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '"weir"}' } }] }),
      chunk({ tool_calls: [{ index: 1, type: 'custom', custom: { name: 'note', input: '' } }] }),
      chunk({}, 'tool_calls', { usage }),
      done,
    ],
    { ...spoken, ...tokens(21, 8), finish_reason: 'tool_calls', chunks: 4 },
    { firstContent: [0, 0] },
  ),

  streamForm(
    'a refusal',
    [role, chunk({ refusal: 'I will not.' }), stop, done],
    { ...spoken, chunks: 1 },
    { firstContent: [1, 1] },
  ),

  streamForm(
    'three choices that end one by one, out of order',
    [
      chunk({ content: 'A' }, null, {}, 0),
      chunk({ content: 'B' }, null, {}, 1),
      chunk({ content: 'C' }, 'length', {}, 2),
      chunk({}, 'content_filter', {}, 1),
      chunk({}, 'stop', { usage }, 0),
      done,
    ],
    { ...spoken, ...tokens(21, 8), finish_reason: 'stop,content_filter,length', chunks: 3 },
    { firstContent: [0, 0] },
  ),

  streamForm(
    'two prompts, nothing in the first event',
    ['null', chunk({ content: 'A' }, 'stop'), chunk({ content: 'B' }, 'stop', { usage }, 1), done],
    { ...spoken, ...tokens(21, 8), finish_reason: 'stop,stop' },
    { firstContent: [1, 1] },
  ),

  streamForm(
    'CRLF',
    [...plain, { ...chunk({}), choices: [], usage }, done]
      .map((data) => event(data).replaceAll('\n', '\r\n'))
      .join(''),
    { ...spoken, ...tokens(21, 8) },
    { firstContent: [1, 1] },
  ),

  streamForm(
    'CR alone',
    [...plain, { ...chunk({}), choices: [], usage }, done]
      .map((data) => event(data).replaceAll('\n', '\r'))
      .join(''),
    { ...spoken, ...tokens(21, 8) },
    { firstContent: [1, 1] },
  ),

  streamForm(
    'a byte order mark',
    `\uFEFF${[role, water, rises, chunk({}, 'stop', { usage }), done].map((data) => event(data)).join('')}`,
    { ...spoken, ...tokens(21, 8) },
    { firstContent: [1, 1] },
  ),

  streamForm(
    'every field there is: comments, ids, retries, names',
    [
      'retry: 3000\n\n',
      ': hello\nid: 1\nevent: message\n' + event(role),
      ':\n\n:\n\n',
      `id: 2\n: in between\n${event(water)}`,
      'event: ping\n\n',
      event(rises),
      event(chunk({}, 'stop', { usage })),
      event(done),
      ': bye\n\n',
    ].join(''),
    { ...spoken, ...tokens(21, 8) },
    { firstContent: [1, 1] },
  ),

  streamForm(
    'data over many lines',
    [role, water, rises, chunk({}, 'stop', { usage })]
      .map((data) => JSON.stringify(data, null, 2).replaceAll(/^/gm, 'data: ') + '\n\n')
      .join('') + event(done),
    { ...spoken, ...tokens(21, 8) },
    { firstContent: [1, 1] },
  ),

  streamForm(
    'separators and characters outside ASCII',
    [
      role,
      chunk({ content: 'a\u2028b\u2029c\u0085d\u000Be\u001C' }),
      chunk({ content: '\u{1F30A}\u00E9\u4E2D"\\' }),
      chunk({}, 'stop', { usage, model: 'wéir-\u{1F30A}' }),
      done,
    ],
    { ...spoken, ...tokens(21, 8) },
    { firstContent: [1, 1] },
  ),

  streamForm(
    'content that talks like the wire does',
    [
      role,
      chunk({
        content: '"},"finish_reason":"length"}],"usage":{"prompt_tokens":900,"completion_tokens":900}',
      }),
      chunk({ content: '\n\ndata: [DONE]\n\nevent: error\ndata: {"error":{"message":"no"}}\n\n' }),
      chunk({}, 'stop', { usage, error: null }),
      done,
    ],
    { ...spoken, ...tokens(21, 8) },
    { firstContent: [1, 1] },
  ),

  streamForm(
    'data that is no JSON in between',
    [role, water, '{"choices":[{"delta":{"content":"x"', 'ping', rises, chunk({}, 'stop', { usage }), done],
    { ...spoken, ...tokens(21, 8) },
    { firstContent: [1, 1] },
  ),
]
