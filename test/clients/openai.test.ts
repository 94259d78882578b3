import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import OpenAI, { APIError, InternalServerError } from 'openai'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { rowOf } from '../support/recorded-calls.ts'
import { type ReplyStep, stall, wait, write } from '../support/reply-step.ts'
import { bodyReply, chunkFrame, jsonReply, responseHead, sseEvent } from '../support/response-bytes.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'

const upstream = await startSimulatedUpstream()
const gateway = await startGatewayProcess({ upstream: upstream.baseUrl })
after(async () => {
  await gateway[Symbol.asyncDispose]()
  await upstream.close()
})

const messages = [{ role: 'user' as const, content: 'What does a weir do?' }]
const tools = [
  {
    type: 'function' as const,
    function: { name: 'level', parameters: { type: 'object', properties: { at: { type: 'string' } } } },
  },
]

type Act = (client: OpenAI) => Promise<unknown>

function clientOf(baseURL: string, maxRetries = 0): OpenAI {
  return new OpenAI({ baseURL, apiKey: 'sk-test', maxRetries, timeout: 10_000 })
}

/** What an act gives, or the words of its error. */
async function outcomeOf(act: Act, client: OpenAI): Promise<unknown> {
  try {
    return plain({ result: await act(client) })
  } catch (error) {
    if (!(error instanceof Error)) throw error
    const { status, code, type, param } = error as Error & Partial<Record<string, unknown>>
    return plain({ class: error.constructor.name, message: error.message, status, code, type, param })
  }
}

/** What differs from call to call by itself is left out. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value).replaceAll(/(chatcmpl|cmpl|req)-\d+/g, '$1-0'))
}

/** Does the same at the upstream and through the gateway, and demands the same result or the same error. */
async function sameBothWays(act: Act, prepare: () => void = () => {}, maxRetries = 0): Promise<unknown> {
  prepare()
  const direct = await outcomeOf(act, clientOf(upstream.baseUrl, maxRetries))
  prepare()
  const through = await outcomeOf(act, clientOf(gateway.baseUrl, maxRetries))
  assert.deepEqual(through, direct)
  return through
}

test('chat, whole and streamed', async () => {
  const whole = await sameBothWays((client) => client.chat.completions.create({ model: 'm', messages }))
  assert.match(JSON.stringify(whole), /The weir holds the water back\./)
  for (const options of [{}, { stream_options: { include_usage: true } }]) {
    const chunks = await sameBothWays(async (client) =>
      Array.fromAsync(
        await client.chat.completions.create({ model: 'm', messages, stream: true, ...options }),
      ),
    )
    assert.equal(JSON.stringify(chunks).includes('"total_tokens":18'), 'stream_options' in options)
  }
  const final = await sameBothWays((client) =>
    client.chat.completions.stream({ model: 'm', messages }).finalChatCompletion(),
  )
  assert.match(JSON.stringify(final), /The weir holds the water back\./)
})

test('a stream of tool calls', async () => {
  const pieces = ['{"at"', ':"the ', 'weir"}']
  const delta = (toolCall: unknown, finish_reason: string | null = null): string =>
    sseEvent({
      id: 'chatcmpl-0',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'm',
      choices: [{ index: 0, delta: toolCall, finish_reason }],
    })
  const events = [
    delta({
      role: 'assistant',
      tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'level', arguments: '' } }],
    }),
    ...pieces.map((text) => delta({ tool_calls: [{ index: 0, function: { arguments: text } }] })),
    delta({}, 'tool_calls'),
    sseEvent('[DONE]'),
  ]
  const headers = [['Content-Type', 'text/event-stream']] as const
  const result = await sameBothWays(
    (client) => client.chat.completions.stream({ model: 'm', messages, tools }).finalChatCompletion(),
    () => upstream.replyOnce(bodyReply(events, { headers })),
  )
  assert.match(JSON.stringify(result), /\{\\"at\\":\\"the weir\\"\}/)
})

test('embeddings, models and legacy completions', async () => {
  const vectors = await sameBothWays((client) => client.embeddings.create({ model: 'm', input: ['a', 'b'] }))
  assert.match(JSON.stringify(vectors), /\[0\.25,-0\.5,0\.75\]/)
  await sameBothWays((client) =>
    client.embeddings.create({ model: 'm', input: 'a', encoding_format: 'float' }),
  )
  const list = await sameBothWays(async (client) => (await client.models.list()).data)
  assert.match(JSON.stringify(list), /sim-small/)
  for (const id of ['sim-small', 'org/name', 'a b%c']) {
    const model = await sameBothWays((client) => client.models.retrieve(id))
    assert.match(JSON.stringify(model), new RegExp(`"id":"${id}"`))
  }
  await sameBothWays((client) => client.completions.create({ model: 'm', prompt: 'a weir' }))
  await sameBothWays((client) => client.files.list())
})

