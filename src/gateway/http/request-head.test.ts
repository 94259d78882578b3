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

for (const host of ['a, b', 'user@host', 'host/path', '', 'a b', 'host:port', '[::1', 'host:123456']) {
  test(`the Host ${JSON.stringify(host)} is refused`, () => {
    assert.match(read('Host', host).flaw ?? '', /Host/)
  })
}

for (const host of ['localhost:9090', '127.0.0.1', '[::1]:9090', 'api.example.com', 'my_host:']) {
  test(`the Host ${JSON.stringify(host)} is plain`, () => {
    assert.equal(read('Host', host).host, host)
    assert.equal(read('Host', host).flaw, null)
  })
}

test('two Hosts, or framing that can be read in two ways, are flaws', () => {
  assert.match(read('Host', 'a', 'host', 'a').flaw ?? '', /more than one Host/)
  assert.match(
    read('Host', 'a', 'Transfer-Encoding', '', 'Content-Length', '3').flaw ?? '',
    /Transfer-Encoding/,
  )
  assert.match(read('Host', 'a', 'Transfer-Encoding', 'chunked', 'Content-Length', '3').flaw ?? '', /beside/)
})

for (const coding of ['gzip, chunked', 'chunked, chunked', 'xchunked', 'identity']) {
  test(`the Transfer-Encoding ${coding} is refused, also in lines of its own`, () => {
    assert.match(read('Host', 'a', 'Transfer-Encoding', coding).flaw ?? '', /not chunked alone/)
    const lines = coding.split(', ').flatMap((part) => ['Transfer-Encoding', part])
    assert.match(read('Host', 'a', ...lines).flaw ?? '', /not chunked alone/)
  })
}

test('HTTP/1.1 needs a Host, HTTP/1.0 does not, and other versions are refused', () => {
  const flawOf = (raw: readonly string[], version: string): string | null =>
    new RequestHead(raw, version).flaw
  assert.equal(flawOf([], '1.0'), null)
  assert.match(flawOf([], '1.1') ?? '', /no Host/)
  assert.equal(flawOf(['Host', 'a'], '1.1'), null)
  const coded = ['Host', 'a', 'Transfer-Encoding', 'chunked']
  assert.equal(flawOf(coded, '1.1'), null)
  assert.match(flawOf(coded, '1.0') ?? '', /no place in HTTP\/1\.0/)
  for (const version of ['0.9', '2.0']) assert.match(flawOf(['Host', 'a'], version) ?? '', /neither HTTP/)
})

test('a header that only a proxy adds tells of one', () => {
  for (const name of [
    'X-Forwarded-For',
    'X-Forwarded-Host',
    'X-Forwarded-Proto',
    'X-Forwarded-Port',
    'Forwarded',
    'X-Real-IP',
    'Via',
  ]) {
    assert.equal(read('Host', 'a', name, '10.0.0.1').forwardedFor, true, name)
  }
  assert.equal(read('Host', 'a').forwardedFor, false)
})

test('the admin token is read, and goes no further', () => {
  const head = read('Host', 'a', 'X-Tokenweir-Admin-Token', 's3cret')
  assert.equal(head.adminToken, 's3cret')
  assert.deepEqual(head.endToEnd, [])
})

test("the dashboard's cookie, which a browser sends to every port, goes no further; others stay as they are", () => {
  const cookies = (value: string): readonly string[] => read('Host', 'a', 'Cookie', value).endToEnd
  assert.deepEqual(cookies('a=1;  b=2'), ['Cookie', 'a=1;  b=2'])
  assert.deepEqual(cookies('tokenweir_session_0a1b2c3d=9.x'), [])
  assert.deepEqual(cookies('tokenweir_session_0a1b2c3d=9.x; a=1'), ['Cookie', 'a=1'])
  assert.deepEqual(cookies('a=1; tokenweir_session_0a1b2c3d=9.x;b=2'), ['Cookie', 'a=1;b=2'])
  assert.deepEqual(cookies('a=tokenweir_session'), ['Cookie', 'a=tokenweir_session'])
})
