import assert from 'node:assert/strict'
import { after, mock, test } from 'node:test'
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts'
import { asRecord } from '../support/json-record.ts'
import { type ReplyScript, type ReplyStep, write } from '../support/reply-step.ts'
import { bodyReply, chunkFrame, responseHead, sseEvent } from '../support/response-bytes.ts'
import type { ReplyEnd, SeenRequest } from '../support/seen-request.ts'
import { startSimulatedUpstream, type SimulatedUpstream } from '../support/simulated-upstream.ts'

/** What a client library does, and what comes of it: the same at the upstream itself and through the gateway. */
export interface Scenario {
  readonly name: string
  /**
   * Given the origin, to which some libraries want `/v1` added, how to say that the first of a stream came, and a wait for
   * its request to be whole at the upstream.
   */
  readonly act: (origin: string, seen: () => void, asked: () => Promise<void>) => Promise<unknown>
  /**
   * The answers to its requests, in order; for those that are left, the simulated model's. `seen` is settled by
   * `act`.
   */
  readonly replies?: (seen: Promise<void>) => readonly ReplyScript[]
  /** Found in the outcome, written as JSON. */
  readonly gives: RegExp
  /** 1 unless told. */
  readonly requests?: number
  /** Whether the client ends the connection before the answer is over. */
  readonly leaves?: boolean
}

/** Where clients are tried: an upstream, and a gateway before it. */
export interface Stage {
  readonly upstream: SimulatedUpstream
  readonly gateway: GatewayProcess
}

/** Both are closed when the file's tests are over. */
export async function startStage(): Promise<Stage> {
  const upstream = await startSimulatedUpstream()
  const gateway = await startGatewayProcess({ upstream: upstream.baseUrl })
  after(async () => {
    await gateway[Symbol.asyncDispose]()
    await upstream.close()
  })
  return { upstream, gateway }
}

/** A test for each scenario. */
export function tryBothWays(stage: Stage, scenarios: readonly Scenario[]): void {
  for (const scenario of scenarios) {
    test(scenario.name, async () => {
      const direct = await play(stage, scenario, stage.upstream.origin)
      const through = await play(stage, scenario, stage.gateway.origin)
      assert.deepEqual(through, direct)
      assert.match(JSON.stringify(direct.outcome), scenario.gives)
      assert.equal(direct.requests.length, scenario.requests ?? 1)
      assert.ok(direct.ends.every((end) => end === 'client-left'))
    })
  }
}

interface Played {
  readonly outcome: unknown
  /** Method, target and body of each request, as the upstream saw them. */
  readonly requests: readonly unknown[]
  /** How their answers ended; looked at only where the client is to leave. */
  readonly ends: readonly ReplyEnd[]
}

async function play({ upstream }: Stage, scenario: Scenario, origin: string): Promise<Played> {
  const before = upstream.requests.length
  const seen = Promise.withResolvers<void>()
  upstream.replyOnce(...(scenario.replies?.(seen.promise) ?? []))
  const asked = async (): Promise<void> => (await upstream.waitForRequest(before)).bodyEnd
  const outcome = plain(await outcomeOf(() => scenario.act(origin, seen.resolve, asked)))
  const requests = upstream.requests.slice(before)
  const ends = scenario.leaves === true ? await Promise.all(requests.map(({ replyEnd }) => replyEnd)) : []
  return { outcome, requests: requests.map(sentBy), ends }
}

/** What the gateway asks of its own accord is a named difference. */
function sentBy(request: SeenRequest): readonly unknown[] {
  const body: Record<string, unknown> = { ...request.json() }
  const options: Record<string, unknown> = { ...asRecord(body['stream_options']) }
  body['stream_options'] = options
  if (options['include_usage'] === true) {
    delete options['include_usage']
  }
  return [request.method, request.target, request.body.length === 0 ? null : body]
}

async function outcomeOf(act: () => Promise<unknown>): Promise<unknown> {
  try {
    return { result: await act() }
  } catch (error) {
    if (!(error instanceof Error)) throw error
    return wordsOf(error)
  }
}

const told = [
  'name',
  'message',
  'status',
  'statusCode',
  'code',
  'type',
  'param',
  'error',
  'isRetryable',
  'reason',
]

