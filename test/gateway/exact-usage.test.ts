import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { exchange, requestBytes } from '../support/exchange.ts'
import { fieldsOf } from '../support/fields-of.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { openRawClient } from '../support/raw-client.ts'
import type { RawResponse } from '../support/raw-response.ts'
import { rowOf } from '../support/recorded-calls.ts'
import { cut, type ReplyStep, reset, stall, write } from '../support/reply-step.ts'
import {
  bodyReply,
  chunkFrame,
  type HeaderLines,
  jsonReply,
  responseHead,
  splitBytes,
  sseEvent,
} from '../support/response-bytes.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { type OwnUpstream, shareGateway } from '../support/shared-gateway.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'

const plain = '{"model":"m", "stream":true ,"messages":[]}'
const asking = '{"stream_options":{"include_usage":true},"model":"m", "stream":true ,"messages":[]}'
const sse: HeaderLines = [['Content-Type', 'text/event-stream; charset=utf-8']]

const chunk = { id: 'c-1', object: 'chat.completion.chunk', created: 1, model: 'm' }
const counts = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }
const word = {
  ...chunk,
  choices: [{ index: 0, delta: { content: 'wéir' }, finish_reason: null }],
  usage: null,
}
const finish = { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }
const usage = { ...chunk, choices: [], usage: counts }

/** An answer's events as text, and what is left of it without the one that was asked for. */
function streamText(newline: string): { readonly sent: string; readonly seen: string } {
  const before = `: ping${newline}${newline}${sseEvent(word, newline)}${sseEvent(finish, newline)}`
  const after = `: about to end${newline}${newline}${sseEvent('[DONE]', newline)}`
  return { sent: before + sseEvent(usage, newline) + after, seen: before + after }
}

const shared = await shareGateway()

function chat(
  upstream: OwnUpstream,
  body: string | Uint8Array = plain,
  path = '/v1/chat/completions',
  headers: HeaderLines = [],
): Promise<RawResponse> {
  const contentType = ['Content-Type', 'application/json'] as const
  return exchange(shared.gateway.port, 'POST', upstream.prefix + path, {
    headers: [contentType, ...headers],
    body,
  })
}

function reply(text: string, headers: HeaderLines = sse): ReplyStep[] {
  return bodyReply([text], { headers })
}

/** The body of the newest request, and whether it asked for what its client did not. */
function newest(upstream: Pick<OwnUpstream, 'requests'>): { readonly body: string; readonly asked: boolean } {
  const body = upstream.requests.at(-1)?.body.toString() ?? ''
  return { body, asked: body.includes('include_usage') }
}

test('a stream is asked for its usage; the client sees nothing of that, however it is split', async () => {
  await using upstream = await shared.upstream()
  const random = seededRandom(11)
  const sizes = [[1], [7, 1, 64], ...Array.from({ length: 12 }, () => [1 + Math.floor(random() * 90), 3, 17])]
  for (const newline of ['\n', '\r\n', '\r']) {
    const { sent, seen } = streamText(newline)
    for (const each of [[sent.length + 10], ...sizes]) {
      upstream.replyOnce(bodyReply(splitBytes(sent, each), { headers: sse }))
      const answer = await chat(upstream, plain, '/v1/chat/completions', [['Accept-Encoding', 'gzip, br']])
      const what = `${JSON.stringify(newline)} ${each.join()}`
      assert.equal(answer.body.toString(), seen, what)
      assert.ok(answer.complete)
      const row = await rowOf(shared.gateway, answer)
      assert.deepEqual(
        [row.input_tokens, row.output_tokens, row.usage_source, row.outcome, row.attempts, row.request_bytes],
        [3, 2, 'usage', 'ok', 1, plain.length],
        what,
      )
      assert.equal(row.response_bytes, Buffer.byteLength(sent))
    }
  }
  const request = upstream.requests[0]!
  assert.equal(request.body.toString(), asking)
  assert.equal(request.header('content-length'), String(asking.length))
  assert.equal(request.header('accept-encoding'), 'identity')
  assert.equal(request.rawHeaders.filter((name) => /^accept-encoding$/i.test(name)).length, 1)
})

