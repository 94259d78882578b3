import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type AnswerHead, readAnswerHead } from './answer-form.ts'

const forms: readonly [contentType: string, form: AnswerHead['form']][] = [
  ['application/json', 'json'],
  ['Application/JSON; charset=utf-8', 'json'],
  ['application/problem+json', 'json'],
  ['text/event-stream;charset=utf-8', 'events'],
  ['text/plain', 'text'],
  ['text/html', 'page'],
  ['audio/mpeg', 'opaque'],
  ['', 'opaque'],
]

for (const [contentType, form] of forms) {
  test(`a body of the type ${JSON.stringify(contentType)} is read as ${form}`, () => {
    assert.equal(readAnswerHead(['content-type', contentType]).form, form)
  })
}

test('without headers nothing is known', () => {
  assert.deepEqual(readAnswerHead([]), {
    form: null,
    coding: null,
    upstreamRequestId: null,
    isLlamaCpp: false,
    cost: null,
  })
})

for (const name of ['X-Request-Id', 'request-id', 'apim-request-id', 'x-generation-id', 'x-amzn-RequestId']) {
  test(`${name} is the upstream's id of the request`, () => {
    assert.equal(readAnswerHead(['x-other', 'o', name, 'id-1', 'date', 'd']).upstreamRequestId, 'id-1')
  })
}

test('of several ids the better known counts, wherever it stands, unless it is empty', () => {
  const ids = ['x-ds-trace-id', 'd', 'request-id', 'r', 'mistral-correlation-id', 'm', 'x-request-id', '']
  assert.equal(readAnswerHead(ids).upstreamRequestId, 'r')
})

test('an id is cut to 200 characters', () => {
  assert.equal(readAnswerHead(['request-id', 'r'.repeat(999)]).upstreamRequestId?.length, 200)
})

const codings: readonly [headers: readonly string[], coding: string | null][] = [
  [['content-encoding', ' GZip '], 'gzip'],
  [['content-encoding', 'identity'], null],
  [['content-encoding', 'identity', 'Content-Encoding', 'br'], 'br'],
  [['content-encoding', 'gzip', 'content-encoding', 'br'], 'gzip, br'],
]

for (const [headers, coding] of codings) {
  test(`${headers.join(': ')} is the coding ${coding}`, () => {
    assert.equal(readAnswerHead(headers).coding, coding)
  })
}

for (const [server, isLlamaCpp] of [
  ['llama.cpp', true],
  ['nginx', false],
] as const) {
  test(`the server ${server} is ${isLlamaCpp ? '' : 'not '}llama.cpp`, () => {
    assert.equal(readAnswerHead(['date', 'd', 'Server', server]).isLlamaCpp, isLlamaCpp)
  })
}
