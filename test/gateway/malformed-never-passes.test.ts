import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { exchange } from '../support/exchange.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { asRecord, parseRecord } from '../support/json-record.ts'
import { openRawClient } from '../support/raw-client.ts'
import { parseRawResponse } from '../support/raw-response.ts'
import { rowOf } from '../support/recorded-calls.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'

const upstream = await startSimulatedUpstream()
const gateway = await startGatewayProcess({ upstream: upstream.origin })
after(async () => {
  await gateway[Symbol.asyncDispose]()
  await upstream.close()
})

const path = '/v1/chat/completions'
const start = `POST ${path} HTTP/1.1\r\nHost: localhost\r\n`
const chunked = `${start}Transfer-Encoding: chunked\r\n\r\n`

/** Requests that no two servers need read alike (RFC 9112), each with what is wrong about it. */
const malformed: Readonly<Record<string, string>> = {
  'no request line': '\r\n\r\n\r\nhello\r\n\r\n',
  'a TLS hello': '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n',
  'HTTP/2 preface': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'no version': `POST ${path}\r\nHost: localhost\r\n\r\n`,
  'HTTP/2.0': `POST ${path} HTTP/2.0\r\nHost: localhost\r\n\r\n`,
  'HTTP/0.9 version': `GET ${path} HTTP/0.9\r\nHost: localhost\r\n\r\n`,
  'HTTP/1.10': `GET ${path} HTTP/1.10\r\nHost: localhost\r\n\r\n`,
  'a version in lower case': `GET ${path} http/1.1\r\nHost: localhost\r\n\r\n`,
  'a method in lower case': `post ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`,
  'a method that is unknown': `PO ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`,
  'a method that is no token': `P(ST ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`,
  'a space in the target': 'POST /v1/chat completions HTTP/1.1\r\nHost: localhost\r\n\r\n',
  'a tab in the request line': `POST\t${path}\tHTTP/1.1\r\nHost: localhost\r\n\r\n`,
  'a target beyond ASCII': 'GET /v1/models/\xe9 HTTP/1.1\r\nHost: localhost\r\n\r\n',
  'a control character in the target': 'GET /v1/models/\x01 HTTP/1.1\r\nHost: localhost\r\n\r\n',
  'NUL in the target': 'GET /v1/models/\x00 HTTP/1.1\r\nHost: localhost\r\n\r\n',
  'line feeds alone': `POST ${path} HTTP/1.1\nHost: localhost\n\n`,
  'a line feed alone in the head': `${start}X-A: 1\nX-B: 2\r\n\r\n`,
  'a carriage return alone in a value': `${start}X-A: 1\rX-B: 2\r\n\r\n`,
  'no Host': `POST ${path} HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}`,
  'two Hosts': `${start}Host: localhost\r\nContent-Length: 2\r\n\r\n{}`,
  'two different Hosts': `${start}Host: elsewhere.example\r\nContent-Length: 2\r\n\r\n{}`,
  'a folded header': `${start}X-A: 1\r\n  folded\r\nContent-Length: 2\r\n\r\n{}`,
  'a space before the colon': `${start}X-A : 1\r\nContent-Length: 2\r\n\r\n{}`,
  'a header without a colon': `${start}X-A\r\nContent-Length: 2\r\n\r\n{}`,
  'a header without a name': `${start}: 1\r\nContent-Length: 2\r\n\r\n{}`,
  'a header name beyond ASCII': `${start}X-\xe9: 1\r\nContent-Length: 2\r\n\r\n{}`,
  'NUL in a value': `${start}X-A: a\x00b\r\nContent-Length: 2\r\n\r\n{}`,
  'a space before the first header': `POST ${path} HTTP/1.1\r\n Host: localhost\r\n\r\n`,
  'a length that is no number': `${start}Content-Length: two\r\n\r\n{}`,
  'a negative length': `${start}Content-Length: -2\r\n\r\n{}`,
  'a length with a sign': `${start}Content-Length: +2\r\n\r\n{}`,
  'a length in hexadecimal': `${start}Content-Length: 0x2\r\n\r\n{}`,
  'a length with a fraction': `${start}Content-Length: 2.0\r\n\r\n{}`,
  'an empty length': `${start}Content-Length:\r\n\r\n{}`,
  'a list of lengths': `${start}Content-Length: 2, 2\r\n\r\n{}`,
  'two lengths': `${start}Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}`,
  'two different lengths': `${start}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`,
  'a length beyond all bounds': `${start}Content-Length: 99999999999999999999999\r\n\r\n{}`,
  'length and coding': `${start}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  'coding and length': `${start}Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n0\r\n\r\n`,
  'an empty coding beside a length': `${start}Transfer-Encoding:\r\nContent-Length: 2\r\n\r\n{}`,
  'an empty coding': `${start}Transfer-Encoding:\r\n\r\n`,
  'an unknown coding': `${start}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`,
  'gzip, then chunked': `${start}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
  'gzip and chunked in two lines': `${start}Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  'chunked, then gzip': `${start}Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n`,
  'chunked twice': `${start}Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n`,
  'chunked in two lines': `${start}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  'chunked with a vertical tab': `${start}Transfer-Encoding: \vchunked\r\n\r\n0\r\n\r\n`,
  'identity coding': `${start}Transfer-Encoding: identity\r\nContent-Length: 2\r\n\r\n{}`,
  'a chunk size that is none': `${chunked}xyz\r\nabc\r\n0\r\n\r\n`,
  'an empty chunk size': `${chunked}\r\nabc\r\n0\r\n\r\n`,
  'a negative chunk size': `${chunked}-1\r\nabc\r\n0\r\n\r\n`,
  'a chunk size with 0x': `${chunked}0x3\r\nabc\r\n0\r\n\r\n`,
  'a chunk size beyond all bounds': `${chunked}fffffffffffffffff\r\nabc\r\n0\r\n\r\n`,
  'a chunk longer than its size': `${chunked}2\r\nabc\r\n0\r\n\r\n`,
  'a chunk that ends with a line feed alone': `${chunked}3\nabc\n0\n\n`,
  'a chunk extension with a line feed': `${chunked}3;a\nb\r\nabc\r\n0\r\n\r\n`,
  'a head of 100 KB': `${start}X-A: ${'a'.repeat(100_000)}\r\n\r\n`,
  'a target of 100 KB': `GET /v1/models?${'a'.repeat(100_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`,
  'thirty thousand headers': `${start}${'a: b\r\n'.repeat(30_000)}\r\n`,
}

