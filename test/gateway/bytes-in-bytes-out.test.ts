import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import * as fc from 'fast-check'
import { exchange, requestBytes } from '../support/exchange.ts'
import { startGatewayOfFile } from '../support/gateway-of-file.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { openRawClient } from '../support/raw-client.ts'
import type { RawResponse } from '../support/raw-response.ts'
import { rowOf } from '../support/recorded-calls.ts'
import { cut, write, writeEach } from '../support/reply-step.ts'
import {
  type HeaderLines,
  bodyReply,
  chunkFrame,
  jsonReply,
  lastChunk,
  responseHead,
  splitBytes,
} from '../support/response-bytes.ts'
import type { SeenRequest } from '../support/seen-request.ts'
import { draws } from '../support/draws.ts'

const { upstream, gateway } = await startGatewayOfFile(
  { args: ['--max-body-mb', '32'], env: { UPSTREAM_API_KEY: undefined } },
  {
    reply: () => bodyReply(['ok'], { framing: 'content-length' }),
  },
)

/** Bodies that are changed by everyone who parses and writes them again, or who expects them to be JSON. */
const awkwardBodies: readonly (string | Buffer)[] = [
  '',
  '{}',
  ' \t\r\n{ "model" : "m" }\n\n',
  '{"n":12345678901234567890}',
  '{"n":1.0,"m":1e400,"o":-0,"p":1E5,"q":0.10}',
  '{"model":"a","model":"b","stream":true,"stream":false}',
  '{"stream_options" : {"include_usage":false} ,"model":"a","stream":true}',
  '{"2":0,"1":0,"__proto__":{"x":1},"constructor":null,"":""}',
  '{"u":"\\u0000\\ud83d\\ude00\\ud800 \\/ \\u0041"}',
  '{"model":"caf\u00e9 \u65e5\u672c \u{1f600}","messages":[]}',
  '{"model":"m","messages":[}',
  '{"model":"m"}{"model":"n"}',
  '[1,2,3]',
  'null',
  '"text"',
  'model=m&stream=true',
  '\ufeff{"model":"m"}',
  `${'['.repeat(20_000)}${']'.repeat(20_000)}`,
  `{"model":"${'m'.repeat(100_000)}"}`,
  Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0xc3, 0x28, 0x22, 0x3a, 0x31, 0x7d]),
  Buffer.from([0, 1, 2, 3, 0x0d, 0x0a, 0x0d, 0x0a, 0x30, 0x0d, 0x0a, 0x0d, 0x0a]),
]

const ownHop: ReadonlySet<string> = new Set([
  'host',
  'connection',
  'keep-alive',
  'content-length',
  'transfer-encoding',
])

type Pair = readonly [name: string, value: string]

function pairsOf(rawHeaders: readonly string[]): Pair[] {
  return rawHeaders.flatMap((name, i) => (i % 2 === 0 ? [[name, rawHeaders[i + 1]!] as const] : []))
}

/** End-to-end headers of a request as the upstream saw them, without the gateway's `Via`. */
function passedOn(request: SeenRequest): Pair[] {
  return pairsOf(request.rawHeaders).filter(
    ([name, value]) => !ownHop.has(name.toLowerCase()) && !value.startsWith('1.1 tokenweir-'),
  )
}

/** End-to-end headers of an answer as the client saw them, without what the gateway is known to add. */
function handedBack(response: RawResponse): Pair[] {
  const added = new Set(['x-tokenweir-call-id', 'server-timing'])
  return pairsOf(response.rawHeaders).filter(([name]) => !ownHop.has(name.toLowerCase()) && !added.has(name))
}

function last(): SeenRequest {
  return upstream.requests.at(-1)!
}

test('bodies pass unchanged in both directions, whatever they are', async () => {
  await using client = await openRawClient(gateway.port)
  for (const path of ['/v1/chat/completions', '/v1/files']) {
    for (const body of awkwardBodies) {
      const bytes = Buffer.from(body)
      upstream.replyOnce(
        bodyReply([bytes], { framing: 'content-length', headers: [['Content-Type', 'application/json']] }),
      )
      await client.send(requestBytes('POST', path, { body: bytes }))
      const response = await client.response('POST')
      assert.ok(last().body.equals(bytes), `request ${path} ${bytes.toString('latin1', 0, 80)}`)
      assert.equal(last().header('content-length'), String(bytes.length))
      assert.ok(response.body.equals(bytes), `answer ${path} ${bytes.toString('latin1', 0, 80)}`)
      assert.equal(response.header('content-length'), String(bytes.length))
    }
  }
})

