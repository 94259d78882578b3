import assert from 'node:assert/strict'
import { test } from 'node:test'
import { constants, createGzip } from 'node:zlib'
import { requestBytes } from '../support/exchange.ts'
import { startGatewayOfFile } from '../support/gateway-of-file.ts'
import { type RawClient, openRawClient } from '../support/raw-client.ts'
import { parseRawResponse } from '../support/raw-response.ts'
import { type ReplyStep, until, write } from '../support/reply-step.ts'
import {
  type HeaderLines,
  chunkFrame,
  lastChunk,
  responseHead,
  splitBytes,
  sseEvent,
} from '../support/response-bytes.ts'

const { upstream, gateway } = await startGatewayOfFile({ args: ['--max-concurrent', '100'] })

/** It wants its usage events: nothing need be looked at before it goes on. */
const streamRequest = requestBytes('POST', '/v1/chat/completions', {
  body: '{"model":"m","stream":true,"stream_options":{"include_usage":true}}',
})
const eventStream: HeaderLines = [['Content-Type', 'text/event-stream']]

/** One write of the upstream, and how many body bytes the client must then have: `null` for the head alone. */
interface Beat {
  readonly bytes: Uint8Array
  readonly bodyBytes: number | null
}

/**
 * Plays the beats in lock-step: no write before the client holds all of the one before it. A gateway that kept
 * anything back would stand still, and the test with it.
 */
async function inLockStep(client: RawClient, beats: readonly Beat[]): Promise<Buffer> {
  const received = beats.map(() => Promise.withResolvers<void>())
  upstream.replyOnce(
    beats.flatMap((beat, i): ReplyStep[] => [write(beat.bytes), until(received[i]!.promise)]),
  )
  await client.send(streamRequest)
  for (const [i, { bodyBytes }] of beats.entries()) {
    await waitForBody(client, bodyBytes)
    received[i]!.resolve()
  }
  const response = await client.response('POST')
  assert.equal(response.complete, true)
  return response.body
}

/** Waits, read by read, until so much of the body, or the head alone, is there. */
async function waitForBody(client: RawClient, bodyBytes: number | null): Promise<void> {
  for (;;) {
    const response = parseRawResponse(client.received, 'POST')
    if (response !== undefined && response.body.length >= (bodyBytes ?? 0)) return
    await client.waitForBytes(client.received.length + 1)
  }
}

/** A head, and the pieces behind it; each piece in a chunk of its own, or plain where the length is told. */
function beatsOf(pieces: readonly Uint8Array[], headers: HeaderLines, framing: 'chunked' | 'length'): Beat[] {
  const total = pieces.reduce((sum, piece) => sum + piece.length, 0)
  const delimiter =
    framing === 'chunked'
      ? (['Transfer-Encoding', 'chunked'] as const)
      : (['Content-Length', `${total}`] as const)
  const beats: Beat[] = [{ bytes: responseHead(200, [...headers, delimiter]), bodyBytes: null }]
  let sent = 0
  for (const piece of pieces) {
    sent += piece.length
    beats.push({ bytes: framing === 'chunked' ? chunkFrame(piece) : piece, bodyBytes: sent })
  }
  if (framing === 'chunked') beats.push({ bytes: lastChunk(), bodyBytes: sent })
  return beats
}

function event(i: number): Buffer {
  const delta = { content: `piece ${i} \u65e5\u672c` }
  return Buffer.from(sseEvent({ model: 'm', choices: [{ index: 0, delta, finish_reason: null }] }))
}

test('each event is with the client before the upstream writes the next, three hundred times', async () => {
  const events = [...Array.from({ length: 300 }, (_, i) => event(i)), Buffer.from(sseEvent('[DONE]'))]
  await using client = await openRawClient(gateway.port)
  for (const framing of ['chunked', 'length'] as const) {
    const body = await inLockStep(client, beatsOf(events, eventStream, framing))
    assert.ok(body.equals(Buffer.concat(events)))
  }
})

test('single bytes pass singly, through characters, events and line ends', async () => {
  const text = Buffer.concat([event(1), Buffer.from(': \u{1f600}\r\n\r\n'), Buffer.from(sseEvent('[DONE]'))])
  await using client = await openRawClient(gateway.port)
  for (const framing of ['chunked', 'length'] as const) {
    const body = await inLockStep(client, beatsOf(splitBytes(text, [1]), eventStream, framing))
    assert.ok(body.equals(text))
  }
})

test('bytes of a chunk that is not whole yet pass at once', async () => {
  const text = event(1)
  const frame = chunkFrame(text)
  const start = frame.indexOf(text)
  const head = responseHead(200, [...eventStream, ['Transfer-Encoding', 'chunked']])
  const beats: Beat[] = [
    { bytes: head, bodyBytes: null },
    { bytes: frame.subarray(0, start), bodyBytes: 0 },
  ]
  for (let i = 0; i < text.length; i++) beats.push({ bytes: text.subarray(i, i + 1), bodyBytes: i + 1 })
  beats.push({
    bytes: Buffer.concat([frame.subarray(start + text.length), lastChunk()]),
    bodyBytes: text.length,
  })
  await using client = await openRawClient(gateway.port)
  assert.ok((await inLockStep(client, beats)).equals(text))
})

test('the head passes before any byte of the body, also where it is split', async () => {
  const head = responseHead(200, [...eventStream, ['X-Latin', '\u00e9'], ['Transfer-Encoding', 'chunked']])
  const told = Promise.withResolvers<void>()
  upstream.replyOnce([...splitBytes(head, [1, 5]).map(write), until(told.promise), write(lastChunk())])
  await using client = await openRawClient(gateway.port)
  await client.send(streamRequest)
  await waitForBody(client, null)
  assert.ok(client.received.includes(Buffer.from('X-Latin: \u00e9\r\n', 'latin1')))
  told.resolve()
  assert.equal((await client.response('POST')).body.length, 0)
})

test('a compressed stream passes as it is flushed', async () => {
  const gzip = createGzip()
  const pieces: Buffer[] = []
  const flushed = async (i: number): Promise<Buffer> => {
    gzip.write(event(i))
    await new Promise<void>((resolve) => {
      gzip.flush(constants.Z_SYNC_FLUSH, () => resolve())
    })
    return gzip.read() as Buffer
  }
  for (let i = 0; i < 20; i++) pieces.push(await flushed(i))
  gzip.destroy()
  const headers: HeaderLines = [...eventStream, ['Content-Encoding', 'gzip']]
  await using client = await openRawClient(gateway.port)
  const body = await inLockStep(client, beatsOf(pieces, headers, 'chunked'))
  assert.ok(body.equals(Buffer.concat(pieces)))
})

test('what is no event stream is not held back either', async () => {
  const pieces = Array.from({ length: 50 }, (_, i) => Buffer.from(`part ${i};`))
  await using client = await openRawClient(gateway.port)
  for (const type of ['application/json', 'audio/mpeg', 'text/plain']) {
    const body = await inLockStep(client, beatsOf(pieces, [['Content-Type', type]], 'chunked'))
    assert.ok(body.equals(Buffer.concat(pieces)))
  }
})

test('fifty streams beside one another stay in step', async () => {
  const events = Array.from({ length: 20 }, (_, i) => event(i))
  const turns = Array.from({ length: 50 }, async () => {
    await using client = await openRawClient(gateway.port)
    const body = await inLockStep(client, beatsOf(events, eventStream, 'length'))
    assert.ok(body.equals(Buffer.concat(events)))
  })
  await Promise.all(turns)
})
