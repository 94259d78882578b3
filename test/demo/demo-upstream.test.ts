import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, test } from 'node:test'
import OpenAI, { BadRequestError, InternalServerError, NotFoundError, RateLimitError } from 'openai'
import { startDemoUpstream } from '../../src/demo/demo-upstream.ts'
import type { SimulatedFault } from '../../src/demo/simulated-fault.ts'
import { fastClock } from '../support/fast-clock.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { asRecord } from '../support/json-record.ts'
import { seededRandom } from '../support/seeded-random.ts'

const clock = fastClock(200)
const upstream = await startDemoUpstream({ clock, random: seededRandom(1) })
after(() => upstream.close())
const client = clientOf(upstream.baseUrl)

const messages = [{ role: 'user' as const, content: 'What does a weir do?' }]
const notice = /^This answer is simulated; no model wrote it\. /

function clientOf(baseURL: string, headers: Record<string, string> = {}): OpenAI {
  return new OpenAI({ baseURL, apiKey: 'sk-test', maxRetries: 0, timeout: 60_000, defaultHeaders: headers })
}

test('the models, as a list and one by one', async () => {
  const ids = (await Array.fromAsync(client.models.list())).map(({ id }) => id)
  assert.deepEqual(ids, ['simulated-small', 'simulated-large', 'simulated-reasoner', 'simulated-embedder'])
  for (const id of ids) assert.equal((await client.models.retrieve(id)).id, id)
})

test('a chat, whole: it says that it is simulated, in the text and in a header', async () => {
  const { data, response } = await client.chat.completions
    .create({ model: 'simulated-small', messages })
    .withResponse()
  assert.match(data.choices[0]?.message.content ?? '', notice)
  assert.equal(data.choices[0]?.finish_reason, 'stop')
  assert.ok((data.usage?.completion_tokens ?? 0) > 20)
  assert.equal(response.headers.get('x-simulated'), 'true')
})

test('a chat, streamed: role, content, finish, and usage for those who ask', async () => {
  for (const include_usage of [true, false]) {
    const chunks = await Array.fromAsync(
      await client.chat.completions.create({
        model: 'simulated-large',
        messages,
        stream: true,
        stream_options: { include_usage },
      }),
    )
    assert.equal(chunks[0]?.choices[0]?.delta.role, 'assistant')
    const text = chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')
    assert.match(text, notice)
    const finish = chunks.findIndex((chunk) => chunk.choices[0]?.finish_reason === 'stop')
    assert.equal(finish, chunks.length - (include_usage ? 2 : 1))
    const usage = chunks.at(-1)?.usage
    if (include_usage) assert.equal(usage?.completion_tokens, text.match(/\S+/g)?.length)
    else assert.equal(usage, undefined)
  }
})

test('a model that thinks first, and counts its thoughts', async () => {
  const request = { model: 'simulated-reasoner', messages }
  const { choices, usage } = await client.chat.completions.create(request)
  assert.match(choices[0]?.message.content ?? '', notice)
  assert.match(String(asRecord(choices[0]?.message)['reasoning_content']), /^Simulated reasoning: /)
  const reasoning = usage?.completion_tokens_details?.reasoning_tokens ?? 0
  assert.ok(reasoning > 0 && reasoning < (usage?.completion_tokens ?? 0))

  const deltas = (
    await Array.fromAsync(await client.chat.completions.create({ ...request, stream: true }))
  ).map((chunk) => asRecord(chunk.choices[0]?.delta))
  const lastThought = deltas.findLastIndex((delta) => 'reasoning_content' in delta)
  const firstWord = deltas.findIndex((delta) => Boolean(delta['content']))
  assert.ok(lastThought > 0 && lastThought < firstWord)
})

test('a loop of tool calls, whole and streamed, ends in an answer', async () => {
  const parameters = { type: 'object', properties: { station: { type: 'string' } } }
  const tools = [{ type: 'function' as const, function: { name: 'read_gauge', parameters } }]
  const request = { model: 'simulated-small', messages, tools }
  const whole = (await client.chat.completions.create(request)).choices[0]
  const streamed = (await client.chat.completions.stream(request).finalChatCompletion()).choices[0]
  for (const choice of [whole, streamed]) {
    assert.equal(choice?.finish_reason, 'tool_calls')
    const [call] = choice.message.tool_calls ?? []
    assert.ok(call?.type === 'function')
    assert.equal(call.function.name, 'read_gauge')
    assert.deepEqual(JSON.parse(call.function.arguments), { station: 'simulated' })
    const result = { role: 'tool' as const, tool_call_id: call.id, content: '42 cm' }
    const answer = await client.chat.completions.create({
      ...request,
      messages: [...messages, choice.message, result],
    })
    assert.match(answer.choices[0]?.message.content ?? '', notice)
  }
})