test('only the chunk in which the wish stands is another one; a long prompt goes on byte for byte', async () => {
  await using upstream = await shared.upstream()
  const prompt = JSON.stringify('é"\n'.repeat(300_000))
  const options = '"stream_options" : { "include_obfuscation":false }'
  for (const [body, expected] of [
    [
      `{"stream":true,"prompt":${prompt}}`,
      `{"stream_options":{"include_usage":true},"stream":true,"prompt":${prompt}}`,
    ],
    [
      `{"prompt":${prompt},"stream":true,${options}}`,
      `{"prompt":${prompt},"stream":true,${options.replace('{', '{"include_usage":true,')}}`,
    ],
  ] as const) {
    const answer = await chat(upstream, body, '/v1/completions')
    assert.equal(answer.status, 200)
    assert.ok(newest(upstream).body === expected)
    assert.doesNotMatch(answer.body.toString(), /"choices":\[\]/)
    assert.match(answer.body.toString(), /data: \[DONE\]\n\n$/)
    assert.equal((await rowOf(shared.gateway, answer)).total_tokens, 18)
  }
})

test('nothing is changed where the client decided itself, or where there is nothing to ask', async () => {
  await using upstream = await shared.upstream()
  const { sent } = streamText('\n')
  const bodies: readonly [path: string, body: string | Uint8Array][] = [
    ['/v1/chat/completions', '{"stream":true,"stream_options":{"include_usage":true}}'],
    ['/v1/chat/completions', '{"stream":true,"stream_options":{"include_usage":false}}'],
    ['/v1/chat/completions', '{"stream":true,"stream_options":{"include_usage":null}}'],
    ['/v1/chat/completions', '{"stream":true,"stream_options":"none"}'],
    ['/v1/chat/completions', '{"stream":false}'],
    ['/v1/chat/completions', '{"stream":true} and more'],
    ['/v1/chat/completions', '[{"stream":true}]'],
    ['/v1/chat/completions', gzipSync(plain)],
    ['/v1/responses', plain],
    ['/v1/messages', plain],
    ['/v1/embeddings', plain],
    ['/v1/chat/completions/x', plain],
  ]
  for (const [path, body] of bodies) {
    upstream.replyOnce(reply(sent))
    const answer = await chat(upstream, body, path, [['Accept-Encoding', 'gzip']])
    assert.equal(answer.body.toString(), sent)
    const request = upstream.requests.at(-1)!
    assert.deepEqual(request.body, Buffer.from(body))
    assert.equal(request.header('accept-encoding'), 'gzip')
  }
})

test('--usage-injection off leaves all as it is', async () => {
  await using upstream = await startSimulatedUpstream()
  await using gateway = await startGatewayProcess({
    upstream: upstream.baseUrl,
    args: ['--usage-injection', 'off'],
  })
  const answer = await exchange(gateway.port, 'POST', '/v1/chat/completions', { body: plain })
  assert.deepEqual(newest(upstream), { body: plain, asked: false })
  assert.equal((await rowOf(gateway, answer)).usage_source, 'none')
})

