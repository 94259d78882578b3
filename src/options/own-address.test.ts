import assert from 'node:assert/strict'
import { hostname } from 'node:os'
import { test } from 'node:test'
import { isOwnAddress } from './own-address.ts'

const addresses = [
  ['http://localhost:9118/v1', true],
  ['http://LOCALHOST:9118', true],
  ['http://localhost.:9118', true],
  ['http://a.localhost:9118', true],
  ['http://127.0.0.1:9118', true],
  ['http://127.1:9118', true],
  ['http://2130706433:9118', true],
  ['http://127.9.9.9:9118/', true],
  ['http://0.0.0.0:9118', true],
  ['http://0:9118', true],
  ['http://[::1]:9118', true],
  ['http://[::]:9118', true],
  ['http://[::ffff:127.0.0.1]:9118', true],
  [`http://${hostname()}:9118`, true],
  ['http://localhost:9119', false],
  ['http://localhost:0', false],
  ['http://localhost', false],
  ['http://example.com:9118', false],
  ['http://notlocalhost:9118', false],
  ['http://128.0.0.1:9118', false],
] as const

for (const [url, expected] of addresses) {
  test(`${url} ${expected ? 'is' : 'is not'} our own address`, () => {
    assert.equal(isOwnAddress(url, [9090, 9118]), expected)
  })
}

test('the ports of schemes count', () => {
  assert.ok(isOwnAddress('http://localhost', [80]))
  assert.ok(isOwnAddress('https://localhost', [443]))
  assert.ok(!isOwnAddress('https://localhost', [80]))
})

test('port 0 is nobody’s', () => {
  assert.ok(!isOwnAddress('http://localhost:0', [0]))
})
