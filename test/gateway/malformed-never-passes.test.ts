import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exchange } from '../support/exchange.ts'
import { fieldsOf } from '../support/fields-of.ts'
import { startGatewayOfFile } from '../support/gateway-of-file.ts'
import { complaintsOf } from '../support/gateway-state.ts'
import { asRecord, parseRecord } from '../support/json-record.ts'
import { openRawClient } from '../support/raw-client.ts'
import { parseRawResponse } from '../support/raw-response.ts'
import { rowOf } from '../support/recorded-calls.ts'
import { allVectors } from '../support/http-vectors/all-vectors.ts'
import type { HttpVector } from '../support/http-vectors/http-vector.ts'
import { type PlayedVector, differencesOf, playVector } from '../support/http-vectors/play-vector.ts'
import { until, write } from '../support/reply-step.ts'
import { chunkFrame, jsonReply, lastChunk, responseHead } from '../support/response-bytes.ts'

const { upstream, gateway } = await startGatewayOfFile({}, { reply: () => jsonReply(200, {}) })

const path = '/v1/chat/completions'
const start = `POST ${path} HTTP/1.1\r\nHost: localhost\r\n`
const chunked = `${start}Transfer-Encoding: chunked\r\n\r\n`
const limitMs = 5000

/** What is said of our own words in the answers to a vector. */
function wordsOf({ statuses }: HttpVector, { answers }: PlayedVector): readonly string[] {
  return answers
    .filter(({ status }) => status >= 400)
    .flatMap((answer) => {
      const wanted = ownCodes[statuses.at(-1) ?? 0]
      const code = asRecord(parseRecord(answer.body.toString())['error'])['code']
      const said = [answer.header('x-tokenweir-error'), code]
      return said.every((each) => each === wanted) ? [] : [`${said.join(' and ')}, not ${wanted}`]
    })
}

const ownCodes: Readonly<Record<number, string>> = {
  400: 'invalid_request',
  404: 'not_found',
  405: 'method_not_allowed',
  426: 'upgrade_not_supported',
}

test(`${allVectors.length} vectors: what is malformed is refused, never forwarded, and the last; what is odd passes`, async () => {
  const differences: string[] = []
  for (const vector of allVectors) {
    const played = await playVector(vector, { port: gateway.port, upstream, limitMs })
    for (const difference of [...differencesOf(vector, played), ...wordsOf(vector, played)]) {
      differences.push(`${vector.what} (RFC ${vector.rule}): ${difference}`)
    }
  }
  assert.deepEqual(differences, [])
})

test('each vector stands for itself', () => {
  const texts = new Set(allVectors.map(({ bytes }) => bytes))
  assert.equal(texts.size, allVectors.length)
  const refused = allVectors.filter(({ passes }) => passes.length === 0)
  assert.ok(refused.length >= 150, `${refused.length} are refused`)
  assert.equal(complaintsOf(gateway), '', 'none was a fault of ours')
})

test('a body whose framing breaks is refused where it is read whole and where it is streamed, and recorded', async () => {
  const seen = upstream.requests.length
  for (const target of [path, '/v1/files']) {
    await using client = await openRawClient(gateway.port)
    const head = `POST ${target} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n`
    await client.send(`${head}2\r\n{}\r\n`)
    if (target !== path)
      await upstream.waitFor('the first chunk', () => upstream.requests.at(-1)?.target === target)
    await client.send('nonsense\r\n')
    await client.waitForServerEnd()
    const response = parseRawResponse(client.received, 'POST')
    assert.equal(response?.header('x-tokenweir-error'), 'invalid_request', target)
    const row = await rowOf(gateway, response)
    assert.deepEqual([row.outcome, row.failure_code, row.status], ['refused', 'invalid_request', 400], target)
  }
  const [streamed, ...more] = upstream.requests.slice(seen)
  assert.deepEqual([streamed?.target, more.length], ['/v1/files', 0])
  assert.equal((await streamed!.connection.closed).by, 'client')
  assert.equal(streamed!.bodyEndAtMs, undefined, 'what was cut was not made to look whole')
})

test('a request that never ends is not forwarded, and leaves nothing behind', async () => {
  const unfinished = [
    'POST /v1/chat/comp',
    start,
    `${start}Content-Length: 10\r\n\r\n{}`,
    `${chunked}5\r\nab`,
    `${chunked}2\r\n{}\r\n`,
  ]
  const seen = upstream.requests.length
  for (const text of unfinished) {
    await using client = await openRawClient(gateway.port)
    await client.send(text)
    client.leave()
  }
  assert.equal((await exchange(gateway.port, 'GET', '/v1/models')).status, 200)
  assert.deepEqual(fieldsOf(upstream.requests.slice(seen), 'target'), ['/v1/models'])
})

test('what is malformed behind a call does the call no harm, however long that lasts', async () => {
  const gate = Promise.withResolvers<void>()
  const seen = upstream.requests.length
  upstream.replyOnce([
    write(responseHead(200, [['Transfer-Encoding', 'chunked']])),
    write(chunkFrame('{"choices":[{"message":{"role":"assistant","content":"begun ')),
    until(gate.promise),
    write(Buffer.concat([chunkFrame('ended"}}]}'), lastChunk()])),
  ])
  await using client = await openRawClient(gateway.port)
  // A length that counts characters instead of bytes is the common way to get here.
  await client.send(Buffer.from(`${start}Content-Length: 12\r\n\r\n{"a":"wéé"}`))
  await client.waitForBytes('begun')
  await client.send('more that is no request\r\n\r\n')
  gate.resolve()
  const answer = await client.response('POST')
  assert.deepEqual(
    [answer.status, answer.complete, answer.body.toString()],
    [200, true, '{"choices":[{"message":{"role":"assistant","content":"begun ended"}}]}'],
  )
  const refusal = await client.response('POST')
  assert.deepEqual([refusal.status, refusal.header('connection')], [400, 'close'])
  assert.equal(await client.waitForServerEnd(), 'fin')
  const row = await rowOf(gateway, answer)
  assert.deepEqual([row.outcome, upstream.requests.length - seen], ['ok', 1])
})

test('a malformed chunk of a body that is streamed through is a 400 also where it comes at once', async () => {
  await using client = await openRawClient(gateway.port)
  const head =
    'POST /v1/files HTTP/1.1\r\nHost: a\r\nContent-Type: audio/wav\r\nTransfer-Encoding: chunked\r\n'
  await client.send(`${head}\r\n5\r\nhello\r\nzz\r\nhello`)
  const answer = await client.response('POST')
  assert.deepEqual([answer.status, answer.header('x-tokenweir-error')], [400, 'invalid_request'])
  const { outcome, failure_code: code } = await rowOf(gateway, answer)
  assert.deepEqual([outcome, code], ['refused', 'invalid_request'])
})

test('the refusal of an unknown transfer coding arrives before the connection ends', async () => {
  await using client = await openRawClient(gateway.port)
  await client.send(`POST /v1/files HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n5\r\nhello\r\n`)
  assert.equal((await client.response('POST')).status, 400)
  assert.equal(await client.waitForServerEnd(), 'fin')
})
