import assert from 'node:assert/strict'
import { test } from 'node:test'
import zlib from 'node:zlib'
import type { ResponseHead } from '../../call/response-head.ts'
import { type CallDraft, blankRecord } from '../../call/call-record.ts'
import type { CallType } from '../../call/call.ts'
import { CallMeter } from './call-meter.ts'
import type { AnswerEnding } from '../../call/outcome.ts'

interface Answer {
  readonly status?: number
  readonly headers?: readonly string[]
  readonly callType?: CallType
  /** Chunks with their arrival. */
  readonly chunks: readonly (readonly [atMs: number, chunk: Uint8Array | string])[]
  /** Cut off instead of ended. */
  readonly cut?: boolean
}

const sse = ['Content-Type', 'text/event-stream; charset=utf-8']
const json = ['content-type', 'application/json']

interface Reading extends CallDraft {
  readonly ending: AnswerEnding
}

const dispatchMs = 100

function meterOf(
  callType: CallType = 'chat',
  wantsStream = true,
  onFault: (error: unknown) => void = assert.ifError,
): CallMeter {
  return new CallMeter({ callType, method: 'POST' }, wantsStream, dispatchMs, onFault)
}

function play(answer: Answer, meter: CallMeter = meterOf(answer.callType)): CallMeter {
  const { status = 200, headers = sse } = answer
  meter.responseStart({ status, statusText: '', contentLength: null, headers })
  for (const [atMs, chunk] of answer.chunks) {
    const copy = Buffer.from(chunk as string)
    meter.data(copy, atMs)
    copy.fill(0)
  }
  meter.end(answer.cut !== true)
  return meter
}

function readingOf(answer: Answer): Reading {
  const meter = play(answer)
  assert.equal(meter.settled(), null)
  return read(meter)
}

function read(meter: CallMeter): Reading {
  const record = blankRecord()
  meter.complete(record)
  return { ...record, ending: meter.ending }
}

/** A body of these events, all arriving at once. */
function events(...data: readonly (object | string)[]): Answer['chunks'] {
  return [[120, data.map(event).join('')]]
}

function event(data: object | string): string {
  return `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`
}

function chunk(delta: object, finish: string | null = null, more: object = {}): object {
  return {
    id: 'chatcmpl-7',
    object: 'chat.completion.chunk',
    model: 'm-1',
    choices: [{ index: 0, delta, finish_reason: finish }],
    ...more,
  }
}

const usage = { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 }
const done = '[DONE]'

test('a chat stream, with every time', () => {
  const meter = play({
    headers: [...sse, 'X-Request-Id', 'req-9', 'request-id', 'other'],
    chunks: [
      [120, event(chunk({ role: 'assistant', content: '' }, null, { service_tier: 'default' }))],
      [150, event(chunk({ reasoning_content: 'hm' }))],
      [1160, event(chunk({ content: 'A' }))],
      [1170, event(chunk({ content: 'B' }))],
      [1190, event(chunk({ content: 'C' }))],
      [1200, event(chunk({}, 'stop')) + event({ choices: [], usage }) + event(done)],
    ],
  })
  const reading = read(meter)
  assert.ok(reading.responseBytes > 500)
  assert.deepEqual([reading.inputTokens, reading.outputTokens, reading.usageSource], [12, 5, 'usage'])
  const expected: Partial<Reading> = {
    ttftMs: 50,
    ttfoMs: 1060,
    tpotMs: 260,
    chunks: 4,
    gapP50Ms: 20,
    gapMaxMs: 1010,
    stalls: 1,
    costNanoUsd: null,
    searchUnits: null,
    upstreamQueueMs: null,
    upstreamPromptMs: null,
    upstreamDecodeMs: null,
    responseModel: 'm-1',
    serviceTier: 'default',
    finishReason: 'stop',
    upstreamRequestId: 'req-9',
    upstreamErrorCode: null,
    errorMessage: null,
    ending: 'complete',
  }
  assert.deepEqual({ ...reading, ...expected }, reading)
  assert.equal(Math.round(reading.gapP95Ms ?? 0), 911)
  assert.deepEqual([meter.isLlamaCpp, meter.usageEvents], [false, 1])
})

