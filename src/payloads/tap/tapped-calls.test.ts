import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { RawAnswer, RawRequest } from '../record/raw-payload.ts'
import type { TapItem } from './tap-batch.ts'
import { TappedCalls } from './tapped-calls.ts'

const begin: TapItem = {
  kind: 'begin',
  tap: 1,
  callId: 77,
  wallTimeMs: 1000,
  method: 'POST',
  path: '/v1/x',
  headers: ['A', 'b'],
}
const requestEnd: TapItem = {
  kind: 'requestEnd',
  tap: 1,
  wallTimeMs: 1001,
  totalBytes: 10_000,
  truncated: true,
  model: 'm',
  stream: true,
}
const ended: TapItem = {
  kind: 'ended',
  tap: 1,
  wallTimeMs: 1002,
  totalBytes: 6,
  truncated: false,
  outcome: 'ok',
  failureCode: null,
  durationMs: 2,
  model: 'm',
  stream: true,
  chunkOffsetsMs: [1, 2.5],
}

function head(contentType: string): TapItem {
  return { kind: 'answerHead', tap: 1, status: 201, headers: ['Content-Type', contentType] }
}

function requestData(text: string): TapItem {
  return { kind: 'requestData', tap: 1, data: Buffer.from(text) }
}

function answerData(text: string): TapItem {
  return { kind: 'answerData', tap: 1, data: Buffer.from(text) }
}

function collect(isHeld: boolean = false): {
  calls: TappedCalls
  requests: RawRequest[]
  answers: RawAnswer[]
} {
  const requests: RawRequest[] = []
  const answers: RawAnswer[] = []
  const calls = new TappedCalls(
    { kind: 'all' },
    {
      started: () => {},
      request: (call, raw) => {
        requests.push(raw)
        if (isHeld) call.keepRequest = () => {}
      },
      answer: (_, raw) => answers.push(raw),
    },
  )
  return { calls, requests, answers }
}

function textOf({ bytes }: RawRequest): string {
  return bytes.toString()
}

describe('records are put together', () => {
  test('from pieces, though a request ends after its answer has begun', () => {
    const { calls, requests, answers } = collect()
    for (const item of [
      begin,
      requestData('ab'),
      head('text/event-stream; charset=utf-8'),
      answerData('one'),
      requestData('cd'),
      requestEnd,
      answerData('t'),
      answerData('wo'),
      ended,
    ]) {
      calls.take(item)
    }
    assert.equal(textOf(requests[0]!), 'abcd')
    assert.deepEqual([requests[0]?.totalBytes, requests[0]?.truncated], [10_000, true])
    assert.equal(textOf(answers[0]!), 'onetwo')
    const { status, model, stream, chunkOffsetsMs, headers } = answers[0]!
    assert.deepEqual([status, model, stream, chunkOffsetsMs], [201, 'm', true, [1, 2.5]])
    assert.deepEqual(headers, ['Content-Type', 'text/event-stream; charset=utf-8'])
  })

  test('of a call that never got an answer: no status', () => {
    const { calls, answers } = collect()
    for (const item of [begin, requestEnd, { ...ended, outcome: 'client_disconnected' }]) calls.take(item)
    assert.deepEqual(
      [answers[0]?.status, answers[0]?.outcome, answers[0]?.bytes.length],
      [null, 'client_disconnected', 0],
    )
  })

  test('what comes of a call that did not begin here is left alone', () => {
    const { calls, requests, answers } = collect()
    for (const item of [requestEnd, head('x'), answerData('x'), ended]) calls.take(item)
    assert.deepEqual([requests, answers, calls.heldBytes], [[], [], 0])
  })
})

describe('what is held is known', () => {
  const data = requestData('x'.repeat(100_000))

  test('a request is given up when its record is made, all else when the call ends', () => {
    const { calls } = collect()
    calls.take(begin)
    calls.take(data)
    assert.ok(calls.heldBytes >= 100_000)
    calls.take(requestEnd)
    assert.ok(calls.heldBytes > 0 && calls.heldBytes < 10_000)
    for (let at = 0; at < 20_000; at++) calls.take(answerData('x'))
    assert.ok(calls.heldBytes > 20_000 && calls.heldBytes < 100_000)
    calls.take(ended)
    assert.equal(calls.heldBytes, 0)
  })

  test('a request that is held back stays until the call ends', () => {
    const { calls, requests } = collect(true)
    for (const item of [begin, data, requestEnd]) calls.take(item)
    assert.ok(calls.heldBytes >= 100_000)
    assert.equal(textOf(requests[0]!).length, 100_000)
    calls.take(ended)
    assert.equal(calls.heldBytes, 0)
  })
})
