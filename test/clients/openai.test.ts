import assert from 'node:assert/strict'
import { test } from 'node:test'
import OpenAI, { APIError, InternalServerError } from 'openai'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { rowOf } from '../support/recorded-calls.ts'
import { type ReplyStep, cut, reset, stall, until } from '../support/reply-step.ts'
import { jsonReply, sseEvent } from '../support/response-bytes.ts'
import {
  chatCompletion,
  chatEvent,
  clientTimeoutMs,
  openStream,
  placeSchema,
  type Scenario,
  startStage,
  streamedToolCall,
  streamReply,
  timingOut,
  tryBothWays,
  wholeToolCall,
} from './both-ways.ts'

const stage = await startStage()

const messages = [{ role: 'user' as const, content: 'What does a weir do?' }]
const tools = [{ type: 'function' as const, function: { name: 'level', parameters: { ...placeSchema } } }]
const format = {
  type: 'json_schema' as const,
  json_schema: { name: 'place', schema: { ...placeSchema }, strict: true },
}

function clientOf(origin: string, maxRetries = 0): OpenAI {
  return new OpenAI({ baseURL: `${origin}/v1`, apiKey: 'sk-test', maxRetries, timeout: 60_000 })
}

type Act = (client: OpenAI, seen: () => void, asked: () => Promise<void>) => Promise<unknown>

function scenario(name: string, act: Act, rest: Omit<Scenario, 'name' | 'act'>): Scenario {
  return { name, act: (origin, seen, asked) => act(clientOf(origin), seen, asked), ...rest }
}

const chat: Act = (client) => client.chat.completions.create({ model: 'm', messages })
const streamed: Act = async (client) =>
  Array.fromAsync(await client.chat.completions.create({ model: 'm', messages, stream: true }))

tryBothWays(stage, [
  scenario('chat', chat, { gives: /The weir holds the water back\./ }),
  scenario('a stream', streamed, { gives: /"content":"weir "(?!.*total_tokens)/ }),
  scenario(
    'a stream with usage',
    async (client) => {
      const stream_options = { include_usage: true }
      const stream = await client.chat.completions.create({
        model: 'm',
        messages,
        stream: true,
        stream_options,
      })
      return Array.fromAsync(stream)
    },
    { gives: /"choices":\[\],"usage":.*"total_tokens":18/ },
  ),
  scenario(
    'a stream put together',
    (client) => client.chat.completions.stream({ model: 'm', messages }).finalChatCompletion(),
    { gives: /The weir holds the water back\./ },
  ),
  scenario(
    'a legacy completion, streamed',
    async (client) =>
      Array.fromAsync(await client.completions.create({ model: 'm', prompt: 'a weir', stream: true })),
    { gives: /"text":"weir "(?!.*total_tokens)/ },
  ),
  scenario('a tool call', (client) => client.chat.completions.create({ model: 'm', messages, tools }), {
    replies: () => [jsonReply(200, wholeToolCall)],
    gives: /\{\\"at\\":\\"the weir\\"\}/,
  }),
  scenario(
    'a streamed tool call',
    (client) => client.chat.completions.stream({ model: 'm', messages, tools }).finalChatCompletion(),
    { replies: () => [streamReply(streamedToolCall)], gives: /\{\\"at\\":\\"the weir\\"\}/ },
  ),
  scenario(
    'a tool that is run, and its result sent back',
    (client) =>
      client.chat.completions
        .runTools({
          model: 'm',
          messages,
          tools: [
            {
              type: 'function',
              function: {
                name: 'level',
                description: 'how high the water is',
                parameters: placeSchema,
                function: (input: string) => `high: ${input}`,
              },
            },
          ],
        })
        .finalContent(),
    { replies: () => [jsonReply(200, wholeToolCall)], gives: /The weir holds/, requests: 2 },
  ),
  scenario(
    'structured output',
    (client) => client.chat.completions.parse({ model: 'm', messages, response_format: format }),
    {
      replies: () => [
        jsonReply(200, chatCompletion({ role: 'assistant', content: '{"at":"the weir"}', refusal: null })),
      ],
      gives: /\{\\"at\\":\\"the weir\\"\}/,
    },
  ),
  scenario('embeddings', (client) => client.embeddings.create({ model: 'm', input: ['a', 'b'] }), {
    gives: /\[0\.25,-0\.5,0\.75\]/,
  }),
  scenario(
    'embeddings as numbers',
    (client) => client.embeddings.create({ model: 'm', input: 'a', encoding_format: 'float' }),
    { gives: /\[0\.25,-0\.5,0\.75\]/ },
  ),
  scenario('models', async (client) => (await client.models.list()).data, { gives: /sim-small/ }),
  ...['sim-small', 'org/name', 'a b%c'].map((id) =>
    scenario(`the model ${id}`, (client) => client.models.retrieve(id), {
      gives: new RegExp(`"id":"${id}"`),
    }),
  ),
  scenario('a path that nobody knows', (client) => client.files.list(), { gives: /"NotFoundError"/ }),
])

