/**
 * A client that leaves takes its call with it. A few rounds of each way in the suite; more, for the times that
 * are printed, with `TOKENWEIR_LEAVES=200 node --test test/gateway/you-leave-we-cancel.test.ts`.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import OpenAI from 'openai'
import { assertWithin } from '../support/assert-within.ts'
import { requestBytes } from '../support/exchange.ts'
import { fieldsOf } from '../support/fields-of.ts'
import { type RawClient, openRawClient } from '../support/raw-client.ts'
import { type ReplyStep, stall, until, write } from '../support/reply-step.ts'
import {
  chunkFrame,
  jsonReply,
  responseHead,
  splitBytes,
  sseEvent,
  streamHead,
} from '../support/response-bytes.ts'
import { type OwnUpstream, shareGateway } from '../support/shared-gateway.ts'

const rounds = Number(process.env['TOKENWEIR_LEAVES'] ?? 8)
/** What is promised on a machine that is not busy with other tests; on any machine one of the rounds must keep it. */
const closedWithinMs = 50

type Way = 'fin' | 'reset' | 'openai'
type Phase = 'before the first byte' | 'in the answer'

/** A client with a call of its own, and how it leaves. */
interface Leaver {
  /** Settles when the first byte of the answer's body is there. */
  readonly answering: Promise<unknown>
  leave(): void
  /** Settles when the client has noticed its own leaving. */
  readonly left: Promise<unknown>
}

const firstEvent = sseEvent({ choices: [{ index: 0, delta: { content: 'w0' }, finish_reason: null }] })

function unfinished(streamed: boolean): ReplyStep[] {
  const type = streamed ? 'text/event-stream' : 'application/json'
  const head = responseHead(200, [
    ['Content-Type', type],
    ['Transfer-Encoding', 'chunked'],
  ])
  return [write(head), write(chunkFrame(streamed ? firstEvent : '{"id":"w0",')), stall()]
}

const shared = await shareGateway({ args: ['--slot-cooldown-ms', '0'] })
const { gateway } = shared

function chat({ prefix }: OwnUpstream, streamed: boolean): Buffer {
  const body = JSON.stringify({
    model: 'm',
    stream: streamed,
    messages: [{ role: 'user', content: 'hi' }],
  })
  return requestBytes('POST', `${prefix}/v1/chat/completions`, {
    headers: [['Content-Type', 'application/json']],
    body,
  })
}

async function startLeaver(way: Way, upstream: OwnUpstream, streamed: boolean): Promise<Leaver> {
  if (way === 'openai') return openAiLeaver(upstream, streamed)
  const client = await openRawClient(gateway.port)
  await client.send(chat(upstream, streamed))
  return {
    answering: client.waitForBytes('w0').catch(() => undefined),
    leave: () => (way === 'fin' ? client.leave() : client.reset()),
    left: Promise.resolve(),
  }
}

function openAiLeaver({ prefix }: OwnUpstream, streamed: boolean): Leaver {
  const client = new OpenAI({ baseURL: `${gateway.origin}${prefix}/v1`, apiKey: 'none', maxRetries: 0 })
  const abort = new AbortController()
  const answering = Promise.withResolvers<void>()
  const call = async (): Promise<void> => {
    const request = { model: 'm', messages: [{ role: 'user' as const, content: 'hi' }] }
    const options = { signal: abort.signal }
    if (streamed) {
      const stream = await client.chat.completions.create({ ...request, stream: true }, options)
      for await (const _ of stream) answering.resolve()
    } else {
      const response = await client.chat.completions.create(request, options).asResponse()
      const reader = response.body!.getReader()
      await reader.read()
      answering.resolve()
      await reader.read()
    }
  }
  const left = call().catch(() => undefined)
  return { answering: answering.promise, leave: () => abort.abort(), left }
}

