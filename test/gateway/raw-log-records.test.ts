import assert from 'node:assert/strict'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import OpenAI from 'openai'
import { streamReply, streamedToolCall } from '../clients/both-ways.ts'
import { type RequestParts, exchange, requestBytes } from '../support/exchange.ts'
import { openFeed } from '../support/feed-reader.ts'
import { startGatewayOfFile } from '../support/gateway-of-file.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { type JsonRecord, asRecord, parseRecord } from '../support/json-record.ts'
import { rawLogOf } from '../support/raw-log.ts'
import { openRawClient } from '../support/raw-client.ts'
import type { RawResponse } from '../support/raw-response.ts'
import { rowOf } from '../support/recorded-calls.ts'
import { type ReplyStep, cut, until, write } from '../support/reply-step.ts'
import { bodyReply, chunkFrame, jsonReply, responseHead, sseEvent } from '../support/response-bytes.ts'

const { upstream, gateway } = await startGatewayOfFile({
  args: ['--max-body-mb', '1', '--raw-log-max-body-kb', '64', '--retry-429-max', '1', '--raw-log'],
})
const log = rawLogOf(gateway)

const chat = '{"model":"m","messages":[]}'

function ask(parts: RequestParts, target = '/v1/chat/completions'): Promise<RawResponse> {
  return exchange(gateway.port, 'POST', target, parts)
}

function idOf(response: RawResponse): string {
  return response.header('x-tokenweir-call-id') ?? ''
}

