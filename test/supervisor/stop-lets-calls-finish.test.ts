import assert from 'node:assert/strict'
import { test } from 'node:test'
import { requestBytes } from '../support/exchange.ts'
import { openRawClient } from '../support/raw-client.ts'
import { stall, until, write } from '../support/reply-step.ts'
import { chunkFrame, lastChunk, sseEvent, streamHead } from '../support/response-bytes.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { eventually } from '../support/eventually.ts'
import { makeWorkplace } from './workplace.ts'

const firstEvent = sseEvent({ choices: [{ index: 0, delta: { content: 'w0' }, finish_reason: null }] })
const call = requestBytes('POST', '/v1/chat/completions', {
  body: JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'hi' }] }),
})

test('a stop lets the stream in flight finish, and sends away who waits', async () => {
  await using upstream = await startSimulatedUpstream()
  await using place = await makeWorkplace()
  const args = ['--port=0', `--upstream=${upstream.baseUrl}`, '--max-concurrent=1']
  const supervisor = place.supervisor({ args })
  const { port, pid } = await supervisor.start()
  const gate = Promise.withResolvers<void>()
  const rest = [until(gate.promise), write(Buffer.concat([chunkFrame(sseEvent('[DONE]')), lastChunk()]))]
  upstream.replyOnce([write(streamHead), write(chunkFrame(firstEvent)), ...rest])
  await using streaming = await openRawClient(port)
  await streaming.send(call)
  await streaming.waitForBytes('w0')
  await using waiting = await openRawClient(port)
  await waiting.send(call)
  await eventually('a waiting call', async () => {
    return (await supervisor.status()).health?.rate_limiter.queued === 1
  })

  const stopped = supervisor.stop()
  assert.equal((await waiting.response()).status, 503)
  await eventually('the drain', async () => (await supervisor.status()).state === 'draining')
  assert.deepEqual(place.gateways(), [pid])
  gate.resolve()
  const response = await streaming.response()
  assert.equal(response.status, 200)
  assert.match(response.body.toString(), /w0[^]*\[DONE\]/)
  const status = await stopped
  assert.equal(status.state, 'stopped')
  assert.equal(status.message, null)
})

test('a start while the last gateway still drains waits for its end', async () => {
  await using upstream = await startSimulatedUpstream()
  await using place = await makeWorkplace()
  const args = ['--port=0', `--upstream=${upstream.baseUrl}`]
  const supervisor = place.supervisor({ args })
  const { port, pid } = await supervisor.start()
  const gate = Promise.withResolvers<void>()
  upstream.replyOnce([write(streamHead), until(gate.promise), write(lastChunk())])
  await using streaming = await openRawClient(port)
  await streaming.send(call)
  await streaming.waitForBytes('200')
  const stopped = supervisor.stop()
  await eventually('the drain', async () => (await supervisor.status()).state === 'draining')
  // Asked of another dashboard, whose queue knows nothing of the stop.
  const other = place.supervisor({ args }).start()
  gate.resolve()
  const started = await other
  await stopped
  assert.equal(started.already_running, false)
  assert.notEqual(started.pid, pid)
  assert.deepEqual(place.gateways(), [started.pid])
})

test('a gateway that does not end in time, although it said it would, is killed', async () => {
  await using upstream = await startSimulatedUpstream()
  await using place = await makeWorkplace()
  const args = ['--port=0', `--upstream=${upstream.baseUrl}`, '--drain-timeout-ms=2000']
  const supervisor = place.supervisor({ args, limits: { afterDrainMs: 300 } })
  const { port, pid } = await supervisor.start()
  upstream.replyOnce([write(streamHead), stall()])
  await using streaming = await openRawClient(port)
  await streaming.send(call)
  await streaming.waitForBytes('200')
  const stopped = supervisor.stop()
  await eventually('the drain', async () => (await supervisor.status()).state === 'draining')
  process.kill(pid!, 'SIGSTOP')
  assert.equal((await stopped).state, 'stopped')
  assert.deepEqual(place.gateways(), [])
})
