/** Limits and routes hold for every spelling of a path, and every form of a body; the model is known wherever it stands. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import * as fc from 'fast-check'
import { type RequestParts, exchange } from '../support/exchange.ts'
import { fieldsOf } from '../support/fields-of.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { openRawClient } from '../support/raw-client.ts'
import type { RawResponse } from '../support/raw-response.ts'
import { recordedCalls, rowOf } from '../support/recorded-calls.ts'
import { stall } from '../support/reply-step.ts'
import { jsonReply } from '../support/response-bytes.ts'
import type { SeenRequest } from '../support/seen-request.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { startGatewayOfUpstreams } from '../support/upstreams-file.ts'
import { draws } from '../support/draws.ts'

const clientKey = 'Bearer c1ient-0wn-cred'
const codings = {
  identity: (bytes: Uint8Array) => bytes,
  gzip: gzipSync,
  'X-GZIP': gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
  zstd: zstdCompressSync,
} as const

/** Those that upstreams take for the same text: Python, and Go, read them all. */
const encodings = {
  utf8: (text: string) => Buffer.from(text),
  'utf8 with a mark': (text: string) => Buffer.from(`\ufeff${text}`),
  utf16: (text: string) => Buffer.from(text, 'utf16le'),
  'utf16, the high byte first': (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le').swap16(),
  utf32: (text: string) =>
    Buffer.concat(Array.from(text, (letter) => Buffer.from([letter.charCodeAt(0), 0, 0, 0]))),
} as const

type Coding = keyof typeof codings

function coded(body: Uint8Array, coding: Coding): RequestParts {
  const headers = coding === 'identity' ? [] : [['Content-Encoding', coding] as const]
  return { headers: [['Authorization', clientKey], ...headers], body: codings[coding](body) }
}

const answers = { reply: () => jsonReply(200, {}) }
const byDefault = await startSimulatedUpstream(answers)
const local = await startSimulatedUpstream(answers)
const patterned = await startSimulatedUpstream(answers)
const gateway = await startGatewayOfUpstreams({
  upstream: `${byDefault.origin}/api/v3`,
  named: [
    { name: 'local', urls: [local.origin] },
    { name: 'cloud', urls: [`${patterned.origin}/openai/v1`], models: ['claude-*'], credentials: 'none' },
  ],
  args: ['--token-limit', '10000', '--budget-action', 'reject', '--slot-cooldown-ms', '0'],
})
after(async () => {
  await gateway[Symbol.asyncDispose]()
  await Promise.all([byDefault, local, patterned].map((upstream) => upstream.close()))
})

const chatPaths = [
  '/v1/chat/completions',
  '/v1//chat/completions/',
  '/v1/Chat/%43ompletions',
  '/v1/openai/deployments/d/chat/completions?api-version=2024-10-21',
  '/local/chat/completions',
  '/local/v1/chat/completions',
  '/local//chat//completions//',
  '/local/openai/deployments/d/chat/completions?api-version=2024-10-21',
  '/local/chat/completions;v=1',
  '/cloud/chat/completions',
  '/cloud/v1/completions',
  '/cloud/responses',
  '/cloud/messages/',
]

test('no spelling of a path, and no form of a body, passes the budget', async () => {
  const seen = () => byDefault.requests.length + local.requests.length + patterned.requests.length
  const before = seen()
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...chatPaths),
      fc.constantFrom(...(Object.keys(codings) as Coding[])),
      fc.constantFrom(...(Object.keys(encodings) as (keyof typeof encodings)[])),
      fc.constantFrom(
        '{"model":"m","max_tokens":9000000}',
        '{"model":"m","MAX_Tokens":9000000}',
        '{"temperature":NaN,"max_tokens":9000000,"model":"m"}',
        '{"max_completion_tokens":9000000,"max_tokens":1,"max_tokens":1}',
        '{"max_tokens":9000000,"max_tokens":1}',
        '{"prompt":["a","b","c"],"max_tokens":3500}',
        '{"n_predict":9000000}',
      ),
      async (path, coding, encoding, body) => {
        const answer = await exchange(gateway.port, 'POST', path, coded(encodings[encoding](body), coding))
        assert.equal(answer.header('x-tokenweir-error'), 'token_budget_exceeded')
      },
    ),
    { numRuns: draws(60) },
  )
  assert.equal(seen(), before)
})

test('parts of a compressed body, one after the other, and a body of no coding that says it has one', async () => {
  const parts = ['{"model":"m",', '"max_tokens":9000000}'].map((part) => zstdCompressSync(part))
  const inFrames = { headers: [['Content-Encoding', 'zstd']] as const, body: Buffer.concat(parts) }
  const plain = { headers: [['Content-Encoding', 'br']] as const, body: '{"max_tokens":9000000}' }
  for (const parts of [inFrames, plain]) {
    const answer = await exchange(gateway.port, 'POST', '/v1/chat/completions', parts)
    assert.equal(answer.header('x-tokenweir-error'), 'token_budget_exceeded')
  }
})

