/** Answers that have no end, and say nothing: what an upstream sends before an answer, and between its pieces. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { createServer } from 'node:tls'
import { exchange, requestBytes } from '../support/exchange.ts'
import { startGatewayOfFile } from '../support/gateway-of-file.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { complaintsOf, untilIdle } from '../support/gateway-state.ts'
import { openRawClient } from '../support/raw-client.ts'
import { recordedCalls, rowOf } from '../support/recorded-calls.ts'
import { type ReplyStep, write, writeEach } from '../support/reply-step.ts'
import { chunkFrame, jsonReply, responseHead } from '../support/response-bytes.ts'
import { selfSigned } from '../support/self-signed.ts'
import { makeTempDir } from '../support/temp-dir.ts'

const { upstream, gateway } = await startGatewayOfFile()

/** More than the kernel holds of both ends of a connection. */
const mostSentBytes = 32 * 2 ** 20
const pieceBytes = 16 * 1024

const path = '/v1/chat/completions'
const body = '{"model":"m","messages":[]}'
const chunkedHead = responseHead(200, [['Transfer-Encoding', 'chunked']])

interface Endless {
  readonly what: string
  readonly start: string | Buffer
  readonly piece: string | Buffer
}

const beforeHead: readonly Endless[] = [
  { what: 'a reason phrase', start: 'HTTP/1.1 200 ', piece: 'x'.repeat(pieceBytes) },
  { what: 'answers 102', start: '', piece: 'HTTP/1.1 102 Processing\r\n\r\n' },
  { what: 'large answers 103', start: '', piece: responseHead(103, [['Link', `<${'x'.repeat(9000)}>`]]) },
  { what: 'answers 100', start: '', piece: 'HTTP/1.1 100 Continue\r\n\r\n' },
  { what: 'a header', start: 'HTTP/1.1 200 OK\r\nX: ', piece: 'x'.repeat(pieceBytes) },
  { what: 'short headers', start: 'HTTP/1.1 200 OK\r\n', piece: 'a:\r\n'.repeat(pieceBytes / 4) },
  { what: 'spaces in a header', start: 'HTTP/1.1 200 OK\r\nX:', piece: ' '.repeat(pieceBytes) },
]
const afterHead: readonly Endless[] = [
  { what: 'an extension of a chunk', start: '5;', piece: 'x'.repeat(pieceBytes) },
  { what: 'zeros of a chunk size', start: '0', piece: '0'.repeat(pieceBytes) },
  { what: 'an extension after a piece', start: '2\r\n{}\r\n5;', piece: 'x'.repeat(pieceBytes) },
  { what: 'a trailer', start: '2\r\n{}\r\n0\r\nX: ', piece: 'x'.repeat(pieceBytes) },
]

/** Goes on for ever; `sent` is told how much. */
function* endless({ start, piece }: Endless, sent: { bytes: number }): Generator<ReplyStep> {
  yield write(start)
  for (;;) {
    sent.bytes += piece.length
    if (sent.bytes > mostSentBytes) throw new Error('sent without an end')
    yield write(piece)
  }
}

/** What a client gets of an endless answer, and its row. */
async function callOf(what: Endless) {
  const sent = { bytes: 0 }
  upstream.replyOnce({ steps: endless(what, sent) })
  await using client = await openRawClient(gateway.port)
  await client.send(requestBytes('POST', path, { body }))
  let answer = await client.response('POST')
  while (answer.status < 200) answer = await client.response('POST')
  const row = await rowOf(gateway, answer)
  const { by } = await upstream.requests.at(-1)!.connection.closed
  assert.equal(by, 'client', 'the gateway closes the connection')
  return { answer, row }
}

for (const each of beforeHead) {
  test(`${each.what} without an end becomes a 502`, async () => {
    const { answer, row } = await callOf(each)
    assert.deepEqual([answer.status, answer.header('x-tokenweir-error')], [502, 'upstream_protocol_error'])
    assert.deepEqual([row.outcome, row.failure_code], ['upstream_error', 'upstream_protocol_error'])
  })
}

for (const each of afterHead) {
  test(`${each.what} without an end breaks the answer off`, async () => {
    const { answer, row } = await callOf({
      ...each,
      start: Buffer.concat([chunkedHead, Buffer.from(each.start)]),
    })
    assert.deepEqual([answer.status, answer.complete], [200, false])
    assert.deepEqual([row.outcome, row.failure_code], ['upstream_cut', 'upstream_reset'])
  })
}

test('an unasked 100, and as many interim answers as are allowed, are followed by the answer', async () => {
  const interim = [
    'HTTP/1.1 100 Continue\r\n\r\n',
    ...Array.from({ length: 99 }, () => 'HTTP/1.1 102 Processing\r\n\r\n'),
  ]
  for (const pieces of [interim, [interim.join('')]]) {
    upstream.replyOnce([...writeEach(pieces), ...jsonReply(200, { id: 'x' })])
    const answer = await exchange(gateway.port, 'POST', path, { body })
    assert.deepEqual([answer.status, answer.body.toString()], [200, '{"id":"x"}'])
  }
})

test('framing between pieces, each time less than is allowed, passes for as long as it likes', async () => {
  const frame = chunkFrame('piece ', `;${'x'.repeat(60_000)}`)
  const count = 20
  upstream.replyOnce([
    write(chunkedHead),
    ...writeEach(Array.from({ length: count }, () => frame)),
    write('0\r\n\r\n'),
  ])
  const answer = await exchange(gateway.port, 'POST', path, { body })
  assert.deepEqual([answer.complete, answer.body.toString()], [true, 'piece '.repeat(count)])
})

test('hints without an end to a client that reads nothing end, too', async () => {
  const piece = responseHead(103, [['Link', `<${'x'.repeat(600)}>; rel=preload`]])
  const seen = upstream.requests.length
  upstream.replyOnce({ steps: endless({ what: 'hints', start: '', piece }, { bytes: 0 }) })
  await using client = await openRawClient(gateway.port)
  client.stopReading()
  await client.send(requestBytes('POST', path, { body }))
  await upstream.waitFor(
    'its connection is closed',
    () => upstream.requests[seen]?.connection.end?.by === 'client',
  )
  await untilIdle(gateway)
})

test('over TLS it is the same', async () => {
  await using dir = await makeTempDir()
  const { key, cert, file } = selfSigned(dir.path)
  const server = createServer({ key, cert }, (socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => {
      Readable.from(endless(beforeHead[0]!, { bytes: 0 }), { highWaterMark: 1 })
        .map((step: ReplyStep) => (step.do === 'write' ? step.bytes : ''))
        .pipe(socket)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await using secure = await startGatewayProcess({
    upstream: `https://127.0.0.1:${port}`,
    env: { NODE_EXTRA_CA_CERTS: file },
  })
  const answer = await exchange(secure.port, 'POST', path, { body })
  assert.deepEqual([answer.status, answer.header('x-tokenweir-error')], [502, 'upstream_protocol_error'])
  server.close()
})

test('each call has one row, and the gateway complains of nothing', async () => {
  await untilIdle(gateway)
  assert.ok((await recordedCalls(gateway, beforeHead.length + afterHead.length + 4)).length > 0)
  assert.equal(complaintsOf(gateway), '')
})
