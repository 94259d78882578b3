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

test("the dashboard's cookie, which a browser sends to every port, goes no further; others stay as they are", () => {
  const cookies = (value: string): readonly string[] => read('Host', 'a', 'Cookie', value).endToEnd
  assert.deepEqual(cookies('a=1;  b=2'), ['Cookie', 'a=1;  b=2'])
  assert.deepEqual(cookies('tokenweir_session_0a1b2c3d=9.x'), [])
  assert.deepEqual(cookies('tokenweir_session_0a1b2c3d=9.x; a=1'), ['Cookie', 'a=1'])
  assert.deepEqual(cookies('a=1; tokenweir_session_0a1b2c3d=9.x;b=2'), ['Cookie', 'a=1;b=2'])
  assert.deepEqual(cookies('a=tokenweir_session'), ['Cookie', 'a=tokenweir_session'])
})