test('all content at one instant gives no time per token', () => {
  const reading = readingOf({
    chunks: events(chunk({ content: 'A' }), chunk({ content: 'B' }), { choices: [], usage }),
  })
  assert.deepEqual([reading.chunks, reading.tpotMs, reading.gapMaxMs], [2, null, 0])
})

const early = (count: number, thenMs: readonly number[]): Answer['chunks'] => [
  [120, event(chunk({ content: 'A' })).repeat(count)],
  ...thenMs.map((atMs) => [atMs, event(chunk({ content: 'B' }))] as const),
]

const paces: readonly [what: string, chunks: Answer['chunks'], usage: object, tpot: number | null][] = [
  ['evenly', early(1, [130, 140, 150, 160]), { completion_tokens: 5 }, 10],
  ['in pairs', early(2, [130, 130, 140, 140, 150, 150]), { completion_tokens: 8 }, 30 / 7],
  ['a few tokens a chunk', early(1, [150, 180, 210]), { completion_tokens: 12 }, 90 / 11],
  ['half of them at once', early(4, [180, 240, 300, 360]), { completion_tokens: 8 }, null],
  ['in two chunks that hold many tokens', early(1, [180]), { completion_tokens: 60 }, null],
  ['in two chunks of a token each', early(1, [180]), { completion_tokens: 2 }, 60],
  ['two halves, 63 us apart', early(4, [120.063, 120.063, 120.063]), { completion_tokens: 8 }, null],
  ['faster than anything decodes', early(1, [120.1, 120.2, 120.3]), { completion_tokens: 8 }, null],
  [
    'with hidden reasoning',
    early(1, [130, 140, 150, 160]),
    { completion_tokens: 105, completion_tokens_details: { reasoning_tokens: 100 } },
    10,
  ],
  [
    'with reasoning that was streamed',
    [[100, event(chunk({ reasoning: 'hm' }))], ...early(1, [130, 140])],
    { completion_tokens: 5, completion_tokens_details: { reasoning_tokens: 3 } },
    10,
  ],
  [
    'bunched, from an upstream that tells how long it decoded',
    early(4, [121]),
    { completion_tokens: 5, completion_time: 0.06 },
    15,
  ],
]
for (const [what, chunks, counts, tpot] of paces) {
  test(`the time per token of content that came ${what}`, () => {
    const said = { choices: [], usage: { prompt_tokens: 1, ...counts } }
    const { tpotMs } = readingOf({ chunks: [...chunks, [400, event(said) + event(done)]] })
    assert.equal(tpotMs === null ? null : tpotMs.toFixed(6), tpot === null ? null : tpot.toFixed(6))
  })
}

test('one output token gives no time per token', () => {
  const one = { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 }
  const reading = readingOf({
    chunks: [
      [120, event(chunk({ content: 'A' }))],
      [130, event(chunk({ content: 'B' }, 'stop', { usage: one }))],
    ],
  })
  assert.equal(reading.tpotMs, null)
})

const contents: readonly [what: string, delta: object, ttft: number | null, ttfo: number | null][] = [
  ['a role', { role: 'assistant', content: null }, null, null],
  ['an empty text', { content: '' }, null, null],
  ['a text', { content: 'x' }, 20, 20],
  ['an escape', { content: '"' }, 20, 20],
  ['a long text', { content: 'x'.repeat(5000) }, 20, 20],
  ['a refusal', { refusal: 'no' }, 20, 20],
  ['reasoning', { content: null, reasoning: 'hm' }, 20, null],
  ['reasoning beside an empty text', { reasoning_content: 'hm', content: '' }, 20, null],
  ['reasoning and text', { content: 'x', reasoning_content: 'hm' }, 20, 20],
  ['a tool call with a name', { tool_calls: [{ index: 0, function: { name: 'f', arguments: '' } }] }, 20, 20],
  ['a tool call with arguments', { tool_calls: [{ index: 0, function: { arguments: '{' } }] }, 20, 20],
  ['a tool call with neither', { tool_calls: [{ index: 0, id: 'c' }] }, null, null],
  ['audio', { audio: { data: 'AAAA' } }, 20, 20],
  ['audio that only begins', { audio: { id: 'a' } }, null, null],
  ['parts of text', { content: [{ type: 'text', text: 'x' }] }, 20, 20],
  [
    'parts of reasoning',
    { content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'x' }] }] },
    20,
    null,
  ],
  ['no parts', { content: [] }, null, null],
]