for (const status of [400, 422, 500]) {
  test(`a ${status} that names the field: once more without it, and not asked again on this path`, async () => {
    const words = { error: { message: 'Unknown parameter: stream_options', type: 'invalid_request_error' } }
    await using upstream = await shared.upstream({
      reply: (request) => {
        const body = (): string => request.body.toString()
        return {
          steps: (function* (): Generator<ReplyStep> {
            if (body().includes('stream_options')) yield* jsonReply(status, words)
            else yield* reply(sseEvent(word) + sseEvent('[DONE]'))
          })(),
        }
      },
    })
    const coding: HeaderLines = [['Accept-Encoding', 'gzip, br']]
    for (const [path, requests] of [
      ['/v1/chat/completions', [asking, plain]],
      ['/v1/chat/completions', [plain]],
      ['/v1/completions', [asking, plain]],
      ['/v1/chat/completions', [plain]],
    ] as const) {
      const before = upstream.requests.length
      const answer = await chat(upstream, plain, path, coding)
      const made = upstream.requests.slice(before)
      assert.deepEqual(
        made.map(({ body }) => body.toString()),
        requests,
      )
      assert.equal(made.at(-1)!.header('accept-encoding'), 'gzip, br')
      assert.deepEqual([answer.status, answer.body.toString()], [200, sseEvent(word) + sseEvent('[DONE]')])
      const row = await rowOf(shared.gateway, answer)
      assert.deepEqual([row.outcome, row.status, row.attempts], ['ok', 200, requests.length])
    }
    const health = await shared.gateway.health()
    assert.equal((health['rate_limiter'] as { total_retries_429: number }).total_retries_429, 0)
  })
}

test('an upstream whose streams have a length, so that the usage stays in, is not asked again', async () => {
  await using upstream = await shared.upstream()
  const { sent, seen } = streamText('\n')
  for (const [text, asked] of [
    [sent, true],
    [seen, false],
    [seen, false],
  ] as const) {
    upstream.replyOnce(bodyReply([text], { headers: sse, framing: 'content-length' }))
    const answer = await chat(upstream)
    assert.equal(answer.body.toString(), text)
    assert.equal(newest(upstream).asked, asked)
    assert.equal((await rowOf(shared.gateway, answer)).total_tokens, asked ? 5 : null)
  }
  // What is known of the other path is its own.
  upstream.replyOnce(reply(sent))
  assert.equal((await chat(upstream, plain, '/v1/completions')).body.toString(), seen)
})

test('a refusal that has another reason passes as it is, and nothing is learnt from it', async () => {
  const bad = { error: { message: 'model is missing', type: 'invalid_request_error' } }
  const echo = { detail: [{ msg: 'bad prompt', input: 'what does stream_options do?' }] }
  await using upstream = await shared.upstream()
  upstream.replyOnce(jsonReply(400, bad, [['x-request-id', 'r-1']]))
  const first = await chat(upstream)
  assert.deepEqual([first.status, JSON.parse(first.body.toString())], [400, bad])
  assert.equal(first.header('x-request-id'), 'r-1')
  assert.equal(upstream.requests.length, 1)

  // Named by the request's own text: refused both ways, so the field was not the reason.
  upstream.replyOnce(jsonReply(422, echo), jsonReply(422, echo))
  const second = await chat(upstream)
  assert.deepEqual([second.status, JSON.parse(second.body.toString())], [422, echo])
  assert.equal(upstream.requests.length, 3)

  const long = { error: { message: `include_usage ${'x'.repeat(70_000)}` } }
  upstream.replyOnce(jsonReply(400, long))
  assert.deepEqual(JSON.parse((await chat(upstream)).body.toString()), long)
  upstream.replyOnce(bodyReply([JSON.stringify(long)], { status: 400, headers: sse }))
  assert.deepEqual(JSON.parse((await chat(upstream)).body.toString()), long)
  assert.equal(upstream.requests.length, 5)

  await chat(upstream)
  assert.ok(newest(upstream).asked)
  const rows = await upstream.recorded(5)
  assert.deepEqual(fieldsOf(rows, 'status', 'failure_code', 'attempts'), [
    [400, 'upstream_http', 1],
    [422, 'upstream_http', 2],
    [400, 'upstream_http', 1],
    [400, 'upstream_http', 1],
    [200, null, 1],
  ])
})