test('any bytes, in any pieces and either framing, come out as they went in', async () => {
  await using client = await openRawClient(gateway.port)
  const json = fc.json({ maxDepth: 4 }).map((text) => Buffer.from(text))
  const bytes = fc.oneof(
    json,
    fc.uint8Array({ maxLength: 2000 }).map((array) => Buffer.from(array)),
  )
  const sizes = fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1, maxLength: 4 })
  const form = fc.record({
    bytes,
    sizes,
    chunked: fc.boolean(),
    type: fc.constantFrom('application/json', 'text/event-stream', 'audio/mpeg'),
  })
  await fc.assert(
    fc.asyncProperty(
      form,
      form,
      fc.constantFrom('/v1/chat/completions', '/v1/audio'),
      async (up, down, path) => {
        const framing = down.chunked ? 'chunked' : 'content-length'
        const pieces = splitBytes(down.bytes, down.sizes)
        upstream.replyOnce(bodyReply(pieces, { framing, headers: [['Content-Type', down.type]] }))
        if (up.chunked) {
          await client.send(`POST ${path} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n`)
          for (const piece of splitBytes(up.bytes, up.sizes)) await client.send(chunkFrame(piece, ';x="y"'))
          await client.send(lastChunk())
        } else {
          await client.send(requestBytes('POST', path, { body: up.bytes }))
        }
        const response = await client.response('POST')
        assert.ok(last().body.equals(up.bytes))
        assert.ok(response.body.equals(down.bytes))
        assert.equal(response.framing, framing)
        assert.equal(response.complete, true)
      },
    ),
    { numRuns: draws(150) },
  )
})

test('ten megabytes pass both ways', async () => {
  const up = randomBytes(10_000_000)
  const down = randomBytes(10_000_000)
  for (const path of ['/v1/embeddings', '/v1/files']) {
    upstream.replyOnce(bodyReply([down], { framing: 'content-length' }))
    const response = await exchange(gateway.port, 'POST', path, { body: up })
    assert.ok(last().body.equals(up))
    assert.ok(response.body.equals(down))
  }
})

test('a body of unknown length is measured where it is read whole, and streamed on where it is not', async () => {
  const head = (path: string): string =>
    `POST ${path} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n`
  const body = Buffer.concat([chunkFrame('{"model":'), chunkFrame('"m"}'), lastChunk([['X-Sum', '7']])])
  await using client = await openRawClient(gateway.port)
  await client.send(Buffer.concat([Buffer.from(head('/v1/chat/completions')), body]))
  await client.response('POST')
  assert.deepEqual([last().framing, last().header('content-length')], ['content-length', '13'])
  assert.equal(last().body.toString(), '{"model":"m"}')
  await client.send(Buffer.concat([Buffer.from(head('/v1/files')), body]))
  await client.response('POST')
  assert.deepEqual([last().framing, last().header('content-length')], ['chunked', undefined])
  assert.equal(last().body.toString(), '{"model":"m"}')
})

test('a request without a body gains none, and a GET keeps the one it has', async () => {
  for (const method of ['GET', 'HEAD', 'DELETE', 'OPTIONS']) {
    await exchange(gateway.port, method, '/v1/x')
    assert.equal(last().framing, 'none', method)
  }
  await exchange(gateway.port, 'POST', '/v1/chat/completions')
  assert.deepEqual([last().body.length, last().header('transfer-encoding')], [0, undefined])
  for (const method of ['GET', 'DELETE', 'OPTIONS']) {
    await exchange(gateway.port, method, '/v1/x', { body: 'a body' })
    assert.equal(last().body.toString(), 'a body', method)
  }
})

test('compressed answers pass as they came', async () => {
  const text = Buffer.from(JSON.stringify({ model: 'm', usage: { prompt_tokens: 1, completion_tokens: 2 } }))
  const codings = {
    gzip: gzipSync(text),
    br: brotliCompressSync(text),
    deflate: deflateSync(text),
    zstd: zstdCompressSync(text),
    identity: text,
    'x-unknown': randomBytes(50),
    'gzip, br': brotliCompressSync(gzipSync(text)),
  }
  for (const [coding, bytes] of Object.entries(codings)) {
    const headers: HeaderLines = [
      ['Content-Type', 'application/json'],
      ['Content-Encoding', coding],
    ]
    upstream.replyOnce(bodyReply(splitBytes(bytes, [7]), { framing: 'content-length', headers }))
    const response = await exchange(gateway.port, 'POST', '/v1/chat/completions', { body: '{}' })
    assert.ok(response.body.equals(bytes), coding)
    assert.deepEqual(handedBack(response), headers)
    assert.equal(response.header('content-length'), String(bytes.length))
  }
})