for (const phase of ['before the first byte', 'in the answer'] satisfies Phase[]) {
  test(`leaving ${phase} closes the upstream's connection and frees the slot`, async (context) => {
    await using upstream = await shared.upstream({}, { max_concurrent: 1 })
    // One slot: every round waits in vain unless the round before gave it back.
    let calls = 0
    for (const streamed of [true, false]) {
      for (const way of ['fin', 'reset', 'openai'] satisfies Way[]) {
        const timesMs: number[] = []
        for (let round = 0; round < rounds; round++) {
          upstream.replyOnce(phase === 'in the answer' ? unfinished(streamed) : [stall()])
          const leaver = await startLeaver(way, upstream, streamed)
          const request = await upstream.waitForRequest(calls++)
          await request.bodyEnd
          if (phase === 'in the answer') await leaver.answering
          const leftAtMs = performance.now()
          leaver.leave()
          const end = await request.connection.closed
          timesMs.push(end.atMs - leftAtMs)
          assert.equal(end.by, 'client')
          await leaver.left
        }
        timesMs.sort((a, b) => a - b)
        const at = (share: number): number => timesMs[Math.floor(share * (rounds - 1))]!
        const kind = streamed ? 'stream' : 'JSON'
        context.diagnostic(
          `${kind}, ${way}: p50 ${at(0.5).toFixed(1)} ms, p99 ${at(0.99).toFixed(1)} ms of ${rounds}`,
        )
        assertWithin(closedWithinMs, at(0.5), `closing (${kind}, ${way})`)
        assert.ok(timesMs[0]! <= closedWithinMs, `${kind} ${way}: ${timesMs.join(' ')}`)
      }
    }
    await upstream.untilCalls()
    for (const row of await upstream.recorded(calls)) {
      assert.equal(row.outcome, 'client_disconnected')
      assert.equal(row.failure_code, 'client_gone')
      assert.equal(row.failed, false)
      assert.equal(row.status, phase === 'in the answer' ? 200 : 499)
      assert.equal(row.chunks, phase === 'in the answer' && row.stream ? 1 : row.stream ? row.chunks : null)
    }
  })
}

test('who leaves in the queue never reaches the upstream, and those behind move up', async () => {
  const gate = Promise.withResolvers<void>()
  await using upstream = await shared.upstream({}, { max_concurrent: 1 })
  upstream.replyOnce([until(gate.promise), ...jsonReply(200, { id: 'first' })])
  await using holder = await openRawClient(gateway.port)
  await holder.send(chat(upstream, false))
  await upstream.waitForRequest(0)

  const leavers: Leaver[] = []
  for (const way of ['fin', 'reset', 'openai'] satisfies Way[]) {
    for (let i = 0; i < rounds; i++) leavers.push(await startLeaver(way, upstream, i % 2 === 0))
  }
  await upstream.untilCalls({ active: 1, queued: leavers.length })
  await using patient = await openRawClient(gateway.port)
  await patient.send(chat(upstream, false))
  await upstream.untilCalls({ active: 1, queued: leavers.length + 1 })
  for (const leaver of leavers) leaver.leave()
  await upstream.untilCalls({ active: 1, queued: 1 })
  await Promise.all(leavers.map((leaver) => leaver.left))

  gate.resolve()
  assert.equal((await holder.response('POST')).status, 200)
  assert.equal((await patient.response('POST')).status, 200)
  assert.equal(upstream.requests.length, 2)
  await upstream.untilCalls()
  const rows = await upstream.recorded(leavers.length + 2)
  const gone = rows.filter((row) => row.outcome === 'client_disconnected')
  assert.equal(gone.length, leavers.length)
  assert.ok(gone.every((row) => row.status === 499 && row.attempts === 0 && row.ttfb_ms === null))
})

test('an upload that waits is noticed to be left, and one that stays arrives as it was', async () => {
  const gate = Promise.withResolvers<void>()
  await using upstream = await shared.upstream({ reply: () => jsonReply(200, {}) }, { max_concurrent: 1 })
  upstream.replyOnce([until(gate.promise), ...jsonReply(200, { id: 'first' })])
  await using holder = await openRawClient(gateway.port)
  await holder.send(chat(upstream, false))
  await upstream.waitForRequest(0)

  const file = Buffer.from(Array.from({ length: 3_000_000 }, (_, at) => at % 251))
  const head = (length: string): string =>
    `POST ${upstream.prefix}/v1/files HTTP/1.1\r\nHost: weir\r\nContent-Type: audio/wav\r\n${length}\r\n\r\n`
  const upload = async (sent: number): Promise<RawClient> => {
    const client = await openRawClient(gateway.port)
    await client.send(head(`Content-Length: ${file.length}`))
    await client.send(file.subarray(0, sent))
    return client
  }
  const leavers = [await upload(file.length), await upload(file.length / 2), await upload(file.length)]
  await using whole = await upload(file.length)
  await using chunked = await openRawClient(gateway.port)
  await chunked.send(head('Transfer-Encoding: chunked'))
  for (const piece of splitBytes(file.subarray(0, 1_000_000), [10, 70_000]))
    await chunked.send(chunkFrame(piece))
  await using late = await upload(file.length / 2)
  await upstream.untilCalls({ active: 1, queued: 6 })
  for (const [at, leaver] of leavers.entries()) {
    if (at < 2) leaver.leave()
    else leaver.reset()
  }
  await upstream.untilCalls({ active: 1, queued: 3 })
  gate.resolve()
  await chunked.send('0\r\n\r\n')
  assert.equal((await whole.response('POST')).status, 200)
  assert.equal((await chunked.response('POST')).status, 200)
  await upstream.waitForRequest(3)
  await late.send(file.subarray(file.length / 2))
  assert.equal((await late.response('POST')).status, 200)
  const bodies = upstream.requests.slice(1).map(({ body }) => body)
  assert.deepEqual(
    bodies.map((body) => body.equals(file.subarray(0, body.length)) && body.length),
    [file.length, 1_000_000, file.length],
  )
  const rows = await upstream.recorded(7)
  const uploads = rows.filter(({ endpoint }) => endpoint === '/v1/files')
  assert.deepEqual(
    uploads.map((row) => [row.outcome, row.attempts, row.request_bytes]),
    [
      ...leavers.map(() => ['client_disconnected', 0, 0]),
      ['ok', 1, file.length],
      ['ok', 1, 1_000_000],
      ['ok', 1, file.length],
    ],
  )
})

