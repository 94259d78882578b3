import Anthropic from '@anthropic-ai/sdk'
import { type ReplyStep, cut, stall, until } from '../support/reply-step.ts'
import { jsonReply } from '../support/response-bytes.ts'
import {
  clientTimeoutMs,
  openStream,
  placeSchema,
  type Scenario,
  startStage,
  streamReply,
  timingOut,
  tryBothWays,
} from './both-ways.ts'

const stage = await startStage()

type Act = (client: Anthropic, seen: () => void, asked: () => Promise<void>) => Promise<unknown>

function scenario(name: string, act: Act, rest: Omit<Scenario, 'name' | 'act'>): Scenario {
  const settings = { apiKey: 'sk-ant-test', maxRetries: 0, timeout: 60_000 }
  return {
    name,
    act: (origin, seen, asked) => act(new Anthropic({ baseURL: origin, ...settings }), seen, asked),
    ...rest,
  }
}

const ask = {
  model: 'm',
  max_tokens: 100,
  messages: [{ role: 'user' as const, content: 'What does a weir do?' }],
}
const tools = [{ name: 'level', input_schema: { ...placeSchema } }]
const usage = {
  input_tokens: 3,
  cache_read_input_tokens: 2,
  cache_creation_input_tokens: 0,
  output_tokens: 5,
}
const toolUse = { type: 'tool_use', id: 'toolu_1', name: 'level', input: { at: 'the weir' } }

function message(content: unknown, stop_reason: string | null): unknown {
  return { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content, stop_reason, usage }
}

function event(type: string, fields: object = {}): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`
}

/** A stream of one block, begun as given, which grows by these deltas. */
function streamOf(content_block: unknown, deltas: readonly unknown[], stop_reason: string): string[] {
  return [
    event('message_start', { message: message([], null) }),
    event('content_block_start', { index: 0, content_block }),
    event('ping'),
    ...deltas.map((delta) => event('content_block_delta', { index: 0, delta })),
    event('content_block_stop', { index: 0 }),
    event('message_delta', { delta: { stop_reason }, usage: { output_tokens: 5 } }),
    event('message_stop'),
  ]
}

const words = streamOf(
  { type: 'text', text: '' },
  ['It holds ', 'water.'].map((text) => ({ type: 'text_delta', text })),
  'end_turn',
)
const calls = streamOf(
  { type: 'tool_use', id: 'toolu_1', name: 'level', input: {} },
  ['{"at"', ':"the ', 'weir"}'].map((partial_json) => ({ type: 'input_json_delta', partial_json })),
  'tool_use',
)
const whole = (): ReplyStep[] =>
  jsonReply(200, message([{ type: 'text', text: 'It holds water.' }], 'end_turn'))
const failure = (status: number): ReplyStep[] =>
  jsonReply(status, { type: 'error', error: { type: 'some_error', message: 'Not now' } }, [
    ['request-id', 'req_1'],
    ['retry-after-ms', '1'],
  ])

const chat: Act = (client) => client.messages.create(ask)
const streamed: Act = async (client) =>
  Array.fromAsync(await client.messages.create({ ...ask, stream: true }))

const classes: Readonly<Record<number, string>> = {
  400: 'BadRequestError',
  401: 'AuthenticationError',
  403: 'PermissionDeniedError',
  404: 'NotFoundError',
  409: 'ConflictError',
  422: 'UnprocessableEntityError',
  429: 'RateLimitError',
  500: 'InternalServerError',
  529: 'OverloadedError',
}

tryBothWays(stage, [
  scenario('chat', chat, { replies: () => [whole()], gives: /It holds water\..*"input_tokens":3/ }),
  scenario('a stream', streamed, { replies: () => [streamReply(words)], gives: /"text":"water\."/ }),
  scenario('a stream put together', (client) => client.messages.stream(ask).finalMessage(), {
    replies: () => [streamReply(words)],
    gives: /It holds water\..*"output_tokens":5/,
  }),
  scenario('a tool call', (client) => client.messages.create({ ...ask, tools }), {
    replies: () => [jsonReply(200, message([toolUse], 'tool_use'))],
    gives: /"input":\{"at":"the weir"\}/,
  }),
  scenario('a streamed tool call', (client) => client.messages.stream({ ...ask, tools }).finalMessage(), {
    replies: () => [streamReply(calls)],
    gives: /"input":\{"at":"the weir"\}/,
  }),
  scenario(
    'structured output',
    (client) =>
      client.messages.create({
        ...ask,
        output_config: { format: { type: 'json_schema', schema: { ...placeSchema } } },
      }),
    {
      replies: () => [jsonReply(200, message([{ type: 'text', text: '{"at":"the weir"}' }], 'end_turn'))],
      gives: /\{\\"at\\":\\"the weir\\"\}/,
    },
  ),
  scenario(
    'counted tokens',
    (client) => client.messages.countTokens({ model: 'm', messages: ask.messages }),
    { replies: () => [jsonReply(200, { input_tokens: 14 })], gives: /"input_tokens":14/ },
  ),
  scenario('models', async (client) => (await client.models.list()).data, { gives: /sim-small/ }),
  scenario('one model', (client) => client.models.retrieve('claude/x'), { gives: /claude\/x/ }),
  ...Object.entries(classes).flatMap(([status, name]) =>
    [chat, streamed].map((act) =>
      scenario(`${name} for ${status}, ${act === chat ? 'whole' : 'streamed'}`, act, {
        replies: () => [failure(Number(status))],
        gives: new RegExp(`"class":"${name}".*"status":${status}.*some_error`),
      }),
    ),
  ),
  ...[408, 409, 429, 500, 529].map((status) =>
    scenario(
      `two retries after ${status}`,
      (client, seen, asked) => chat(client.withOptions({ maxRetries: 2 }), seen, asked),
      { replies: () => [failure(status), failure(status), whole()], gives: /It holds water/, requests: 3 },
    ),
  ),
  scenario('an error inside a stream', streamed, {
    replies: () => [
      streamReply([
        ...words.slice(0, 3),
        event('error', { error: { type: 'overloaded_error', message: 'Overloaded' } }),
      ]),
    ],
    gives: /overloaded_error/,
  }),
  scenario(
    'a stream that the upstream breaks off',
    async (client, seen) => {
      for await (const _ of await client.messages.create({ ...ask, stream: true })) seen()
    },
    { replies: (seen) => [openStream(words.slice(0, 4), until(seen), cut())], gives: /terminated/ },
  ),
  scenario(
    'an abort in a stream',
    async (client) => {
      const stream = await client.messages.create({ ...ask, stream: true })
      let count = 0
      for await (const _ of stream) {
        count++
        stream.controller.abort()
      }
      return count
    },
    { replies: () => [openStream(words.slice(0, 1), stall())], gives: /"result":1/, leaves: true },
  ),
  scenario(
    'a time-out of the client',
    (client, _, asked) => timingOut(() => client.messages.create(ask, { timeout: clientTimeoutMs }), asked),
    { replies: () => [[stall()]], gives: /"APIConnectionTimeoutError"/, leaves: true },
  ),
])