test('legacy completions, whole and streamed, as long as they may be', async () => {
  const request = { model: 'simulated-small', prompt: 'The weir', max_tokens: 4 }
  const whole = await client.completions.create(request)
  const chunks = await Array.fromAsync(await client.completions.create({ ...request, stream: true }))
  assert.equal(whole.choices[0]?.text, 'This answer is simulated; ')
  assert.equal(chunks.map((chunk) => chunk.choices[0]?.text ?? '').join(''), whole.choices[0].text)
  assert.equal(chunks.at(-1)?.choices[0]?.finish_reason, 'length')
})

test('embeddings', async () => {
  const { data, usage } = await client.embeddings.create({
    model: 'simulated-embedder',
    input: ['mill', 'pond'],
  })
  assert.equal(data.map(({ embedding }) => embedding.length).join(' '), '64 64')
  assert.ok(usage.prompt_tokens > 0)
})

test('what cannot be answered is refused in the shape that clients know', async () => {
  const chat = (model: string, more: object = {}): Promise<unknown> =>
    client.chat.completions.create({ model, messages, ...more })
  await assert.rejects(chat('gpt-4o'), (error) => {
    assert.ok(error instanceof NotFoundError)
    assert.equal(error.code, 'model_not_found')
    assert.match(error.message, /simulated-small/)
    return true
  })
  await assert.rejects(chat('simulated-embedder'), BadRequestError)
  await assert.rejects(chat('simulated-small', { messages: [] }), BadRequestError)
  await assert.rejects(client.responses.create({ model: 'simulated-small', input: 'hello' }), NotFoundError)

  for (const body of ['{"model":', '[]', '']) {
    const response = await fetch(`${upstream.baseUrl}/chat/completions`, { method: 'POST', body })
    assert.equal(response.status, 400)
    assert.equal(response.headers.get('x-simulated'), 'true')
    const { error } = asRecord(await response.json())
    assert.equal(asRecord(error)['type'], 'invalid_request_error')
  }
  const large = Buffer.alloc(32_000_001, ' ')
  const tooLarge = await fetch(`${upstream.baseUrl}/embeddings`, { method: 'POST', body: large })
  assert.equal(tooLarge.status, 413)
  assert.equal((await fetch(`${upstream.baseUrl}/embeddings`)).status, 405)
  assert.equal((await fetch(`${upstream.baseUrl}/models/none`)).status, 404)
})

test("faults befall the demo's own traffic, and nobody else", async () => {
  const shares = { rate_limited: 0, server_error: 0, broken: 0, stalled: 0 }
  const cases: [fault: SimulatedFault, error: abstract new (...args: never[]) => Error][] = [
    ['rate_limited', RateLimitError],
    ['server_error', InternalServerError],
    ['broken', TypeError],
  ]
  for (const [fault, error] of cases) {
    await using faulty = await startDemoUpstream({ clock, faults: { ...shares, [fault]: 1 } })
    const marked = clientOf(faulty.baseUrl, { 'x-simulated': 'true' })
    const request = { model: 'simulated-small', messages }
    await assert.rejects(marked.chat.completions.create(request), error)
    await assert.rejects(marked.embeddings.create({ model: 'simulated-embedder', input: 'mill' }), error)
    await clientOf(faulty.baseUrl).chat.completions.create(request)
  }
})

test('a stream that breaks was a stream before', async () => {
  const faults = { rate_limited: 0, server_error: 0, broken: 1, stalled: 0 }
  await using faulty = await startDemoUpstream({ clock, faults, random: seededRandom(1) })
  const marked = clientOf(faulty.baseUrl, { 'x-simulated': 'true' })
  let chunks = 0
  await assert.rejects(async () => {
    for await (const _ of await marked.chat.completions.create({
      model: 'simulated-small',
      messages,
      stream: true,
    })) {
      chunks += 1
    }
  })
  assert.ok(chunks > 5)
})

test('a client that leaves ends its answer at once, and so does the end of the upstream', async () => {
  const clock = new FakeClock()
  const upstream = await startDemoUpstream({ clock })
  const body = JSON.stringify({ model: 'simulated-small', messages, stream: true })
  const ask = async (): Promise<import('node:net').Socket> => {
    const socket = connect(Number(new URL(upstream.baseUrl).port), '127.0.0.1')
    socket.on('error', () => {})
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    )
    const before = clock.pending()
    await until(() => clock.pending() > before)
    return socket
  }
  const [first, second] = [await ask(), await ask()]
  assert.equal(clock.pending(), 2)
  first.destroy()
  await until(() => clock.pending() === 1)
  const closed = once(second, 'close')
  await upstream.close()
  await closed
  assert.equal(clock.pending(), 0)
  await upstream.close()
})

async function until(holds: () => boolean): Promise<void> {
  const deadline = performance.now() + 20_000
  while (!holds()) {
    assert.ok(performance.now() < deadline, 'waited in vain')
    await new Promise((resolve) => {
      setImmediate(resolve)
    })
  }
}
