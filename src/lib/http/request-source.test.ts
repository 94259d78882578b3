import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type RequestSource,
  isAllowedHost,
  isCrossSite,
  isLoopbackAddress,
  isLoopbackBind,
  isProxyHeader,
  isToThisMachine,
} from './request-source.ts'

function from(source: Partial<RequestSource>): RequestSource {
  return { host: 'localhost', origin: null, secFetchSite: null, forwardedFor: false, ...source }
}

test('a request to a loopback name and through no proxy is one to this machine', () => {
  for (const host of ['localhost:9090', '[::1]:9090', '127.0.0.1', 'weir.localhost']) {
    assert.equal(isToThisMachine(from({ host })), true, host)
  }
  for (const host of ['rebound.example', '192.168.1.5', null]) {
    assert.equal(isToThisMachine(from({ host })), false, String(host))
  }
  assert.equal(isToThisMachine(from({ forwardedFor: true })), false)
})

test('proxies are known by their headers', () => {
  const added = ['via', 'forwarded', 'x-forwarded-for', 'x-forwarded-proto', 'x-real-ip', 'cf-connecting-ip']
  for (const name of [...added, 'true-client-ip', 'x-client-ip', 'x-envoy-external-address']) {
    assert.equal(isProxyHeader(name), true, name)
  }
  for (const name of ['x-client', 'x-request-id', 'x-stainless-lang', 'user-agent']) {
    assert.equal(isProxyHeader(name), false, name)
  }
})

test('loopback addresses, and no others', () => {
  for (const address of ['127.0.0.1', '127.8.9.1', '::1', '::ffff:127.0.0.1']) {
    assert.equal(isLoopbackAddress(address), true, address)
  }
  for (const address of ['192.0.2.1', '::ffff:192.0.2.1', 'fe80::1', '128.0.0.1', '::2']) {
    assert.equal(isLoopbackAddress(address), false, address)
  }
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