const error = { message: 'It is so', type: 'some_error', param: 'model', code: 'some_code' }
const classes: Readonly<Record<number, string>> = {
  400: 'BadRequestError',
  401: 'AuthenticationError',
  403: 'PermissionDeniedError',
  404: 'NotFoundError',
  409: 'ConflictError',
  422: 'UnprocessableEntityError',
  429: 'RateLimitError',
  500: 'InternalServerError',
  503: 'InternalServerError',
}

tryBothWays(
  stage,
  Object.entries(classes).flatMap(([status, name]) =>
    [chat, streamed].map((act) =>
      scenario(`${name} for ${status}, ${act === chat ? 'whole' : 'streamed'}`, act, {
        replies: () => [jsonReply(Number(status), { error }, [['x-request-id', 'r']])],
        gives: new RegExp(`"class":"${name}".*"status":${status},"code":"some_code"`),
      }),
    ),
  ),
)

const notNow = (status: number): ReplyStep[] =>
  jsonReply(status, { error: { message: 'Not now' } }, [['retry-after-ms', '1']])
const retrying: Act = (client, seen, asked) => chat(client.withOptions({ maxRetries: 2 }), seen, asked)
const oneByOne: Act = async (client, seen) => {
  for await (const _ of await client.chat.completions.create({ model: 'm', messages, stream: true })) seen()
}

tryBothWays(stage, [
  ...[408, 409, 429, 500, 503].map((status) =>
    scenario(`two retries after ${status}`, retrying, {
      replies: () => [notNow(status), notNow(status)],
      gives: /The weir holds/,
      requests: 3,
    }),
  ),
  scenario('no retry where the upstream says so', retrying, {
    replies: () => [jsonReply(429, { error: { message: 'No' } }, [['x-should-retry', 'false']])],
    gives: /"RateLimitError"/,
  }),
  scenario('an error inside a stream', streamed, {
    replies: () => [streamReply([chatEvent({ content: 'a' }), sseEvent({ error })])],
    gives: /"class":"APIError".*some_code/,
  }),
  ...[cut(), reset()].map((end) =>
    scenario(`a stream that the upstream breaks off: ${end.do}`, oneByOne, {
      replies: (seen) => [openStream([chatEvent({ content: 'a' })], until(seen), end)],
      gives: /"class":"TypeError".*terminated/,
    }),
  ),
  scenario(
    'an abort in a stream',
    async (client) => {
      const stream = await client.chat.completions.create({ model: 'm', messages, stream: true })
      let count = 0
      for await (const _ of stream) {
        count++
        stream.controller.abort()
      }
      return count
    },
    {
      replies: () => [openStream([chatEvent({ content: 'a' })], stall())],
      gives: /"result":1/,
      leaves: true,
    },
  ),
  scenario(
    'a time-out of the client',
    (client, _, asked) =>
      timingOut(
        () => client.chat.completions.create({ model: 'm', messages }, { timeout: clientTimeoutMs }),
        asked,
      ),
    { replies: () => [[stall()]], gives: /"APIConnectionTimeoutError"/, leaves: true },
  ),
])

test("the gateway's own errors are raised as the upstream's would be", async () => {
  await using alone = await startGatewayProcess({
    upstream: 'http://127.0.0.1:9',
    args: ['--max-body-mb', '1'],
  })
  const client = clientOf(alone.origin)
  await assert.rejects(client.chat.completions.create({ model: 'm', messages }), (error) => {
    assert.ok(error instanceof InternalServerError)
    assert.deepEqual([error.status, error.code, error.type], [502, 'upstream_unreachable', 'upstream_error'])
    return true
  })
  const long = [{ role: 'user' as const, content: 'x'.repeat(1_000_000) }]
  await assert.rejects(client.chat.completions.create({ model: 'm', messages: long }), (error) => {
    assert.ok(error instanceof APIError)
    assert.deepEqual([error.status, error.code], [413, 'body_too_large'])
    return true
  })
})

test('the call id reaches the one who asks for the raw answer', async () => {
  const { response } = await clientOf(stage.gateway.origin)
    .chat.completions.create({ model: 'm', messages })
    .withResponse()
  const row = await rowOf(stage.gateway, { header: (name) => response.headers.get(name) ?? undefined })
  assert.deepEqual([row.outcome, row.client, row.client_retry], ['ok', 'OpenAI/JS', 0])
  assert.match(row.key_fingerprint ?? '', /^[0-9a-f]{8}$/)
})