test("a request's end-to-end headers keep order, spelling, duplicates and bytes", async () => {
  const headers: HeaderLines = [
    ['X-First', '1'],
    ['aCCept', 'text/event-stream'],
    ['Content-Type', 'application/json; charset="utf-8"'],
    ['x-dup', 'a'],
    ['X-Dup', 'b'],
    ['X-DUP', 'a'],
    ['Authorization', 'Bearer sk-test-0000'],
    ['X-Api-Key', 'second credential'],
    ['Cookie', 'a=1; b=2'],
    ['Cookie', 'c=3'],
    ['User-Agent', 'OpenAI/Python 2.1.0 (x; y)'],
    ['X-Latin', '\u00e9\u00fc\u00ff'],
    ['X-Empty', ''],
    ['X-Inner', 'a  b\tc'],
    ['X-Long', 'v'.repeat(300)],
    ['Idempotency-Key', 'k'],
    ['X-Stainless-Retry-Count', '1'],
    ['Origin', 'https://page.example'],
    ['Forwarded', 'for=192.0.2.1'],
    ['X-Forwarded-For', '192.0.2.1'],
    ['Via', '1.0 other'],
    ['Date', 'Thu, 01 Jan 1970 00:00:00 GMT'],
    ['Content-Encoding', 'identity'],
    ['Range', 'bytes=0-1'],
    ["!#$%&'*+-.^_`|~1", 'token'],
    ['__proto__', 'x'],
    ['constructor', 'x'],
    ['X-Last', '1'],
  ]
  for (const path of ['/v1/chat/completions', '/v1/files']) {
    await exchange(gateway.port, 'POST', path, { headers, body: '{}' })
    assert.deepEqual(passedOn(last()), headers)
  }
})

test("an answer's end-to-end headers keep order, spelling, duplicates and bytes; no Date is added", async () => {
  const headers: HeaderLines = [
    ['X-First', '1'],
    ['content-TYPE', 'application/json'],
    ['Set-Cookie', 'a=1; Path=/'],
    ['set-cookie', 'b=2'],
    ['Set-Cookie', 'a=1; Path=/'],
    ['X-Dup', 'a'],
    ['x-dup', 'b'],
    ['Vary', 'Origin'],
    ['Vary', 'Accept'],
    ['Server', 'upstream/1'],
    ['Via', '1.1 cdn'],
    ['X-Latin', '\u00e9\u00fc\u00ff'],
    ['X-Empty', ''],
    ['X-Long', 'v'.repeat(300)],
    ['Access-Control-Allow-Origin', '*'],
    ['Retry-After', '7'],
    ['x-ratelimit-remaining-requests', '99'],
    ['Location', '/elsewhere'],
    ['WWW-Authenticate', 'Bearer realm="a"'],
    ['__proto__', 'x'],
    ['X-Last', '1'],
  ]
  for (const framing of ['content-length', 'chunked'] as const) {
    upstream.replyOnce(bodyReply(['{}'], { framing, headers }))
    const response = await exchange(gateway.port, 'POST', '/v1/chat/completions', { body: '{}' })
    assert.deepEqual(handedBack(response), headers)
    assert.equal(response.framing, framing)
  }
  upstream.replyOnce(jsonReply(200, {}, [['Date', 'Thu, 01 Jan 1970 00:00:00 GMT']]))
  const dated = await exchange(gateway.port, 'GET', '/v1/models')
  assert.equal(dated.header('date'), 'Thu, 01 Jan 1970 00:00:00 GMT')
})