test('a streamed tool call of the openai package is put together in file, recent and feed', async () => {
  using feed = await openFeed(gateway.port)
  upstream.replyOnce(streamReply(streamedToolCall))
  const client = new OpenAI({
    baseURL: gateway.baseUrl,
    apiKey: 'sk-proj-planted0123456789abcdef',
    maxRetries: 0,
  })
  const { data, response } = await client.chat.completions
    .create({ model: 'm', messages: [{ role: 'user', content: 'How high is it?' }], stream: true })
    .withResponse()
  await Array.fromAsync(data)
  const id = response.headers.get('x-tokenweir-call-id') ?? ''
  const { request, answer } = await log.recordsOf(id)

  const { seq, timestamp, headers, body, duration_ms, chunks, body_bytes, ...rest } = answer
  assert.ok(Number.isSafeInteger(seq) && Number(seq) > Number(request['seq']))
  assert.match(String(timestamp), /^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
  assert.ok(Number(duration_ms) > 0 && Number(body_bytes) > 400)
  assert.equal(asRecord(headers)['x-tokenweir-call-id'], id)
  assert.match(String(body), /^data: \{.*\n\n$/s)
  assert.ok(Array.isArray(chunks) && chunks.length >= 1)
  assert.deepEqual(rest, {
    id,
    direction: 'outgoing',
    method: 'POST',
    path: '/v1/chat/completions',
    status: 200,
    truncated: false,
    model: 'm',
    stream: true,
    outcome: 'ok',
    failure_code: null,
    text: null,
    reasoning: null,
    tool_calls: [{ id: 'call_1', name: 'level', arguments: '{"at":"the weir"}' }],
  })
  const { messages } = asRecord(request['body'])
  assert.deepEqual(messages, [{ role: 'user', content: 'How high is it?' }])
  const { authorization } = asRecord(request['headers'])
  assert.match(String(authorization), /^Bearer hmac:[0-9a-f]{8}\(\d+\)$/)

  const lines = (await log.lines()).map(parseRecord)
  assert.deepEqual(lines.slice(-2), [request, answer])
  await feed.waitForRecords(2)
  assert.deepEqual(feed.records, [request, answer])
  const [connected, started] = feed.events
  assert.deepEqual(connected?.data, { type: 'connected', enabled: true })
  assert.deepEqual(
    { ...started?.data, timestamp: '' },
    { type: 'started', id, timestamp: '', method: 'POST', path: '/v1/chat/completions' },
  )
})

test('logged or not, watched or not, the client gets the same bytes', async () => {
  const headers = [['Content-Type', 'text/event-stream']] as const
  const replies = (): readonly (readonly ReplyStep[])[] => [
    jsonReply(200, { choices: [{ message: { content: 'x'.repeat(200_000) } }] }),
    streamReply(streamedToolCall),
    bodyReply([gzipSync('a weir')], { headers: [['Content-Encoding', 'gzip']], framing: 'content-length' }),
    bodyReply(['data: a\n\n', Buffer.from([0, 255, 254]), 'data: b'], { headers }),
    jsonReply(500, { error: { message: 'out of memory' } }),
  ]
  const seen = async (): Promise<string[]> => {
    const all: string[] = []
    for (const reply of replies()) {
      upstream.replyOnce(reply)
      const { status, rawHeaders, body, complete } = await ask({ body: chat })
      const told = rawHeaders.map((text) => (/^[0-9a-z]{11}$|^queue;dur=/.test(text) ? '' : text))
      all.push(JSON.stringify([status, told, body.toString('latin1'), complete]))
    }
    return all
  }
  const logged = await seen()
  const watched = await openFeed(gateway.port)
  assert.deepEqual(await seen(), logged)
  await log.toggle(false)
  assert.deepEqual(await seen(), logged)
  watched[Symbol.dispose]()
  assert.deepEqual(await seen(), logged)
  await log.toggle(true)
})

/** How a call went, by both of its records. */
interface Went {
  readonly request: JsonRecord
  readonly answer: JsonRecord
}

async function went(response: RawResponse): Promise<Went> {
  const { request, answer } = await log.recordsOf(idOf(response))
  const row = await rowOf(gateway, response)
  assert.deepEqual([answer['outcome'], answer['failure_code']], [row.outcome, row.failure_code])
  assert.deepEqual([request['path'], request['method']], [answer['path'], answer['method']])
  return { request, answer }
}

test('every outcome has its two records: what the client got, whoever said it', async (t) => {
  await t.test('an answer', async () => {
    upstream.replyOnce(jsonReply(200, { model: 'm', n: 1e3 }))
    const { request, answer } = await went(await ask({ body: chat }))
    assert.deepEqual(
      [request['body'], request['body_bytes'], request['model']],
      [JSON.parse(chat), chat.length, 'm'],
    )
    assert.deepEqual([answer['status'], answer['body']], [200, { model: 'm', n: 1000 }])
  })

  await t.test('the gateway refuses', async () => {
    const response = await ask({
      body: chat,
      headers: [['Host', 'another']],
    })
    const { answer } = await went(response)
    assert.deepEqual([answer['status'], answer['outcome']], [400, 'refused'])
    assert.equal(asRecord(asRecord(answer['body'])['error'])['code'], 'invalid_request')
  })

  await t.test('the body is too large', async () => {
    const { request, answer } = await went(await ask({ body: Buffer.alloc(1_000_001, 'a') }))
    assert.deepEqual([answer['status'], answer['failure_code']], [413, 'body_too_large'])
    assert.deepEqual([request['body'], request['body_bytes']], [null, 0])

    await using client = await openRawClient(gateway.port)
    const head = 'POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n'
    await client.send(head)
    await client.send(chunkFrame(Buffer.alloc(1_000_001, 'a')))
    const chunked = await went(await client.response('POST'))
    assert.equal(chunked.answer['status'], 413)
    assert.equal(chunked.request['truncated'], true)
    assert.ok(Number(chunked.request['body_bytes']) > 64 * 1024)
  })

  await t.test('the upstream errs', async () => {
    upstream.replyOnce(jsonReply(500, { error: { message: 'out of memory' } }))
    const { answer } = await went(await ask({ body: chat }))
    assert.deepEqual([answer['status'], answer['body']], [500, { error: { message: 'out of memory' } }])
  })

  await t.test('the upstream is not there', async () => {
    upstream.replyOnce([cut()])
    const { answer } = await went(await ask({ body: chat }))
    assert.deepEqual([answer['status'], answer['failure_code']], [502, 'upstream_unreachable'])
  })

  await t.test('the upstream breaks off', async () => {
    const head = responseHead(200, [['Content-Length', '10']])
    upstream.replyOnce([write(head), write('half'), cut()])
    const { answer } = await went(await ask({ body: chat }))
    assert.deepEqual([answer['outcome'], answer['body'], answer['body_bytes']], ['upstream_cut', 'half', 4])
  })

  await t.test('a 429, tried again: what the client got', async () => {
    upstream.replyOnce(jsonReply(429, { turn: 1 }, [['retry-after-ms', '1']]), jsonReply(200, { turn: 2 }))
    const { answer } = await went(await ask({ body: chat }))
    assert.deepEqual([answer['status'], answer['body']], [200, { turn: 2 }])
    upstream.replyOnce(jsonReply(429, { turn: 1 }, [['retry-after-ms', '1']]), jsonReply(429, { turn: 2 }))
    const last = await went(await ask({ body: chat }))
    assert.deepEqual([last.answer['status'], last.answer['body']], [429, { turn: 2 }])
  })

  await t.test('a stream without the usage that the gateway asked for', async () => {
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
    const events = [
      sseEvent({ choices: [{ index: 0, delta: { content: 'a' } }] }),
      sseEvent({ choices: [], usage }),
    ]
    upstream.replyOnce(streamReply([...events, sseEvent('[DONE]')]))
    const response = await ask({ body: '{"model":"m","stream":true,"messages":[]}' })
    const { request, answer } = await went(response)
    assert.equal(asRecord(request['body'])['stream_options'], undefined)
    assert.equal(answer['body'], response.body.toString())
    assert.deepEqual([answer['text'], answer['tool_calls']], ['a', []])
    assert.doesNotMatch(response.body.toString(), /usage/)
  })

  await t.test('the client leaves, before and in the answer', async () => {
    for (const [steps, status, body] of [
      [[], null, null],
      [[write(responseHead(200, [['Content-Length', '10']])), write('half')], 200, 'half'],
    ] as const) {
      const left = Promise.withResolvers<void>()
      upstream.replyOnce([...steps, until(left.promise)])
      const before = new Set((await log.recent()).map((record) => record['id']))
      const client = await openRawClient(gateway.port)
      await client.send(requestBytes('POST', '/v1/chat/completions', { body: chat }))
      if (steps.length > 0) await client.waitForBytes('half')
      else await upstream.waitForInFlight(1)
      client.leave()
      let answer: JsonRecord | undefined
      while (answer === undefined) {
        answer = (await log.recent()).find(
          (each) => each['direction'] === 'outgoing' && !before.has(each['id']),
        )
      }
      left.resolve()
      assert.deepEqual(
        [answer['outcome'], answer['status'], answer['body']],
        ['client_disconnected', status, body],
      )
      await client[Symbol.asyncDispose]()
    }
  })
})

test('requests without a body, bodies that are passed on as they come, and binary ones', async () => {
  const models = await went(await exchange(gateway.port, 'GET', '/v1/models?limit=2'))
  assert.deepEqual(
    [models.request['path'], models.request['body'], models.request['body_bytes'], models.answer['status']],
    ['/v1/models?limit=2', null, 0, 200],
  )
  const head = await went(await exchange(gateway.port, 'HEAD', '/v1/models'))
  assert.deepEqual([head.answer['method'], head.answer['body']], ['HEAD', null])

  const sound = Buffer.from([0x52, 0x49, 0x46, 0x46, 0xff, 0xfe, 0x00, 0x81])
  upstream.replyOnce(bodyReply([sound], { headers: [['Content-Type', 'audio/wav']] }))
  const { request, answer } = await went(
    await ask({ body: sound, headers: [['Content-Type', 'audio/wav']] }, '/v1/audio/transcriptions'),
  )
  for (const record of [request, answer]) {
    assert.deepEqual(
      [record['body'], record['body_encoding'], record['body_bytes'], record['truncated']],
      [sound.toString('base64'), 'base64', sound.length, false],
    )
  }
  const large = 'word '.repeat(30_000)
  upstream.replyOnce(jsonReply(200, {}))
  const text = await went(await ask({ body: large, headers: [['Content-Type', 'text/plain']] }, '/v1/files'))
  assert.deepEqual([text.request['truncated'], text.request['body_bytes']], [true, large.length])
  const kept = String(text.request['body'])
  assert.ok(large.startsWith(kept) && kept.length > 60_000 && kept.length <= 64 * 1024)
})

test('a client that asks for it is neither kept nor shown', async () => {
  using feed = await openFeed(gateway.port)
  const quiet = await ask({ body: chat, headers: [['X-Tokenweir-Capture', 'off']] })
  const { answer } = await went(await ask({ body: chat }))
  await feed.waitForRecords(2)
  assert.deepEqual(
    feed.events.map(({ data }) => data['id'] ?? data['type']),
    ['connected', answer['id'], answer['id'], answer['id']],
  )
  assert.ok(!(await log.lines()).some((line) => line.includes(idOf(quiet))))
  assert.equal(upstream.requests.at(-2)?.header('x-tokenweir-capture'), undefined)
})

test('a toggle for a time switches itself off, and the report tells how it is', async () => {
  const switched = await log.ask('POST', 'toggle', { enabled: true, for_s: 0.3 })
  const { enabled_until } = parseRecord(switched.body.toString())
  assert.match(String(enabled_until), /^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
  while ((await log.status())['enabled'] === true);
  const until = new Date(String(enabled_until)).getTime()
  assert.ok(Date.now() >= until - 5)
  const { file_size_bytes } = await log.status()
  assert.deepEqual(asRecord((await gateway.health())['raw_log']), { enabled: false, file_size_bytes })
  await log.toggle(true, 60)
  await log.toggle(true)
  assert.equal((await log.status())['enabled_until'], null)
  assert.equal(asRecord((await gateway.health())['raw_log'])['enabled'], true)
})

test('clear empties it, and it goes on', async () => {
  assert.ok((await log.recent()).length > 10)
  const path = String((await log.status())['file_path'])
  assert.equal(path, join(gateway.directory, 'logger/payloads.jsonl'))
  assert.equal((await stat(path)).mode & 0o777, 0o600)
  await log.clear()
  assert.deepEqual(await log.recent(), [])
  const status = await log.status()
  assert.deepEqual([status['enabled'], status['file_size_bytes']], [true, 0])
  const { request, answer } = await went(await ask({ body: chat }))
  assert.deepEqual(await log.recent(), [answer, request])
  assert.deepEqual(await log.recent(1), [answer])
})

test('a log that cannot be written switches itself off and says so; calls and the feed go on', async () => {
  await using broken = await startGatewayProcess({
    upstream: upstream.origin,
    args: ['--raw-log', '--raw-log-file', '/dev/null/payloads.jsonl'],
  })
  const its = rawLogOf(broken)
  using feed = await openFeed(broken.port)
  assert.equal((await exchange(broken.port, 'POST', '/v1/chat/completions', { body: chat })).status, 200)
  await feed.waitForRecords(2)
  let status = await its.status()
  while (status['enabled'] === true) status = await its.status()
  assert.match(String(status['trouble']), /payloads\.jsonl|not a directory|ENOTDIR/i)
  const health = await broken.health()
  assert.deepEqual([health['status'], asRecord(health['raw_log'])['enabled']], ['degraded', false])
  assert.match(JSON.stringify(health['warnings']), /"code":"raw_log_off"/)
  assert.equal((await exchange(broken.port, 'POST', '/v1/chat/completions', { body: chat })).status, 200)
  await feed.waitForRecords(4)
})
