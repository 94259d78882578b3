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
  return { ...record, ending: meter.answerEnding }
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
