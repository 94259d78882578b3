import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RequestHead } from './request-head.ts'

function read(...raw: string[]): RequestHead {
  return new RequestHead(raw, '1.1')
}

test('a body is announced by a length above zero or by a transfer coding', () => {
  assert.equal(read('Host', 'a').hasBody, false)
  assert.equal(read('Host', 'a', 'Content-Length', '0').hasBody, false)
  assert.equal(read('Host', 'a', 'Content-Length', '7').hasBody, true)
  assert.equal(read('Host', 'a', 'Transfer-Encoding', 'chunked').hasBody, true)
})

for (const host of ['localhost:9090', '127.0.0.1', '[::1]:9090', 'api.example.com', 'my_host:']) {
  test(`the Host ${JSON.stringify(host)} is plain`, () => {
    assert.equal(read('Host', host).host, host)
    assert.equal(read('Host', host).flaw, null)
  })
}

test('a header that only a proxy adds tells of one', () => {
  const ofProxies =
    'X-Forwarded-For X-Forwarded-Host X-Forwarded-Proto X-Forwarded-Port Forwarded X-Real-IP Via'
  for (const name of ofProxies.split(' '))
    assert.equal(read('Host', 'a', name, '10.0.0.1').forwardedFor, true, name)
  assert.equal(read('Host', 'a').forwardedFor, false)
})

test("the dashboard's cookie, which a browser sends to every port, goes no further; others stay as they are", () => {
  const cookies = (value: string): readonly string[] => read('Host', 'a', 'Cookie', value).endToEnd
  assert.deepEqual(cookies('a=1;  b=2'), ['Cookie', 'a=1;  b=2'])
  assert.deepEqual(cookies('tokenweir_session_0a1b2c3d=9.x'), [])
  assert.deepEqual(cookies('tokenweir_session_0a1b2c3d=9.x; a=1'), ['Cookie', 'a=1'])
  assert.deepEqual(cookies('a=1; tokenweir_session_0a1b2c3d=9.x;b=2'), ['Cookie', 'a=1;b=2'])
  assert.deepEqual(cookies('a=tokenweir_session'), ['Cookie', 'a=tokenweir_session'])
})

const codings: readonly [received: string, forwarded: string][] = [
  ['gzip,deflate, br;q=0.5 ,zstd', 'gzip,deflate, br;q=0.5 ,zstd'],
  ['compress;q=1, gzip;q=0.2', 'gzip;q=0.2'],
  ['br;q=1.0, *;q=0.1', 'br;q=1.0, gzip;q=0.1, deflate;q=0.1, zstd;q=0.1'],
  ['gzip, *;q=0', 'gzip, br;q=0, deflate;q=0, zstd;q=0'],
]

for (const [received, forwarded] of codings) {
  test(`${JSON.stringify(received)} is narrowed to ${JSON.stringify(forwarded)}`, () => {
    assert.deepEqual(read('Accept-Encoding', received).endToEnd, ['Accept-Encoding', forwarded])
  })
}

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const spanId = '00f067aa0ba902b7'
const sampled = { traceId, spanId }

const traceParents = [
  [`00-${traceId}-${spanId}-01`, sampled],
  [`00-${traceId}-${spanId}-00`, { traceId, spanId: null }],
  [`00-${traceId}-${spanId}-02`, { traceId, spanId: null }],
  [`00-${traceId}-${spanId}-ff`, sampled],
  [`01-${traceId}-${spanId}-01`, sampled],
  [`cc-${traceId}-${spanId}-01-what-the-future-brings`, sampled],
  [`cc-${traceId}-${spanId}-01.what-the-future-brings`, null],
  [`00-${traceId}-${spanId}-01-`, null],
  [`00-${traceId}-${spanId}-01-more`, null],
  [`ff-${traceId}-${spanId}-01`, null],
  [`00-${'0'.repeat(32)}-${spanId}-01`, null],
  [`00-${traceId}-${'0'.repeat(16)}-01`, null],
  [`00-${traceId.toUpperCase()}-${spanId}-01`, null],
  [`00-${traceId.slice(1)}-${spanId}-01`, null],
  [`00-${traceId}-${spanId}-1`, null],
  [`00-${traceId}-${spanId}`, null],
  [` 00-${traceId}-${spanId}-01`, null],
  [`00-${traceId}-${spanId}-01, 00-${traceId}-${spanId}-01`, null],
  ['', null],
] as const

for (const [header, expected] of traceParents) {
  test(`traceparent ${JSON.stringify(header)}`, () => {
    assert.deepEqual(read('traceparent', header).traceParent, expected)
  })
}
