import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import { test } from 'node:test'
import { requestBytes } from '../support/exchange.ts'
import { fieldsOf } from '../support/fields-of.ts'
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts'
import { complaintsOf, untilCalls, untilPastIsRead } from '../support/gateway-state.ts'
import { type RawClient, openRawClient } from '../support/raw-client.ts'
import { untilNoted } from '../support/open-calls.ts'
import { readCalls, recordedCalls } from '../support/recorded-calls.ts'
import { type ReplyStep, stall, until, write } from '../support/reply-step.ts'
import {
  bodyReply,
  chunkFrame,
  jsonReply,
  lastChunk,
  sseEvent,
  streamHead,
} from '../support/response-bytes.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { assertWithin } from '../support/assert-within.ts'

const firstEvent = sseEvent({ choices: [{ index: 0, delta: { content: 'w0' }, finish_reason: null }] })

function chat(httpVersion = '1.1'): Buffer {
  const body = JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'hi' }] })
  return requestBytes('POST', '/v1/chat/completions', { body, httpVersion })
}

async function send(gateway: GatewayProcess, bytes: Uint8Array): Promise<RawClient> {
  const client = await openRawClient(gateway.port)
  await client.send(bytes)
  return client
}

function leftFiles(directory: string): string[] {
  return readdirSync(directory)
    .filter((name) => name.endsWith('.pid') || name.endsWith('-wal'))
    .toSorted()
}

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test(`${signal}: who waits is sent away, what is in flight finishes, all rows are written`, async () => {
    const gate = Promise.withResolvers<void>()
    const rest: readonly ReplyStep[] = [
      until(gate.promise),
      write(Buffer.concat([chunkFrame(sseEvent('[DONE]')), lastChunk()])),
    ]
    await using upstream = await startSimulatedUpstream()
    await using gateway = await startGatewayProcess({
      upstream: upstream.baseUrl,
      args: ['--max-concurrent', '2'],
    })
    assert.equal(readFileSync(`${gateway.directory}/gateway.pid`, 'utf8').trim(), String(gateway.pid))
    await using idle = await send(gateway, requestBytes('GET', '/v1/models'))
    assert.equal((await idle.response()).status, 200)
    upstream.replyOnce([write(streamHead), write(chunkFrame(firstEvent)), ...rest])
    await using streaming = await send(gateway, chat())
    await streaming.waitForBytes('w0')
    upstream.replyOnce([until(gate.promise), ...jsonReply(200, { id: 'late' })])
    await using waiting = await send(gateway, chat())
    await upstream.waitForRequest(2)
    await using queued = await send(gateway, chat())
    await untilCalls(gateway, { active: 2, queued: 1 })

    process.kill(gateway.pid, signal)
    const refused = await queued.response('POST')
    assert.equal(refused.status, 503)
    assert.equal(refused.header('x-tokenweir-error'), 'draining')
    assert.match(refused.header('retry-after') ?? '', /^\d+$/)
    // A request on a connection that was idle is answered, not broken.
    await idle.send(chat())
    const late = await idle.response('POST')
    assert.deepEqual([late.status, late.header('x-tokenweir-error')], [503, 'draining'])
    assert.equal(late.header('connection'), 'close')
    await assert.rejects(openRawClient(gateway.port), { code: 'ECONNREFUSED' })

    gate.resolve()
    const stream = await streaming.response('POST')
    assert.equal(stream.complete, true)
    assert.ok(stream.body.toString().endsWith('data: [DONE]\n\n'))
    assert.equal((await waiting.response('POST')).complete, true)
    assert.deepEqual(await gateway.exited, { code: 0, signal: null })
    assert.deepEqual(leftFiles(gateway.directory), [])
    assert.equal(upstream.requests.length, 3)
    assert.deepEqual(fieldsOf(readCalls(gateway.databaseFile), 'outcome', 'failure_code', 'status'), [
      ['ok', null, 200],
      ['ok', null, 200],
      ['ok', null, 200],
      ['refused', 'draining', 503],
      ['refused', 'draining', 503],
    ])
    assert.equal(complaintsOf(gateway), '')
  })
}