/** A client's time-out, in milliseconds, which no other timer has; {@link timingOut} lets it pass. */
export const clientTimeoutMs = 45_678

/** What a client does whose time is over as soon as its request is at the upstream, and not before. */
export async function timingOut(act: () => Promise<unknown>, asked: () => Promise<void>): Promise<unknown> {
  const { setTimeout } = globalThis
  const timeOuts: (() => void)[] = []
  const timed = (callback: () => void, ms?: number): NodeJS.Timeout => {
    if (ms === clientTimeoutMs) timeOuts.push(callback)
    return setTimeout(callback, ms)
  }
  const { mock: timing } = mock.method(globalThis, 'setTimeout', timed as typeof setTimeout)
  try {
    const acted = act()
    await Promise.race([acted, asked()])
    assert.equal(timeOuts.length, 1)
    for (const timeOut of timeOuts) timeOut()
    return await acted
  } finally {
    timing.restore()
  }
}

/** What a program can tell an error by. */
function wordsOf(error: Error): Readonly<Record<string, unknown>> {
  const fields = error as Error & Partial<Record<string, unknown>>
  const last = fields['lastError']
  return {
    class: error.constructor.name,
    ...Object.fromEntries(told.map((key) => [key, fields[key]])),
    ...(last instanceof Error ? { lastError: wordsOf(last) } : {}),
  }
}

/** What differs from call to call by itself is left out, and with it the `"usage":null` that was asked for. */
function plain(value: unknown): unknown {
  const text = JSON.stringify(value)
    .replaceAll(/(chatcmpl|cmpl|req)-\d+/g, '$1-0')
    .replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, 'http://origin')
    .replaceAll(/,"usage":null/g, '')
  return JSON.parse(text)
}

/** A stream of events; each is one write. */
export function streamReply(events: readonly string[]): ReplyStep[] {
  return bodyReply(events, { headers: [['Content-Type', 'text/event-stream']] })
}

/** A stream that begins with these events, and ends in this way. */
export function openStream(events: readonly string[], ...end: readonly ReplyStep[]): ReplyStep[] {
  const head = responseHead(200, [
    ['Content-Type', 'text/event-stream'],
    ['Transfer-Encoding', 'chunked'],
  ])
  return [write(head), ...events.map((event) => write(chunkFrame(event))), ...end]
}

/** One event of a chat stream. */
export function chatEvent(delta: unknown, finishReason: string | null = null): string {
  const choices = [{ index: 0, delta, finish_reason: finishReason }]
  return sseEvent({ id: 'chatcmpl-0', object: 'chat.completion.chunk', created: 1, model: 'm', choices })
}

const toolDelta = (args: string): unknown => ({ tool_calls: [{ index: 0, function: { arguments: args } }] })

/** A streamed call of the tool `level` with `{"at":"the weir"}`, its arguments in pieces. */
export const streamedToolCall: readonly string[] = [
  chatEvent({
    role: 'assistant',
    content: null,
    tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'level', arguments: '' } }],
  }),
  ...['{"at"', ':"the ', 'weir"}'].map((text) => chatEvent(toolDelta(text))),
  chatEvent({}, 'tool_calls'),
  sseEvent('[DONE]'),
]

/** A whole chat completion whose message is this one. */
export function chatCompletion(message: unknown, finishReason = 'stop'): unknown {
  return {
    id: 'chatcmpl-0',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, message, finish_reason: finishReason, logprobs: null }],
    usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
  }
}

/** The same call, whole. */
export const wholeToolCall: unknown = chatCompletion(
  {
    role: 'assistant',
    content: null,
    tool_calls: [
      { id: 'call_1', type: 'function', function: { name: 'level', arguments: '{"at":"the weir"}' } },
    ],
  },
  'tool_calls',
)

interface PlaceSchema {
  type: 'object'
  properties: { at: { type: 'string' } }
  required: string[]
  additionalProperties: boolean
}

/** What `level` takes, and also the shape of a structured answer. */
export const placeSchema: PlaceSchema = {
  type: 'object',
  properties: { at: { type: 'string' } },
  required: ['at'],
  additionalProperties: false,
}
