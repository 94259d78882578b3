/** Uploads whose upstream answers, or breaks off, before they have arrived. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openRawClient } from '../support/raw-client.ts'
import { reset, until, write } from '../support/reply-step.ts'
import { jsonReply, responseHead } from '../support/response-bytes.ts'
import { shareGateway } from '../support/shared-gateway.ts'

const shared = await shareGateway()
const piece = Buffer.alloc(100_000, 'x')

function uploadHead(prefix: string, pieces: number): string {
  const length = pieces * piece.length
  return `POST ${prefix}/v1/files HTTP/1.1\r\nHost: weir\r\nContent-Type: audio/wav\r\nContent-Length: ${length}\r\n\r\n`
}

const tooLarge = { error: 'too large' }

for (const [what, steps, status] of [
  ['a refusal', jsonReply(413, tooLarge), 413],
  ['a refusal that ends the connection', jsonReply(413, tooLarge, [['Connection', 'close']]), 413],
  ['a reset', [reset()], 502],
] as const) {
  test(`after ${what} the client may send on, and then finds the answer`, async () => {
    await using upstream = await shared.upstream({ reply: () => ({ after: 'head', steps }) })
    await using client = await openRawClient(shared.gateway.port)
    await client.send(uploadHead(upstream.prefix, 200))
    // More than the kernel's buffers hold, so that somebody has to read it.
    for (let sent = 0; sent < 70; sent++) await client.send(piece)
    const answer = await client.response('POST')
    assert.deepEqual([answer.status, answer.header('connection')], [status, 'close'])
    assert.equal(await client.waitForServerEnd(), 'fin')
    await upstream.untilCalls()
  })
}

test('an answer that begins while the request is still sent takes nothing from either', async () => {
  const sent = Promise.withResolvers<void>()
  const head = responseHead(200, [['Content-Length', '2']])
  await using upstream = await shared.upstream({
    reply: () => ({ after: 'head', steps: [write(head), until(sent.promise), write('ok')] }),
  })
  await using client = await openRawClient(shared.gateway.port)
  await client.send(uploadHead(upstream.prefix, 30))
  await client.send(piece)
  await client.waitForBytes('\r\n\r\n')
  for (let pieces = 1; pieces < 30; pieces++) await client.send(piece)
  const request = await upstream.waitForRequest(0)
  await request.bodyEnd
  sent.resolve()
  const answer = await client.response('POST')
  assert.deepEqual([answer.status, answer.body.toString(), request.body.length], [200, 'ok', 3_000_000])
})
