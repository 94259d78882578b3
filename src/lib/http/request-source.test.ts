import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isLoopbackAddress, isLoopbackBind } from './request-source.ts'

test('loopback addresses, and no others', () => {
  for (const address of ['127.0.0.1', '127.8.9.1', '::1', '::ffff:127.0.0.1']) {
    assert.equal(isLoopbackAddress(address), true, address)
  }
  for (const address of ['192.0.2.1', '::ffff:192.0.2.1', 'fe80::1', '128.0.0.1', '::2']) {
    assert.equal(isLoopbackAddress(address), false, address)
  }
})

test('only loopback addresses keep a listener to this machine', () => {
  for (const address of ['127.0.0.1', '127.1.2.3', '::1', 'localhost']) {
    assert.equal(isLoopbackBind(address), true, address)
  }
  for (const address of ['0.0.0.0', '::', '192.168.1.5', 'host.example', '128.0.0.1']) {
    assert.equal(isLoopbackBind(address), false, address)
  }
})