for (const [what, delta, ttftMs, ttfoMs] of contents) {
  test(`${what} in a delta ${ttftMs === null ? 'is no content' : 'is content'}`, () => {
    const reading = readingOf({ chunks: events(chunk(delta)) })
    assert.deepEqual([reading.ttftMs, reading.ttfoMs], [ttftMs, ttfoMs])
    assert.equal(reading.chunks, ttftMs === null ? 0 : 1)
  })
}

test('content that talks of usage, errors and ends is only content', () => {
  const said =
    '","usage":{"prompt_tokens":1,"completion_tokens":99},"error":{"message":"boom"},"finish_reason":"stop"}]}\n[DONE]'
  const reading = readingOf({ chunks: events(chunk({ content: said }), chunk({ content: said })) })
  assert.deepEqual(
    [reading.usageSource, reading.ending, reading.finishReason, reading.errorMessage, reading.chunks],
    ['none', 'truncated', null, null, 2],
  )
})

test('zero counts before the real ones, as Ollama sends them, are not taken', () => {
  const zero = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }
  const text = (text: string, counts: object): object => ({
    choices: [{ index: 0, text, finish_reason: null }],
    usage: counts,
  })
  const cut = readingOf({ chunks: events(text('A', zero), text('B', zero)), cut: true })
  assert.deepEqual([cut.usageSource, cut.outputTokens, cut.chunks], ['none', null, 2])
  const whole = readingOf({ chunks: events(text('A', zero), text('', usage), text('', zero)) })
  assert.equal(whole.outputTokens, 5)
})

test('bad JSON in an event is skipped', () => {
  const reading = readingOf({
    chunks: events('{"choices":[{"delta":{"content":"x', chunk({ content: 'A' }), done),
  })
  assert.deepEqual([reading.chunks, reading.ending], [1, 'complete'])
})

test('finish reasons of several choices stand in the choices’ order', () => {
  const end = (index: number, reason: string): object => ({
    choices: [{ finish_reason: reason, index, delta: {} }],
  })
  assert.equal(readingOf({ chunks: events(end(1, 'length'), end(0, 'stop')) }).finishReason, 'stop,length')
})

test('an Anthropic stream', () => {
  const start = {
    type: 'message_start',
    message: { model: 'c-1', usage: { input_tokens: 10, output_tokens: 1, cache_read_input_tokens: 4 } },
  }
  const reading = readingOf({
    chunks: events(
      start,
      { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'hm' } },
      { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'A' } },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 40 } },
      { type: 'message_stop' },
    ),
  })
  assert.deepEqual(
    [reading.responseModel, reading.finishReason, reading.chunks, reading.ending],
    ['c-1', 'end_turn', 2, 'complete'],
  )
  assert.deepEqual([reading.inputTokens, reading.outputTokens], [14, 40])
})

test('a Responses stream', () => {
  const response = {
    model: 'm-2',
    status: 'completed',
    usage: { input_tokens: 3, output_tokens: 4, total_tokens: 7 },
  }
  const reading = readingOf({
    chunks: [
      [120, event({ type: 'response.created', response: { model: 'm-2', usage: null } })],
      [130, event({ type: 'response.reasoning_summary_text.delta', delta: 'hm' })],
      [140, event({ type: 'response.output_text.delta', delta: 'A' })],
      [150, event({ type: 'response.completed', response })],
    ],
  })
  assert.deepEqual(
    [reading.ttftMs, reading.ttfoMs, reading.ending, reading.responseModel],
    [30, 40, 'complete', 'm-2'],
  )
  assert.equal(reading.totalTokens, 7)
})