test('a gateway that does nothing waits for nothing when it stops, its idle connections included', async () => {
  await using upstream = await startSimulatedUpstream()
  await using gateway = await startGatewayProcess({
    upstream: upstream.baseUrl,
    args: ['--drain-timeout-ms', '600000'],
  })
  await using idle = await send(gateway, requestBytes('GET', '/v1/models'))
  await idle.response()
  const startedMs = performance.now()
  assert.deepEqual(await gateway.stop(), { code: 0, signal: null })
  assertWithin(1000, performance.now() - startedMs, 'the stop')
  assert.equal(await idle.waitForServerEnd(), 'fin')
  assert.deepEqual(leftFiles(gateway.directory), [])
})

test('what is not finished when the drain time-out ends is cut visibly, and has its row', async () => {
  await using upstream = await startSimulatedUpstream()
  await using gateway = await startGatewayProcess({
    upstream: upstream.baseUrl,
    args: ['--drain-timeout-ms', '300', '--max-concurrent', '4'],
  })
  const endless: ReplyStep[] = [write(streamHead), write(chunkFrame(firstEvent)), stall()]
  upstream.replyOnce(endless, endless)
  await using modern = await send(gateway, chat())
  await using old = await send(gateway, chat('1.0'))
  await modern.waitForBytes('w0')
  await old.waitForBytes('w0')
  upstream.replyOnce([stall()])
  await using silent = await send(gateway, chat())
  await upstream.waitForRequest(2)
  await using uploading = await send(
    gateway,
    Buffer.from('POST /v1/chat/completions HTTP/1.1\r\nHost: weir\r\nContent-Length: 100\r\n\r\n{"model":'),
  )
  await untilCalls(gateway, { active: 3, queued: 0 })

  assert.deepEqual(await gateway.stop(), { code: 0, signal: null })
  assert.equal((await modern.response('POST')).complete, false)
  assert.equal(await old.waitForServerEnd(), 'reset', 'HTTP/1.0 takes a close for the end')
  const refused = await silent.response('POST')
  assert.deepEqual([refused.status, refused.header('x-tokenweir-error')], [503, 'draining'])
  await uploading.waitForServerEnd()
  assert.deepEqual(leftFiles(gateway.directory), [])
  assert.deepEqual(fieldsOf(readCalls(gateway.databaseFile), 'outcome', 'failure_code', 'status'), [
    ['gateway_error', 'draining', 200],
    ['gateway_error', 'draining', 200],
    ['refused', 'draining', 503],
    ['refused', 'draining', 503],
  ])
  assert.equal(complaintsOf(gateway), '')
})

test('a second signal stops at once, and the next start finds the unfinished call', async () => {
  await using dir = await makeTempDir()
  await using upstream = await startSimulatedUpstream()
  const options = { upstream: upstream.baseUrl, directory: dir.path }
  upstream.replyOnce([write(streamHead), write(chunkFrame(firstEvent)), stall()])
  {
    await using gateway = await startGatewayProcess(options)
    await using client = await send(gateway, chat())
    await client.waitForBytes('w0')
    await untilNoted(gateway.databaseFile, 1)
    process.kill(gateway.pid, 'SIGTERM')
    await gateway.waitForOutput(/stopping/)
    process.kill(gateway.pid, 'SIGTERM')
    const { code } = await gateway.exited
    assert.equal(code, 1)
    assert.equal((await client.response('POST')).complete, false)
  }
  await using next = await startGatewayProcess(options)
  await recordedCalls(next, 1)
  assert.deepEqual(await next.stop(), { code: 0, signal: null })
  assert.deepEqual(leftFiles(dir.path), [])
  assert.deepEqual(fieldsOf(readCalls(next.databaseFile), 'outcome'), ['interrupted'])
})

test('a port in use ends the start with code 3, and no file is touched', async () => {
  await using upstream = await startSimulatedUpstream({ reply: () => bodyReply(['ok']) })
  await using gateway = await startGatewayProcess({ upstream: upstream.baseUrl })
  await using dir = await makeTempDir()
  await assert.rejects(
    startGatewayProcess({
      upstream: upstream.baseUrl,
      directory: dir.path,
      args: ['--port', String(gateway.port)],
    }),
    /ended with 3[^]*port \d+ is in use/,
  )
  assert.deepEqual(readdirSync(dir.path), [])
  await untilPastIsRead(gateway)
  assert.equal((await gateway.health())['status'], 'ok')
})