test('closing after the end mark is no leaving, and after an error event the error stays the cause', async () => {
  await using upstream = await shared.upstream()
  const error = sseEvent({ error: { message: 'overloaded', type: 'server_error', code: 'busy' } })
  upstream.replyOnce(
    [write(streamHead), write(chunkFrame(firstEvent)), write(chunkFrame(sseEvent('[DONE]'))), stall()],
    [write(streamHead), write(chunkFrame(firstEvent)), write(chunkFrame(error)), stall()],
  )
  for (const [index, last] of ['[DONE]', 'overloaded'].entries()) {
    await using client = await openRawClient(gateway.port)
    await client.send(chat(upstream, true))
    await client.waitForBytes(last)
    client.leave()
    const request = await upstream.waitForRequest(index)
    assert.equal((await request.connection.closed).by, 'client')
  }
  const rows = await upstream.recorded(2)
  assert.deepEqual(fieldsOf(rows, 'outcome', 'failure_code', 'status', 'upstream_error_code'), [
    ['ok', null, 200, null],
    ['upstream_error', 'stream_error', 200, 'busy'],
  ])
})

for (const way of ['fin', 'reset', 'half-close'] as const) {
  test(`leaving (${way}) while the request is still sent ends the call`, async () => {
    await using upstream = await shared.upstream({}, { max_concurrent: 1 })
    const head = (path: string, type: string): string =>
      `POST ${upstream.prefix}${path} HTTP/1.1\r\nHost: weir\r\nContent-Type: ${type}\r\nContent-Length: 100000\r\n\r\n`
    for (let round = 0; round < 5; round++) {
      // An inference request is read whole first: its upstream never hears of it.
      await using asker = await openRawClient(gateway.port)
      await asker.send(`${head('/v1/chat/completions', 'application/json')}{"model":"m","messages":[`)
      // A file passes as it comes: its upstream has the first half.
      await using uploader = await openRawClient(gateway.port)
      await uploader.send(`${head('/v1/files', 'text/plain')}${'u'.repeat(50_000)}`)
      const request = await upstream.waitForRequest(round)
      await upstream.waitFor('half of the file', () => request.body.length === 50_000)
      for (const client of [asker, uploader]) {
        if (way === 'fin') client.leave()
        else if (way === 'reset') client.reset()
        else client.endSending()
      }
      assert.equal((await request.connection.closed).by, 'client')
      assert.equal(request.bodyEndAtMs, undefined)
      await upstream.untilCalls()
    }
    assert.equal(upstream.requests.length, 5)
    const rows = await upstream.recorded(10)
    assert.deepEqual(new Set(rows.map((row) => row.outcome)), new Set(['client_disconnected']))
    assert.deepEqual(new Set(rows.map((row) => row.status)), new Set([499]))
    const uploads = rows.filter((row) => row.endpoint === '/v1/files')
    assert.deepEqual(fieldsOf(uploads, 'request_bytes'), [50_000, 50_000, 50_000, 50_000, 50_000])
  })
}

test('a GET that is left is cancelled, too', async () => {
  await using upstream = await shared.upstream({ reply: () => [stall()] })
  await using client = await openRawClient(gateway.port)
  await client.send(requestBytes('GET', `${upstream.prefix}/v1/models`))
  const request = await upstream.waitForRequest(0)
  client.leave()
  assert.equal((await request.connection.closed).by, 'client')
  const [row] = await upstream.recorded(1)
  assert.deepEqual([row?.outcome, row?.status, row?.attempts], ['client_disconnected', 499, 1])
  assert.equal(upstream.requests.length, 1)
})