const failures: readonly [what: string, stream: string, code: string | null, message: string | null][] = [
  [
    'an error event',
    event(chunk({ content: 'A' })) + event({ error: { message: 'm', code: 500 } }),
    '500',
    'm',
  ],
  [
    'an event named error',
    'event: error\ndata: {"type":"error","error":{"type":"t","message":"m"}}\n\n',
    't',
    'm',
  ],
  ['an event named error without JSON', 'event: error\ndata: it broke\n\n', null, 'it broke'],
  ['a field called error', 'error: {"code":500,"message":"m"}\n\n', '500', 'm'],
  ['an error in one text', event({ error: 'm', error_type: 't' }), 't', 'm'],
  ['a flat error', event({ object: 'error', message: 'm', code: 400 }), '400', 'm'],
  [
    'a failed response',
    event({ type: 'response.failed', response: { error: { code: 'c', message: 'm' } } }),
    'c',
    'm',
  ],
  ['the finish reason error', event(chunk({}, 'error')), null, null],
  ['an error in front of the end mark', event({ error: { message: 'm' } }) + event(done), null, 'm'],
]

for (const [what, stream, code, message] of failures) {
  test(`${what} is a stream error`, () => {
    const reading = readingOf({ chunks: [[120, stream]] })
    assert.deepEqual(
      [reading.ending, reading.upstreamErrorCode, reading.errorMessage],
      ['stream_error', code, message],
    )
  })
}

const endings: readonly [what: string, answer: Partial<Answer>, ending: string][] = [
  ['an end mark', { chunks: events(chunk({ content: 'A' }), done) }, 'complete'],
  ['a finish reason', { chunks: events(chunk({}, 'stop')) }, 'complete'],
  ['neither', { chunks: events(chunk({ content: 'A' })) }, 'truncated'],
  ['error: null', { chunks: events(chunk({}, null, { error: null }), done) }, 'complete'],
  ['neither, but cut', { chunks: events(chunk({ content: 'A' })), cut: true }, 'truncated'],
  ['an end mark, then cut', { chunks: events(done), cut: true }, 'complete'],
  ['another kind of call', { chunks: events({ a: 1 }), callType: 'other' }, 'none'],
  ['a status that says it all', { chunks: events({ error: 'm' }), status: 500 }, 'none'],
  ['no body at all', { chunks: [] }, 'truncated'],
]

for (const [what, answer, ending] of endings) {
  test(`a stream with ${what} ends as ${ending}`, () => {
    assert.equal(readingOf({ chunks: [], ...answer }).ending, ending)
  })
}

test('a chat answer that is no stream', () => {
  const body = JSON.stringify({
    object: 'chat.completion',
    model: 'm-1',
    choices: [{ index: 0, message: { content: 'A "usage" of words' }, finish_reason: 'stop' }],
    usage,
    service_tier: 'flex',
  })
  for (const cut of [0, 1, 40, 150, body.length - 3]) {
    const reading = readingOf({
      headers: json,
      chunks: [
        [120, body.slice(0, cut)],
        [130, body.slice(cut)],
      ],
    })
    assert.deepEqual(
      [reading.responseModel, reading.serviceTier, reading.finishReason, reading.totalTokens, reading.ending],
      ['m-1', 'flex', 'stop', 17, 'none'],
    )
    assert.deepEqual([reading.ttftMs, reading.chunks], [null, null])
    assert.equal(reading.responseBytes, body.length)
  }
})

