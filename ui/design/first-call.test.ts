import assert from 'node:assert/strict'
import { test } from 'node:test'
import { baseUrlOf, firstCall } from './first-call.ts'

test('the gateway on all addresses is found where the dashboard was', () => {
  assert.equal(baseUrlOf({ host: '0.0.0.0', port: 9090 }, 'box.local'), 'http://box.local:9090/v1')
  assert.equal(baseUrlOf({ host: '127.0.0.1', port: 18_000 }, 'localhost'), 'http://127.0.0.1:18000/v1')
  assert.equal(baseUrlOf({ host: '::1', port: 9090 }, 'localhost'), 'http://[::1]:9090/v1')
  assert.equal(baseUrlOf(null, '[::1]'), 'http://[::1]:9090/v1')
})

test('the command is one that a shell takes', () => {
  const [first = '', ...rest] = firstCall('http://localhost:9090/v1').split('\n')
  assert.equal(first, String.raw`curl http://localhost:9090/v1/chat/completions \ `.trimEnd())
  const body = /-d '(.*)'$/.exec(rest.at(-1) ?? '')?.[1] ?? ''
  assert.equal((JSON.parse(body) as { model: string }).model, 'gpt-5-mini')
})