/** A whole request behind the malformed one, which must never be taken for a second one. */
const smuggled = 'GET /v1/smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n'

/** What is said of the answer to a malformed request; `null` where all is well. */
async function complaintOf(text: string): Promise<string | null> {
  await using client = await openRawClient(gateway.port)
  await client.send(Buffer.from(text + smuggled, 'latin1'))
  await client.waitForServerEnd()
  const response = parseRawResponse(client.received, 'POST')
  if (response === undefined) return 'no answer'
  const error = asRecord(parseRecord(response.body.toString())['error'])
  const said = `${response.status} ${response.header('x-tokenweir-error')} ${String(error['code'])}`
  if (said !== '400 invalid_request invalid_request') return said
  if (response.header('connection') !== 'close') return 'the connection is said to go on'
  return client.received.length === response.byteLength ? null : 'a second answer'
}

test('what is malformed is refused in our words, never reaches the upstream, and ends the connection', async () => {
  const complaints: string[] = []
  let seen = 0
  for (const [what, text] of Object.entries(malformed)) {
    const complaint = await complaintOf(text).catch(String)
    if (complaint !== null) complaints.push(`${what}: ${complaint}`)
    for (const { method, target } of upstream.requests.slice(seen)) {
      complaints.push(`${what}: ${method} ${target} was forwarded`)
    }
    seen = upstream.requests.length
  }
  assert.deepEqual(complaints, [])
})

test('a body whose framing breaks is refused where it is read whole and where it is streamed, and recorded', async () => {
  for (const target of [path, '/v1/files']) {
    await using client = await openRawClient(gateway.port)
    const head = `POST ${target} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n`
    await client.send(`${head}2\r\n{}\r\n`)
    if (target !== path)
      await upstream.waitFor('the first chunk', () => upstream.requests.at(-1)?.target === target)
    await client.send('nonsense\r\n')
    await client.waitForServerEnd()
    const response = parseRawResponse(client.received, 'POST')
    assert.equal(response?.header('x-tokenweir-error'), 'invalid_request', target)
    const row = await rowOf(gateway, response)
    assert.deepEqual([row.outcome, row.failure_code, row.status], ['refused', 'invalid_request', 400], target)
  }
  const [streamed, ...more] = upstream.requests
  assert.deepEqual([streamed?.target, more.length], ['/v1/files', 0])
  assert.equal((await streamed!.connection.closed).by, 'client')
  assert.equal(streamed!.bodyEndAtMs, undefined, 'what was cut was not made to look whole')
})

test('a request that never ends is not forwarded, and leaves nothing behind', async () => {
  const unfinished = [
    'POST /v1/chat/comp',
    start,
    `${start}Content-Length: 10\r\n\r\n{}`,
    `${chunked}5\r\nab`,
    `${chunked}2\r\n{}\r\n`,
  ]
  const seen = upstream.requests.length
  for (const text of unfinished) {
    await using client = await openRawClient(gateway.port)
    await client.send(text)
    client.leave()
  }
  assert.equal((await exchange(gateway.port, 'GET', '/v1/models')).status, 200)
  assert.deepEqual(
    upstream.requests.slice(seen).map((request) => request.target),
    ['/v1/models'],
  )
})
