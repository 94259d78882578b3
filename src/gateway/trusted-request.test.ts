import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HeaderNames } from '../lib/header-list.ts'
import { readRequestHead } from './request-head.ts'
import { isAllowedHost, isCrossSite, isFromThisMachine } from './trusted-request.ts'

const head = (...raw: string[]) => readRequestHead(raw, new HeaderNames(), (value) => value)

const loopbackPeers = ['127.0.0.1', '::1', '::ffff:127.0.0.1']

for (const peer of loopbackPeers) {
  test(`a request from ${peer} to a loopback name is from this machine`, () => {
    assert.equal(isFromThisMachine(head('Host', 'localhost:9090'), peer), true)
    assert.equal(isFromThisMachine(head('Host', '[::1]:9090'), peer), true)
  })
}

test('another peer, another name or a proxy between makes it foreign', () => {
  assert.equal(isFromThisMachine(head('Host', 'localhost'), '192.168.1.5'), false)
  assert.equal(isFromThisMachine(head('Host', 'localhost'), undefined), false)
  assert.equal(isFromThisMachine(head('Host', 'rebound.example'), '127.0.0.1'), false)
  assert.equal(isFromThisMachine(head(), '127.0.0.1'), false)
  for (const name of ['X-Forwarded-For', 'Forwarded', 'X-Real-IP', 'Via']) {
    assert.equal(isFromThisMachine(head('Host', 'localhost', name, '10.0.0.1'), '127.0.0.1'), false)
  }
})

test('own routes are open under loopback names, addresses and allowed names', () => {
  for (const host of ['localhost:9090', '127.0.0.1', '[::1]:9090', '192.168.1.5:9090', 'Gateway.example:1']) {
    assert.equal(isAllowedHost(host, ['gateway.example']), true, host)
  }
  for (const host of ['evil.example', 'localhost.evil.example', '127.0.0.1.evil.example', '1.2.3.4.5']) {
    assert.equal(isAllowedHost(host, ['gateway.example']), false, host)
  }
})

test('a browser tells on other sites', () => {
  assert.equal(isCrossSite(head('Host', 'a', 'Sec-Fetch-Site', 'cross-site')), true)
  assert.equal(isCrossSite(head('Host', 'a', 'Sec-Fetch-Site', 'same-origin')), false)
  assert.equal(isCrossSite(head('Host', 'a')), false)
  assert.equal(isCrossSite(head('Host', 'localhost:9090', 'Origin', 'http://localhost:9090')), false)
  assert.equal(isCrossSite(head('Host', 'localhost:9090', 'Origin', 'http://localhost:9118')), true)
  assert.equal(isCrossSite(head('Host', 'localhost:9090', 'Origin', 'null')), true)
})
