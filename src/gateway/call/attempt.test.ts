import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RequestHead } from '../http/request-head.ts'
import { HeldBody } from '../http/request-body.ts'
import { parseUpstreamBase } from '../http/target.ts'
import type { Upstream } from '../upstream/upstream.ts'
import { type Destination, attemptOf, keyHeader } from './attempt.ts'
import type { RunningCall } from './running-call.ts'

for (const [host, header] of [
  ['api.openai.com', ['Authorization', 'Bearer k']],
  ['api.anthropic.com', ['x-api-key', 'k']],
  ['api.anthropic.com.example', ['Authorization', 'Bearer k']],
] as const) {
  test(`the key is lent to ${host} as ${header[0]}`, () => assert.deepEqual(keyHeader('k', host), header))
}

test('without a key no header is lent', () => {
  assert.deepEqual([keyHeader(null, 'a'), keyHeader('', 'a')], [[], []])
})

function destination(url: string, key: string): Destination {
  const base = parseUpstreamBase(url)
  return { upstream: {} as Upstream, base, keyHeader: keyHeader(key, base.host), withhold: null }
}

test('an attempt elsewhere carries nothing of the one before: neither path, nor key, nor a second Via', () => {
  const raw = ['Host', 'a', 'Accept', '*/*']
  const head = new RequestHead(raw, '1.1')
  const first = destination('https://api.openai.com/v1', 'one')
  const second = destination('https://api.anthropic.com', 'two')
  const running = {
    record: { method: 'GET', clientRetry: null },
    arrived: { head, target: { path: '/v1/models', query: '' } },
    borrowsKey: true,
  }
  const at = (to: Destination) => {
    const call = { ...running, destination: to } as unknown as RunningCall
    const attempt = attemptOf(call, new HeldBody({} as never), ['Via', '1.1 weir'])
    return [attempt.upstream === to.upstream, attempt.path, ...attempt.headers]
  }
  const via = ['Via', '1.1 weir']
  assert.deepEqual(at(first), [true, '/v1/models', 'Accept', '*/*', 'Authorization', 'Bearer one', ...via])
  assert.deepEqual(at(second), [true, '/v1/models', 'Accept', '*/*', 'x-api-key', 'two', ...via])
  assert.deepEqual(head.endToEnd, ['Accept', '*/*'])
})