test('a refusal that breaks off is broken off, and a client that leaves meanwhile is not asked for again', async () => {
  await using upstream = await shared.upstream()
  const head = responseHead(400, [['Content-Length', '100']])
  upstream.replyOnce([write(head), write('{"error":"stream_options'), reset()])
  const answer = await chat(upstream)
  assert.deepEqual(
    [answer.status, answer.complete, answer.body.toString()],
    [400, false, '{"error":"stream_options'],
  )

  upstream.replyOnce([write(head), write('{"error":"stream_options'), stall()])
  await using client = await openRawClient(shared.gateway.port)
  await client.send(requestBytes('POST', `${upstream.prefix}/v1/chat/completions`, { body: plain }))
  const request = await upstream.waitForRequest(1)
  client.leave()
  assert.equal(await request.replyEnd, 'client-left')
  const rows = await upstream.recorded(2)
  assert.deepEqual(fieldsOf(rows, 'outcome'), ['upstream_cut', 'client_disconnected'])
  assert.equal(upstream.requests.length, 2)
})

const unasked: readonly { readonly name: string; readonly events: readonly unknown[] }[] = [
  { name: 'usage in the finish chunk', events: [word, { ...finish, usage: counts }] },
  {
    name: 'usage in every chunk',
    events: [
      { ...word, usage: counts },
      { ...finish, usage: counts },
    ],
  },
  { name: "Groq's", events: [word, { ...finish, x_groq: { id: 'r', usage: counts } }] },
  {
    name: "llama.cpp's timings",
    events: [word, { ...finish, timings: { prompt_n: 3, cache_n: 0, predicted_n: 2 } }],
  },
  { name: "OpenRouter's last message", events: [word, finish, { ...usage, id: 'gen-1', provider: 'p' }] },
]

for (const { name, events } of unasked) {
  test(`an upstream that sends usage unasked is not asked again: ${name}`, async () => {
    const text = [...events, '[DONE]'].map((event) => sseEvent(event)).join('')
    await using upstream = await shared.upstream({ reply: () => reply(text) })
    for (const asked of [true, false, false]) {
      const answer = await chat(upstream)
      assert.equal(answer.body.toString(), text)
      assert.equal(newest(upstream).asked, asked)
      const row = await rowOf(shared.gateway, answer)
      assert.deepEqual([row.input_tokens, row.output_tokens], [3, 2])
    }
  })
}

test('usage that comes beside the event that was asked for counts as unasked, too', async () => {
  const events = [word, { ...finish, usage: counts }]
  const text = [...events, usage, '[DONE]'].map((event) => sseEvent(event)).join('')
  await using upstream = await shared.upstream({ reply: () => reply(text) })
  const first = await chat(upstream)
  assert.equal(first.body.toString(), [...events, '[DONE]'].map((event) => sseEvent(event)).join(''))
  await rowOf(shared.gateway, first)
  await chat(upstream)
  assert.equal(newest(upstream).asked, false)
})

test('an upstream that only seemed to send usage unasked is asked again, from then on', async () => {
  const shown = sseEvent({ ...finish, usage: counts }) + sseEvent('[DONE]')
  const bare = sseEvent(finish) + sseEvent('[DONE]')
  await using upstream = await shared.upstream()
  for (const [text, asked] of [
    [shown, true],
    [bare, false],
    [shown, true],
    [shown, true],
  ] as const) {
    upstream.replyOnce(reply(text))
    await rowOf(shared.gateway, await chat(upstream))
    assert.equal(newest(upstream).asked, asked)
  }
})

test('zeros in every chunk are no usage: Ollama is asked each time', async () => {
  const zeros = { ...word, usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 } }
  const seen = sseEvent(zeros) + sseEvent(zeros)
  await using upstream = await shared.upstream({
    reply: () => reply(seen + sseEvent(usage) + sseEvent('[DONE]')),
  })
  for (let i = 0; i < 2; i++) {
    const answer = await chat(upstream)
    assert.equal(answer.body.toString(), seen + sseEvent('[DONE]'))
    assert.ok(newest(upstream).asked)
    assert.equal((await rowOf(shared.gateway, answer)).total_tokens, 5)
  }
})