test('a model that stands deeper in the body says where it goes, too', async () => {
  const params = { model: 'claude-x', messages: [{ role: 'user', content: 'secret' }] }
  const requests = [1, 2].map((id) => ({ custom_id: String(id), params }))
  for (const [path, body] of [
    ['/v1/messages/batches', { requests }],
    ['/v1/realtime/client_secrets', { session: { type: 'realtime', model: 'claude-x' } }],
  ] as const) {
    for (const coding of ['identity', 'zstd'] as const) {
      const parts = coded(Buffer.from(JSON.stringify(body)), coding)
      const answer = await exchange(gateway.port, 'POST', path, parts)
      assert.equal(answer.header('x-tokenweir-upstream'), 'cloud', path)
      assert.equal((await rowOf(gateway, answer)).model, 'claude-x')
    }
  }
  assert.equal(byDefault.requests.length, 0)
})

test('a POST goes where its model goes, whatever its path, its coding and its type, and its bytes are what they were', async () => {
  const body = '{"model":"claude-x","messages":[{"role":"user","content":"secret"}]}'
  const cases: (readonly [path: string, coding: Coding, type: string | null])[] = [
    ['/v1/messages', 'identity', 'application/json'],
    ['/v1/messages/count_tokens?beta=true', 'identity', 'application/json'],
    ['/v1/messages/count_tokens', 'zstd', 'application/json'],
    ['/v1/messages/batches', 'identity', null],
    ['/v1/whatever/else', 'gzip', 'text/plain'],
    ['/v1/images/generations', 'identity', 'text/plain'],
    ['/v2/rerank', 'br', null],
  ]
  for (const [path, coding, type] of cases) {
    const { headers = [], body: sent } = coded(Buffer.from(body), coding)
    const typed = type === null ? headers : [...headers, ['Content-Type', type] as const]
    const index = patterned.requests.length
    const answer = await exchange(gateway.port, 'POST', path, { headers: typed, body: sent! })
    assert.deepEqual([answer.status, answer.header('x-tokenweir-upstream')], [200, 'cloud'], path)
    const request = await patterned.waitForRequest(index)
    await request.bodyEnd
    assert.deepEqual(request.body, Buffer.from(sent!))
    assert.ok(!request.headBytes.includes('c1ient'))
    assert.equal((await rowOf(gateway, answer)).model, 'claude-x')
  }
  assert.equal(byDefault.requests.length, 0)
})

test('a body that cannot be decoded goes nowhere by chance', async () => {
  const body = Buffer.from([1, 2, 3, 4])
  for (const coding of ['gzip', 'compress', 'gzip, br']) {
    const headers = [['Content-Encoding', coding]] as const
    const refused = await exchange(gateway.port, 'POST', '/v1/responses', { headers, body })
    assert.deepEqual([refused.status, refused.header('x-tokenweir-error')], [415, 'unreadable_body'])
    assert.equal(refused.header('accept-encoding'), 'gzip, deflate, br, zstd')
    assert.match(refused.body.toString(), /gzip, deflate, br and zstd/)
  }
  assert.equal(byDefault.requests.length, 0)
  await using only = await startSimulatedUpstream(answers)
  await using alone = await startGatewayProcess({ upstream: only.origin })
  const headers = [['Content-Encoding', 'compress']] as const
  const passed = await exchange(alone.port, 'POST', '/v1/responses', { headers, body })
  assert.equal(passed.status, 200)
  assert.deepEqual((await only.waitForRequest(0)).body, body)
  const row = await rowOf(alone, passed)
  assert.match(row.error_message ?? '', /cannot be decoded \(Content-Encoding: compress\)/)
})

test('what decodes to far more than it is, is not decoded', async () => {
  const bomb = gzipSync(Buffer.alloc(40_000_000, ' '))
  const answer = await exchange(gateway.port, 'POST', '/v1/responses', coded(bomb, 'identity'))
  assert.equal(answer.status, 200)
  const headers = [['Content-Encoding', 'gzip']] as const
  const refused = await exchange(gateway.port, 'POST', '/v1/responses', { headers, body: bomb })
  assert.equal(refused.status, 415)
})