test('the same error classes for the same answers', async () => {
  const classes = {
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
  const error = { message: 'It is so', type: 'some_error', param: 'model', code: 'some_code' }
  for (const [status, name] of Object.entries(classes)) {
    for (const stream of [false, true]) {
      const outcome = await sameBothWays(
        (client) => client.chat.completions.create({ model: 'm', messages, stream }),
        () => upstream.replyOnce(jsonReply(Number(status), { error }, [['x-request-id', 'r']])),
      )
      assert.deepEqual(outcome, {
        ...error,
        class: name,
        message: `${status} It is so`,
        status: Number(status),
      })
    }
  }
  const inside = await sameBothWays(
    async (client) =>
      Array.fromAsync(await client.chat.completions.create({ model: 'm', messages, stream: true })),
    () =>
      upstream.replyOnce(
        bodyReply([sseEvent({ error })], { headers: [['Content-Type', 'text/event-stream']] }),
      ),
  )
  assert.match(JSON.stringify(inside), /"APIError".*some_code/)
})

test('retries are the same: how many, and what they end in', async () => {
  const failure = (status: number): ReplyStep[] =>
    jsonReply(status, { error: { message: 'Not now' } }, [['retry-after-ms', '1']])
  const act: Act = (client) => client.chat.completions.create({ model: 'm', messages })
  for (const status of [408, 409, 429, 500, 503]) {
    const before = upstream.requests.length
    const outcome = await sameBothWays(act, () => upstream.replyOnce(failure(status), failure(status)), 2)
    assert.match(JSON.stringify(outcome), /The weir holds/)
    const retryCounts = upstream.requests
      .slice(before)
      .map((request) => request.header('x-stainless-retry-count'))
    assert.deepEqual(retryCounts, ['0', '1', '2', '0', '1', '2'])
  }
  const before = upstream.requests.length
  const never = jsonReply(429, { error: { message: 'No' } }, [['x-should-retry', 'false']])
  assert.match(JSON.stringify(await sameBothWays(act, () => upstream.replyOnce(never), 2)), /RateLimitError/)
  assert.equal(upstream.requests.length - before, 2)
})

test("the gateway's own errors are raised as the upstream's would be", async () => {
  await using alone = await startGatewayProcess({
    upstream: 'http://127.0.0.1:9',
    args: ['--max-body-mb', '1'],
  })
  const client = clientOf(alone.baseUrl)
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

test('an abort ends the stream at the client and at the upstream', async () => {
  const chunk = chunkFrame(sseEvent({ model: 'm', choices: [{ index: 0, delta: { content: 'a' } }] }))
  const head = responseHead(200, [
    ['Content-Type', 'text/event-stream'],
    ['Transfer-Encoding', 'chunked'],
  ])
  const act: Act = async (client) => {
    const stream = await client.chat.completions.create({ model: 'm', messages, stream: true })
    let seen = 0
    for await (const _ of stream) {
      seen++
      stream.controller.abort()
    }
    return seen
  }
  const outcome = await sameBothWays(act, () => upstream.replyOnce([write(head), write(chunk), stall()]))
  assert.deepEqual(outcome, { result: 1 })
  for (const request of upstream.requests.slice(-2)) assert.equal(await request.replyEnd, 'client-left')
})

test('a time-out of the client is the same, and leaves nothing running', async () => {
  const act: Act = (client) => client.chat.completions.create({ model: 'm', messages }, { timeout: 150 })
  const outcome = await sameBothWays(act, () => upstream.replyOnce([wait(60_000)]))
  assert.match(JSON.stringify(outcome), /"APIConnectionTimeoutError"/)
  for (const request of upstream.requests.slice(-2)) assert.equal(await request.replyEnd, 'client-left')
})

test('a stream that the upstream breaks off raises, and is not taken for a whole one', async () => {
  const chunk = chunkFrame(sseEvent({ model: 'm', choices: [{ index: 0, delta: { content: 'a' } }] }))
  const head = responseHead(200, [
    ['Content-Type', 'text/event-stream'],
    ['Transfer-Encoding', 'chunked'],
  ])
  for (const end of [{ do: 'cut' } as const, { do: 'reset' } as const]) {
    for (const baseUrl of [upstream.baseUrl, gateway.baseUrl]) {
      upstream.replyOnce([write(head), write(chunk), end])
      const stream = await clientOf(baseUrl).chat.completions.create({ model: 'm', messages, stream: true })
      await assert.rejects(Array.fromAsync(stream), `${baseUrl} ${end.do}`)
    }
  }
})

test('the call id reaches the one who asks for the raw answer', async () => {
  const { response } = await clientOf(gateway.baseUrl)
    .chat.completions.create({ model: 'm', messages })
    .withResponse()
  const row = await rowOf(gateway, { header: (name) => response.headers.get(name) ?? undefined })
  assert.deepEqual([row.outcome, row.client, row.client_retry], ['ok', 'OpenAI/JS', 0])
  assert.match(row.key_fingerprint ?? '', /^[0-9a-f]{8}$/)
})