test('what belongs to one hop, and what Connection names, does not pass in either direction', async () => {
  const hop: HeaderLines = [
    ['Connection', 'keep-alive, X-Named'],
    ['connection', 'x-also-named'],
    ['Keep-Alive', 'timeout=1234'],
    ['Proxy-Connection', 'keep-alive'],
    ['Proxy-Authenticate', 'Basic'],
    ['Proxy-Authorization', 'Basic c2VjcmV0'],
    ['TE', 'trailers, deflate;q=0.5'],
    ['Trailer', 'X-Sum'],
    ['X-Named', 'secret'],
    ['x-nAMED', 'secret'],
    ['X-Also-Named', 'secret'],
    ['HTTP2-Settings', 'AAMAAABkAARAAAAAAAIAAAAA'],
  ]
  const kept: HeaderLines = [
    ['X-Kept', '1'],
    ['X-Named-Too', '2'],
  ]
  upstream.replyOnce(bodyReply(['{}'], { framing: 'content-length', headers: [...hop, ...kept] }))
  const response = await exchange(gateway.port, 'POST', '/v1/files', {
    headers: [...hop, ...kept],
    body: '{}',
  })
  assert.deepEqual(passedOn(last()), kept)
  assert.deepEqual(handedBack(response), kept)
  assert.notEqual(response.header('keep-alive'), 'timeout=1234')
  assert.equal(last().header('keep-alive'), undefined)
})

test('statuses and reason phrases pass, known or not', async () => {
  const lines = [
    [200, 'OK'],
    [200, ''],
    [200, 'All is (quite) well: 100%'],
    [201, 'Created'],
    [202, 'Accepted'],
    [203, 'Non-Authoritative Information'],
    [206, 'Partial Content'],
    [226, 'IM Used'],
    [299, 'Odd'],
    [301, 'Moved Permanently'],
    [307, 'Temporary Redirect'],
    [400, 'Bad Request'],
    [401, 'Unauthorized'],
    [403, 'Forbidden'],
    [404, 'Not Found'],
    [418, "I'm a teapot"],
    [422, 'Unprocessable Content'],
    [429, 'Slow Down'],
    [498, 'Token'],
    [499, 'Client Closed'],
    [500, 'Oops'],
    [502, 'Bad Gateway'],
    [503, 'Service Unavailable'],
    [529, 'Overloaded'],
    [599, ''],
    [600, 'Beyond'],
    [999, 'Denied'],
  ] as const
  await using client = await openRawClient(gateway.port)
  for (const [status, reason] of lines) {
    const head = responseHead(status, [['Content-Length', '4']], { reason })
    upstream.replyOnce([write(Buffer.concat([head, Buffer.from('body')]))])
    await client.send(requestBytes('POST', '/v1/chat/completions', { body: '{}' }))
    const response = await client.response('POST')
    assert.deepEqual([response.status, response.reason, response.body.toString()], [status, reason, 'body'])
    assert.equal(response.header('x-tokenweir-error'), undefined)
  }
})

test('a reason phrase beyond ASCII passes as UTF-8, and in no coding ends more than itself', async () => {
  const phrases: readonly (readonly [sent: Buffer, expected: RegExp])[] = [
    [Buffer.from('Gar\u00e7on \u65e5\u672c'), /^Gar\u00c3\u00a7on \u00e6\u0097\u00a5\u00e6\u009c\u00ac$/],
    [Buffer.from('Gar\u00e7on', 'latin1'), /^Gar.+on$/],
  ]
  for (const [phrase, expected] of phrases) {
    const rest = Buffer.from('\r\nContent-Length: 4\r\n\r\nbody')
    upstream.replyOnce([write(Buffer.concat([Buffer.from('HTTP/1.1 200 '), phrase, rest]))])
    const response = await exchange(gateway.port, 'POST', '/v1/chat/completions', { body: '{}' })
    assert.deepEqual([response.status, response.body.toString()], [200, 'body'])
    assert.match(response.reason, expected)
  }
  // What may not be sent at all costs at most its own call.
  for (const phrase of ['a\u007fb', 'a\u0001b', 'a\u0000b']) {
    upstream.replyOnce([write(Buffer.from(`HTTP/1.1 200 ${phrase}\r\nContent-Length: 4\r\n\r\nbody`))])
    const response = await exchange(gateway.port, 'POST', '/v1/chat/completions', { body: '{}' })
    const error = response.header('x-tokenweir-error')
    if (response.status === 200) assert.deepEqual([response.reason, response.body.toString()], ['', 'body'])
    else assert.deepEqual([response.status, error], [502, 'upstream_protocol_error'])
  }
  assert.equal((await exchange(gateway.port, 'GET', '/v1/models')).status, 200)
})