test('what uses no model takes no slot and no budget', async () => {
  function answer(request: SeenRequest) {
    return request.target.includes('chat') ? { steps: [stall()] } : jsonReply(200, { input_tokens: 3 })
  }
  await using upstream = await startSimulatedUpstream({ reply: answer })
  await using full = await startGatewayProcess({
    upstream: upstream.origin,
    args: ['--max-concurrent', '1', '--token-limit', '1', '--budget-action', 'reject'],
  })
  await using holder = await openRawClient(full.port)
  await holder.send('POST /v1/chat/completions HTTP/1.1\r\nHost: weir\r\nContent-Length: 2\r\n\r\n{}')
  await upstream.waitForInFlight(1)
  const passed: RawResponse[] = []
  for (const path of [
    '/v1/messages/count_tokens',
    '/v1/responses/r/cancel',
    '/v1/batches/b/cancel',
    '/v1/threads/t/runs/r/cancel',
  ]) {
    passed.push(await exchange(full.port, 'POST', path, { body: '{"model":"m","max_tokens":9000}' }))
  }
  passed.push(await exchange(full.port, 'GET', '/v1/responses/r'))
  passed.push(await exchange(full.port, 'DELETE', '/v1/responses/r'))
  assert.deepEqual(
    fieldsOf(passed, 'status'),
    passed.map(() => 200),
  )
  assert.equal((await recordedCalls(full, passed.length)).length, passed.length)
})

const transcribed = {
  text: 'Hello',
  usage: { type: 'tokens', input_tokens: 140, output_tokens: 45, total_tokens: 185 },
}
const formHeaders = [['Content-Type', 'multipart/form-data; boundary=b']] as const

/** As the Python library sends it, fields first, or as others do, the file first. */
function form(isFileFirst: boolean, model: string): Buffer {
  const part = (head: string, value: string): string =>
    `--b\r\nContent-Disposition: form-data; ${head}\r\n\r\n${value}\r\n`
  const file = part('name="file"; filename="a.wav"', 'RIFF'.repeat(50_000))
  const field = part('name="model"', model)
  return Buffer.from(`${isFileFirst ? file + field : field + file}--b--\r\n`)
}

test('a form is routed by its model, wherever that stands, and arrives byte for byte', async () => {
  const transcripts = { reply: () => jsonReply(200, transcribed) }
  await using plain = await startSimulatedUpstream(transcripts)
  await using whisper = await startSimulatedUpstream(transcripts)
  await using routed = await startGatewayOfUpstreams({
    upstream: plain.baseUrl,
    named: [{ name: 'whisper', urls: [whisper.origin], models: ['whisper-*'] }],
  })
  for (const isFileFirst of [false, true]) {
    const body = form(isFileFirst, 'whisper-1')
    const answer = await exchange(routed.port, 'POST', '/v1/audio/transcriptions', {
      headers: formHeaders,
      body,
    })
    assert.equal(answer.status, 200)
    assert.ok(whisper.requests.at(-1)?.body.equals(body))
    const { model, upstream_name: upstream, input_tokens: tokens } = await rowOf(routed, answer)
    assert.deepEqual([model, upstream, tokens], ['whisper-1', 'whisper', 140])
  }
  const lines = Buffer.from(form(true, 'whisper-1').toString('latin1').replaceAll('\r\n', '\n'), 'latin1')
  const read = await exchange(routed.port, 'POST', '/v1/audio/translations', {
    headers: formHeaders,
    body: lines,
  })
  assert.equal(read.header('x-tokenweir-upstream'), 'whisper')
  const coded = [...formHeaders, ['Content-Encoding', 'gzip'] as const]
  const body = gzipSync(form(true, 'whisper-1'))
  const answer = await exchange(routed.port, 'POST', '/v1/audio/translations', { headers: coded, body })
  assert.equal(answer.header('x-tokenweir-upstream'), 'whisper')
  assert.equal(plain.requests.length, 0)
  const files = await exchange(routed.port, 'POST', '/v1/files', {
    headers: formHeaders,
    body: form(true, 'whisper-1'),
  })
  const { model, upstream_name: upstream } = await rowOf(routed, files)
  assert.deepEqual([model, upstream], ['whisper-1', 'default'], 'a file for later goes as it comes')
})

test('with one upstream, too, the row has the model that a form or a JSON body names', async () => {
  await using upstream = await startSimulatedUpstream({ reply: () => jsonReply(200, transcribed) })
  await using alone = await startGatewayProcess({ upstream: upstream.baseUrl })
  const json = Buffer.from('{"prompt":"a weir","model":"gpt-image-1"}')
  const calls: readonly (readonly [string, Buffer, string, string | null])[] = [
    ['/v1/audio/transcriptions', form(true, 'whisper-1'), 'multipart/form-data; boundary=b', 'whisper-1'],
    ['/v1/images/generations', json, 'application/json', 'gpt-image-1'],
    ['/v1/audio/speech', json, 'text/plain', 'gpt-image-1'],
    ['/v1/uploads', Buffer.from('x{"model":"no"}'), 'application/octet-stream', null],
    ['/v1/uploads', json, 'audio/wav', null],
  ]
  for (const [path, body, type, named] of calls) {
    const answer = await exchange(alone.port, 'POST', path, { headers: [['Content-Type', type]], body })
    assert.ok(upstream.requests.at(-1)?.body.equals(body))
    assert.equal((await rowOf(alone, answer)).model, named, path)
  }
})
