import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type RequestSource,
  isAllowedHost,
  isCrossSite,
  isFromThisMachine,
  isLoopbackBind,
} from './request-source.ts'

function from(source: Partial<RequestSource>): RequestSource {
  return { host: 'localhost', origin: null, secFetchSite: null, forwardedFor: false, ...source }
}

const loopbackPeers = ['127.0.0.1', '::1', '::ffff:127.0.0.1']

for (const peer of loopbackPeers) {
  test(`a request from ${peer} to a loopback name is from this machine`, () => {
    assert.equal(isFromThisMachine(from({ host: 'localhost:9090' }), peer), true)
    assert.equal(isFromThisMachine(from({ host: '[::1]:9090' }), peer), true)
  })
}

test('another peer, another name or a proxy between makes it foreign', () => {
  assert.equal(isFromThisMachine(from({}), '192.168.1.5'), false)
  assert.equal(isFromThisMachine(from({}), undefined), false)
  assert.equal(isFromThisMachine(from({ host: 'rebound.example' }), '127.0.0.1'), false)
  assert.equal(isFromThisMachine(from({ host: null }), '127.0.0.1'), false)
  assert.equal(isFromThisMachine(from({ forwardedFor: true }), '127.0.0.1'), false)
})

test('own routes are open under loopback names, addresses and allowed names', () => {
  for (const host of ['localhost:9090', '127.0.0.1', '[::1]:9090', '192.168.1.5:9090', 'Gateway.example:1']) {
    assert.equal(isAllowedHost(host, ['gateway.example']), true, host)
  }
  const foreign = ['evil.example', 'localhost.evil.example', '127.0.0.1.evil.example', '1.2.3.4.5', 'x:y:80']
  for (const host of foreign) {
    assert.equal(isAllowedHost(host, ['gateway.example']), false, host)
  }
})

test('a browser tells on other sites', () => {
  assert.equal(isCrossSite(from({ secFetchSite: 'cross-site' })), true)
  assert.equal(isCrossSite(from({ secFetchSite: 'same-site' })), true)
  assert.equal(isCrossSite(from({ secFetchSite: 'same-origin' })), false)
  assert.equal(isCrossSite(from({})), false)
  assert.equal(isCrossSite(from({ host: 'localhost:9090', origin: 'http://localhost:9090' })), false)
  assert.equal(isCrossSite(from({ host: 'localhost:9090', origin: 'http://localhost:9118' })), true)
  assert.equal(isCrossSite(from({ host: 'localhost:9090', origin: 'null' })), true)
})

test('only loopback addresses keep a listener to this machine', () => {
  for (const address of ['127.0.0.1', '127.1.2.3', '::1', 'localhost']) {
    assert.equal(isLoopbackBind(address), true, address)
  }
  for (const address of ['0.0.0.0', '::', '192.168.1.5', 'host.example', '128.0.0.1']) {
    assert.equal(isLoopbackBind(address), false, address)
  }
})
