import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clientOrigin } from './reachable-origin.ts'

test('a client of this machine gets localhost, unless the gateway listens on one other address alone', () => {
  for (const host of ['0.0.0.0', '::', '127.0.0.1', '::1'])
    assert.equal(clientOrigin(host, 9090), 'http://localhost:9090')
  assert.equal(clientOrigin('192.168.1.5', 9090), 'http://192.168.1.5:9090')
  assert.equal(clientOrigin('127.0.0.2', 9090), 'http://127.0.0.2:9090')
  assert.equal(clientOrigin('fd00::5', 9090), 'http://[fd00::5]:9090')
})