test('HEAD, 204 and 304 have no body, and keep their Content-Length', async () => {
  await using client = await openRawClient(gateway.port)
  const cases = [
    ['HEAD', 200, '1234'],
    ['GET', 304, '1234'],
    ['GET', 204, null],
    ['GET', 204, '0'],
    ['GET', 304, null],
    ['HEAD', 404, '5'],
    ['HEAD', 200, null],
    ['POST', 204, null],
  ] as const
  for (const [method, status, length] of cases) {
    const headers: HeaderLines = [
      ['ETag', '"x"'],
      ...(length === null ? [] : [['Content-Length', length] as const]),
    ]
    upstream.replyOnce([write(responseHead(status, headers))])
    await client.send(requestBytes(method, '/v1/files/f'))
    const response = await client.response(method)
    assert.equal(response.status, status)
    assert.equal(response.header('content-length'), length ?? undefined, `${method} ${status}`)
    assert.equal(response.header('transfer-encoding'), undefined, `${method} ${status}`)
    assert.equal(response.header('etag'), '"x"')
  }
  await client.send(requestBytes('GET', '/v1/files/g'))
  assert.equal((await client.response()).body.toString(), 'ok', 'the connection is still in step')
})

test('an answer that ends with the connection is whole for HTTP/1.1 and HTTP/1.0 clients', async () => {
  const reply = [...writeEach([responseHead(200, [['X-A', '1']]), 'one,', 'two']), cut()]
  upstream.replyOnce(reply, reply)
  const modern = await exchange(gateway.port, 'GET', '/v1/x')
  assert.deepEqual([modern.framing, modern.body.toString(), modern.complete], ['chunked', 'one,two', true])
  await using old = await openRawClient(gateway.port)
  await old.send(requestBytes('GET', '/v1/x', { httpVersion: '1.0' }))
  assert.equal(await old.waitForServerEnd(), 'fin')
  const response = await old.response()
  assert.deepEqual([response.framing, response.body.toString()], ['until-close', 'one,two'])
})

test('an answer in a transfer coding keeps it, and is refused where HTTP/1.0 has none', async () => {
  const body = gzipSync(
    '{"choices":[{"message":{"content":"hi"}}],"usage":{"prompt_tokens":3,"completion_tokens":2}}',
  )
  const reply = writeEach([
    responseHead(200, [
      ['Content-Type', 'application/json'],
      ['Transfer-Encoding', 'gzip, chunked'],
    ]),
    chunkFrame(body),
    lastChunk(),
  ])
  upstream.replyOnce(reply, reply)
  const path = '/v1/chat/completions'
  const modern = await exchange(gateway.port, 'POST', path, { body: '{"model":"m"}' })
  assert.deepEqual([modern.header('transfer-encoding'), modern.body], ['gzip, chunked', body])
  const { outcome, input_tokens, output_tokens } = await rowOf(gateway, modern)
  assert.deepEqual([outcome, input_tokens, output_tokens], ['ok', 3, 2])
  await using old = await openRawClient(gateway.port)
  await old.send(requestBytes('POST', path, { httpVersion: '1.0', body: '{"model":"m"}' }))
  assert.equal((await old.response('POST')).status, 502)
})

test('trailers pass behind a chunked answer', async () => {
  const trailers: HeaderLines = [
    ['X-Sum', '7'],
    ['x-Other', '\u00e9'],
  ]
  const head = responseHead(200, [['Transfer-Encoding', 'chunked']])
  upstream.replyOnce(writeEach([head, chunkFrame('body'), lastChunk(trailers)]))
  const headers: HeaderLines = [
    ['TE', 'trailers'],
    ['Connection', 'TE'],
  ]
  const response = await exchange(gateway.port, 'GET', '/v1/x', { headers })
  assert.equal(response.body.toString(), 'body')
  assert.deepEqual(response.trailers, trailers.flat())
})

test('103 passes to HTTP/1.1 clients; other informational answers do not', async () => {
  const interim = (status: number): Buffer =>
    responseHead(status, [
      ['Link', '</a.css>; rel=preload'],
      ['Link', '</b.js>; rel=preload'],
    ])
  const final = bodyReply(['ok'], { framing: 'content-length' })
  const script = [...writeEach([interim(102), interim(103), interim(103)]), ...final]
  upstream.replyOnce(script, script)
  await using client = await openRawClient(gateway.port)
  await client.send(requestBytes('GET', '/v1/x'))
  for (let i = 0; i < 2; i++) {
    const hints = await client.response()
    assert.equal(hints.status, 103)
    const links = pairsOf(hints.rawHeaders).filter(([name]) => name.toLowerCase() === 'link')
    assert.deepEqual(
      links.map(([, value]) => value).join(', '),
      '</a.css>; rel=preload, </b.js>; rel=preload',
    )
  }
  assert.equal((await client.response()).status, 200)
  await using old = await openRawClient(gateway.port)
  await old.send(requestBytes('GET', '/v1/x', { httpVersion: '1.0' }))
  assert.equal((await old.response()).status, 200)
})

