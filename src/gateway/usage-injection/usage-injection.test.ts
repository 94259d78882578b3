import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock } from '../../../test/support/fake-clock.ts'
import type { AnswerSink } from '../http/client-response.ts'
import { RequestPeek } from '../http/request-peek.ts'
import { UsageInjection } from './usage-injection.ts'

const chat = '/v1/chat/completions'
const bytes = Buffer.from('{"model":"m","stream":true}')
const request = {
  method: 'POST',
  path: chat,
  headers: [],
  body: [bytes],
  bodyBytes: bytes.length,
  freshConnection: false,
}
const client: AnswerSink = { head: () => {}, write: () => true, end: () => {} }

function asks(injection: UsageInjection, path: string): boolean {
  const peek = new RequestPeek()
  peek.push(bytes)
  return injection.ask(path, peek.result(), request, client) !== null
}

test('an upstream that refused on a path is asked there again after a week', async () => {
  const clock = new FakeClock()
  const injection = new UsageInjection(true, clock)
  assert.deepEqual([asks(injection, chat), asks(injection, '/v1/completions')], [true, true])
  injection.refused(chat)
  await clock.advance(7 * 24 * 3_600_000 - 1)
  assert.deepEqual([asks(injection, chat), asks(injection, '/v1/completions')], [false, true])
  await clock.advance(1)
  assert.equal(asks(injection, chat), true)
})

test('a refusal that had another reason is forgotten, and nobody is asked where injection is off', () => {
  const injection = new UsageInjection(true, new FakeClock())
  injection.refused(chat)
  injection.refusedAnyway(chat)
  assert.equal(asks(injection, chat), true)
  assert.equal(asks(new UsageInjection(false, new FakeClock()), chat), false)
})