test('a stream under another content type shows no usage either, wherever it is cut; JSON there stays whole', async () => {
  const { sent, seen } = streamText('\n')
  const json = JSON.stringify({ ...chunk, choices: [{ index: 0, message: {} }], usage: counts })
  for (const type of ['application/json', 'text/plain', 'application/octet-stream']) {
    for (const size of [1, 3, 1000]) {
      await using upstream = await shared.upstream()
      for (const [text, expected] of [
        [sent, seen],
        [json, json],
      ] as const) {
        upstream.replyOnce(bodyReply(splitBytes(text, [size]), { headers: [['Content-Type', type]] }))
        const answer = await chat(upstream)
        assert.equal(answer.body.toString(), expected, `${type} in pieces of ${size}`)
        assert.equal((await rowOf(shared.gateway, answer)).total_tokens, 5)
      }
    }
  }
})

test('a refusal within a stream is the last one that the wish has brought', async () => {
  const refusal = sseEvent({ error: { message: "unexpected keyword argument 'stream_options'" } })
  await using upstream = await shared.upstream({ reply: () => reply(refusal) })
  for (const asked of [true, false]) {
    await rowOf(shared.gateway, await chat(upstream))
    assert.equal(newest(upstream).asked, asked)
  }
})

test('what is coded stays whole; coding against the wish is remembered', async () => {
  const { sent } = streamText('\n')
  await using upstream = await shared.upstream()
  const coded = gzipSync(sent)
  upstream.replyOnce(bodyReply([coded], { headers: [...sse, ['Content-Encoding', 'gzip']] }))
  const answer = await chat(upstream)
  assert.deepEqual(answer.body, coded)
  assert.ok(newest(upstream).asked)
  assert.equal((await rowOf(shared.gateway, answer)).total_tokens, 5)
  await rowOf(shared.gateway, await chat(upstream))
  assert.ok(!newest(upstream).asked)
  await rowOf(shared.gateway, await chat(upstream))
  assert.ok(!newest(upstream).asked, 'a stream without usage proves nothing here')
})

test('a stream that breaks off near the event looks unfinished, and what was held still arrives', async () => {
  await using upstream = await shared.upstream()
  const head = responseHead(200, [...sse, ['Transfer-Encoding', 'chunked']])
  const before = sseEvent(word) + sseEvent(finish)
  const event = sseEvent(usage)
  const breaks: readonly [sent: string, seen: string][] = [
    [before + event.slice(0, 6), before + event.slice(0, 6)],
    [before + event.slice(0, -2), before + event.slice(0, -2)],
    [before + event.slice(0, -1), before + event.slice(0, -1)],
    [before + event, before],
    [`${before + event}data: [DO`, `${before}data: [DO`],
  ]
  for (const end of [cut(), reset()]) {
    for (const [sent, seen] of breaks) {
      upstream.replyOnce([write(head), write(chunkFrame(sent)), end])
      const answer = await chat(upstream)
      assert.deepEqual([answer.complete, answer.body.toString()], [false, seen])
      const row = await rowOf(shared.gateway, answer)
      assert.deepEqual([row.outcome, row.failure_code], ['upstream_cut', 'upstream_reset'])
    }
  }
})

test('an event that may be the one is held, any other goes on in its turn', async () => {
  await using upstream = await shared.upstream()
  const go = Promise.withResolvers<void>()
  const head = responseHead(200, [...sse, ['Transfer-Encoding', 'chunked']])
  const text = sseEvent(word)
  upstream.replyOnce([
    write(head),
    write(chunkFrame(text + text.slice(0, text.indexOf('"delta"')))),
    { do: 'until', signal: go.promise },
    write(chunkFrame(text.slice(text.indexOf('"delta"')))),
    write(chunkFrame(sseEvent('[DONE]'))),
    write('0\r\n\r\n'),
  ])
  await using client = await openRawClient(shared.gateway.port)
  await client.send(requestBytes('POST', `${upstream.prefix}/v1/chat/completions`, { body: plain }))
  await client.waitForBytes(`${text}${text.slice(0, text.indexOf('"delta"'))}`)
  go.resolve()
  const answer = await client.response('POST')
  assert.equal(answer.body.toString(), text + text + sseEvent('[DONE]'))
})