test('what is added is Via to requests, the call id and the timing to answers, and nothing else', async () => {
  const health = await gateway.health()
  const response = await exchange(gateway.port, 'POST', '/v1/chat/completions', { body: '{"model":"m"}' })
  assert.deepEqual(pairsOf(last().rawHeaders), [
    ['host', `127.0.0.1:${upstream.port}`],
    ['connection', 'keep-alive'],
    ['Via', `1.1 tokenweir-${String(health['instance'])}`],
    ['content-length', '13'],
  ])
  const added = pairsOf(response.rawHeaders).filter(([name]) => !ownHop.has(name.toLowerCase()))
  assert.deepEqual(
    added.map(([name]) => name),
    ['x-tokenweir-call-id', 'server-timing'],
  )
  assert.match(added[0]![1], /^[0-9a-hjkmnp-tv-z]{11}$/)
  assert.match(added[1]![1], /^queue;dur=\d+\.\d, upstream;dur=\d+\.\d$/)
})

test('--via off adds nothing to requests', async () => {
  await using silent = await startGatewayProcess({ upstream: upstream.origin, args: ['--via', 'off'] })
  await exchange(silent.port, 'GET', '/v1/models', { headers: [['Via', '1.1 other']] })
  assert.deepEqual(pairsOf(last().rawHeaders).slice(2), [['Via', '1.1 other']])
})

test("x-tokenweir- headers go no further; the upstream's own pass back", async () => {
  const headers: HeaderLines = [
    ['x-tokenweir-client', 'nightly'],
    ['X-TOKENWEIR-Session', 's1'],
    ['X-TokenWeir-Anything', 'x'],
    ['x-tokenweirs', 'not ours'],
  ]
  upstream.replyOnce(jsonReply(200, {}, [['Server-Timing', 'app;dur=1']]))
  const response = await exchange(gateway.port, 'POST', '/v1/files', { headers, body: '' })
  assert.deepEqual(passedOn(last()), [['x-tokenweirs', 'not ours']])
  const timings = pairsOf(response.rawHeaders).filter(([name]) => name.toLowerCase() === 'server-timing')
  assert.equal(timings.length, 2)
  assert.equal(timings[0]![1], 'app;dur=1')
})

test('Accept-Encoding is narrowed to what the meter can read, and to nothing less', async () => {
  const cases = [
    ['gzip, deflate, br, zstd', 'gzip, deflate, br, zstd'],
    ['gzip;q=1.0,br;q=0.5', 'gzip;q=1.0,br;q=0.5'],
    ['identity', 'identity'],
    ['', ''],
    ['gzip, compress, br', 'gzip, br'],
    ['dcb, dcz', 'identity'],
    ['GZIP, sdch;q=0.1', 'GZIP'],
    ['*', 'gzip, br, deflate, zstd'],
  ] as const
  for (const [asked, expected] of cases) {
    await exchange(gateway.port, 'GET', '/v1/models', { headers: [['Accept-Encoding', asked]] })
    assert.equal(last().header('accept-encoding'), expected, asked)
  }
  await exchange(gateway.port, 'GET', '/v1/models')
  assert.equal(last().header('accept-encoding'), undefined)
})

test('Expect: 100-continue is answered here, before the body, and not passed on', async () => {
  await using client = await openRawClient(gateway.port)
  const head = 'POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n'
  await client.send(`${head}Expect: 100-continue\r\n\r\n`)
  assert.equal((await client.response('POST')).status, 100)
  await client.send('{}')
  assert.equal((await client.response('POST')).status, 200)
  assert.equal(last().body.toString(), '{}')
  assert.deepEqual(passedOn(last()), [])
  await client.send(`${head}Expect: something-else\r\n\r\n{}`)
  assert.equal((await client.response('POST')).status, 200, 'an expectation that is not known is ignored')
  assert.deepEqual(passedOn(last()), [])
})