const bodies: readonly [
  what: string,
  body: unknown,
  expected: Partial<Reading>,
  callType?: CallType,
  status?: number,
][] = [
  [
    'legacy completions',
    { model: 'm', choices: [{ text: 'A', index: 0, finish_reason: 'length' }] },
    { finishReason: 'length' },
  ],
  [
    'a list of models',
    { object: 'list', data: [{ id: 'm', object: 'model' }] },
    { ending: 'none', errorMessage: null },
    'props',
  ],
  [
    'an error as HTTP 200',
    { error: { message: 'm', code: 'c' } },
    { ending: 'stream_error', upstreamErrorCode: 'c', errorMessage: 'm' },
  ],
  [
    'a flat error as HTTP 200',
    { object: 'error', message: 'm' },
    { ending: 'stream_error', errorMessage: 'm' },
  ],
  ['an answer with error: null', { error: null, choices: [{}] }, { ending: 'none' }],
  [
    'an answer beside an error',
    { choices: [{ finish_reason: 'stop' }], error: { message: 'm' } },
    { ending: 'none', errorMessage: null },
  ],
  ['a file with an error of its own', { id: 'f', error: { message: 'm' } }, { ending: 'none' }, 'other'],
  [
    'a status with an error',
    { error: { message: 'm', code: 429, type: 't' } },
    { ending: 'none', upstreamErrorCode: 't', errorMessage: 'm' },
    'chat',
    429,
  ],
  ['an array with an error', [{ error: { code: 400, message: 'm' } }], { errorMessage: 'm' }, 'chat', 400],
  [
    'a failed response',
    { object: 'response', status: 'failed', error: { code: 'c', message: 'm' } },
    { ending: 'stream_error', upstreamErrorCode: 'c' },
  ],
  [
    'an incomplete response',
    { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
    { ending: 'none', finishReason: 'max_output_tokens' },
  ],
  ['no JSON', 'no', { usageSource: 'none', inputTokens: null, responseModel: null }],
]

for (const [what, body, expected, callType = 'chat', status = 200] of bodies) {
  test(`a body with ${what}`, () => {
    const reading = readingOf({ headers: json, callType, status, chunks: [[120, JSON.stringify(body)]] })
    assert.deepEqual({ ...reading, ...expected }, reading)
  })
}

test('sixty thousand numbers before the usage of embeddings', () => {
  const vector = Array.from({ length: 60_000 }, (_, i) => i / 7)
  const body = JSON.stringify({
    object: 'list',
    data: [{ embedding: vector }],
    model: 'e',
    usage: { prompt_tokens: 8, total_tokens: 8 },
  })
  const chunks = Array.from(
    { length: Math.ceil(body.length / 1000) },
    (_, i) => [120, body.slice(i * 1000, i * 1000 + 1000)] as const,
  )
  const reading = readingOf({ headers: json, callType: 'embedding', chunks })
  assert.deepEqual([reading.responseModel, reading.inputTokens, reading.outputTokens], ['e', 8, 0])
})

for (const [what, fault] of [
  ['the head', (meter: CallMeter) => meter.responseStart({ status: 200 } as ResponseHead)],
  ['a chunk', (meter: CallMeter) => meter.data({ length: 9 } as Buffer, 130)],
] as const) {
  test(`a fault while ${what} is read is reported once, and nothing more is read`, () => {
    const reported: unknown[] = []
    const meter = meterOf('chat', true, (error) => reported.push(error))
    meter.responseStart({ status: 200, statusText: '', contentLength: null, headers: sse })
    meter.data(Buffer.from(event(chunk({ content: 'A' }))), 120)
    assert.doesNotThrow(() => fault(meter))
    meter.data(Buffer.from(event(chunk({ content: 'B' }))), 140)
    meter.end(true)
    assert.equal(reported.length, 1)
    assert.deepEqual([read(meter).chunks, read(meter).ttftMs], [1, 20])
  })
}

test('a reading taken on the way does not hold back what comes later', () => {
  const meter = meterOf()
  meter.responseStart({ status: 200, statusText: '', contentLength: null, headers: sse })
  meter.data(Buffer.from(event(chunk({ content: 'A' }, null, { usage }))), 2)
  assert.equal(read(meter).outputTokens, 5)
  meter.data(
    Buffer.from(event(chunk({}, 'stop', { usage: { ...usage, completion_tokens: 6, total_tokens: 18 } }))),
    3,
  )
  meter.end(true)
  const { outputTokens, ending } = read(meter)
  assert.deepEqual([outputTokens, ending], [6, 'complete'])
})

test('a page is no answer to a chat, and only counted', () => {
  const reading = readingOf({ headers: ['content-type', 'text/html'], chunks: [[120, '{"usage":{}}']] })
  assert.deepEqual(
    [reading.responseBytes, reading.usageSource, reading.chunks, reading.ending],
    [12, 'none', null, 'empty'],
  )
})

test('an answer that does not say what it is is read as what was asked for', () => {
  assert.equal(readingOf({ headers: [], chunks: events(chunk({ content: 'a' }), done) }).ending, 'complete')
  const body = play({ headers: [], chunks: [[120, JSON.stringify({ usage })]] }, meterOf('chat', false))
  assert.equal(read(body).totalTokens, 17)
})

const codings: readonly [coding: string, encode: (bytes: Buffer) => Buffer][] = [
  ['gzip', zlib.gzipSync],
  ['x-gzip', zlib.gzipSync],
  ['deflate', zlib.deflateSync],
  ['deflate', zlib.deflateRawSync],
  ['br', zlib.brotliCompressSync],
  ['zstd', zlib.zstdCompressSync],
]

for (const [coding, encode] of codings) {
  test(`a body in ${coding} (${encode.name}) is read`, async () => {
    const encoded = encode(Buffer.from(JSON.stringify({ model: 'm', usage })))
    const chunks = [
      [120, encoded.subarray(0, 9)],
      [130, encoded.subarray(9)],
    ] as const
    const meter = play({ headers: [...json, 'Content-Encoding', coding.toUpperCase()], chunks })
    await meter.settled()
    assert.equal(meter.settled(), null)
    const reading = read(meter)
    assert.deepEqual([reading.totalTokens, reading.responseBytes], [17, encoded.length])
  })
}

test('a compressed stream that is cut gives what came', async () => {
  const gzip = zlib.createGzip()
  const [first, second] = [event(chunk({ content: 'A' })), event(chunk({ content: 'B' }))]
  const parts: Buffer[] = []
  gzip.on('data', (part: Buffer) => parts.push(part))
  await new Promise<void>((resolve) => gzip.write(first + second, () => gzip.flush(resolve)))
  const meter = play({
    headers: [...sse, 'content-encoding', 'gzip'],
    chunks: [[150, Buffer.concat(parts)]],
    cut: true,
  })
  await meter.settled()
  const { chunks, ttftMs, ending } = read(meter)
  assert.deepEqual([chunks, ttftMs, ending], [2, 50, 'truncated'])
})

test('a small body that unpacks to 40 MB is given up, and nothing is said of it', async () => {
  const fast = { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 1 } }
  const bomb = zlib.brotliCompressSync(Buffer.alloc(40_000_000, ' '), fast)
  assert.ok(bomb.length < 40_000)
  const meter = play({ headers: [...sse, 'content-encoding', 'br'], chunks: [[120, bomb]] })
  await meter.settled()
  const { usageSource, chunks, ending, responseBytes } = read(meter)
  assert.deepEqual([usageSource, chunks, ending, responseBytes], ['none', null, 'none', bomb.length])
})

for (const [what, headers] of [
  ['that is not what it says', [...sse, 'content-encoding', 'gzip']],
  ['that nobody can read', [...sse, 'content-encoding', 'compress']],
  ['of two kinds', [...sse, 'content-encoding', 'gzip', 'content-encoding', 'br']],
] as const) {
  test(`a stream in a coding ${what} is never called truncated`, async () => {
    const meter = play({ headers, chunks: events(chunk({ content: 'A' })) })
    await meter.settled()
    const { ending, usageSource, chunks } = read(meter)
    assert.deepEqual([ending, usageSource, chunks], ['none', 'none', null])
  })
}
