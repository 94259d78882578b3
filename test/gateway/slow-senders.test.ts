/** Slow heads and slow bodies; in their hundreds: `test/faults/crowds.ts`. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { exchange } from '../support/exchange.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { untilIdle, untilPastIsRead } from '../support/gateway-state.ts'
import { inParallel } from '../support/in-parallel.ts'
import { type RawClient, openRawClient } from '../support/raw-client.ts'
import { recordedCalls } from '../support/recorded-calls.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'

const chat = '/v1/chat/completions'
const slowHead = 'GET /v1/models HTTP/1.1\r\nHost: weir\r\nX-Slow: '
const slowBody = `POST ${chat} HTTP/1.1\r\nHost: weir\r\nContent-Length: 1000\r\n\r\n{`

test('clients that send byte by byte take no slot, and keep nobody waiting', async () => {
  const each = 100
  await using upstream = await startSimulatedUpstream()
  await using gateway = await startGatewayProcess({
    upstream: upstream.baseUrl,
    args: ['--max-concurrent', '1', '--slot-cooldown-ms', '0', '--queue-limit', '0'],
  })
  const begin = async (text: string): Promise<RawClient> => {
    const client = await openRawClient(gateway.port)
    await client.send(text)
    return client
  }
  const starts = [slowHead, slowBody].flatMap((text) => Array.from({ length: each }, () => text))
  const slow = await inParallel(starts, 50, begin)
  await untilPastIsRead(gateway)
  for (let round = 0; round < 20; round++) {
    await inParallel(slow, 50, (client) => client.send('x'))
    const answer = await exchange(gateway.port, 'POST', chat, { body: '{"model":"m"}' })
    assert.equal(answer.status, 200)
    assert.equal((await gateway.health())['status'], 'ok')
  }
  assert.equal(upstream.requests.length, 20)
  assert.ok(slow.every(({ received, serverEnd }) => received.length === 0 && serverEnd === undefined))
  // One that comes to its end after all is a call like any other.
  await slow[0]!.send('\r\n\r\n')
  assert.equal((await slow[0]!.response()).status, 200)
  await slow[each]!.send(`${' '.repeat(1000 - 22)}}`)
  assert.equal((await slow[each]!.response('POST')).status, 200)
  for (const client of slow) client.leave()
  await untilIdle(gateway)
  const rows = await recordedCalls(gateway, 22 + each - 1)
  const left = rows.filter(({ outcome }) => outcome === 'client_disconnected')
  assert.equal(
    left.length,
    each - 1,
    'bodies that never came have their rows, heads that never came have none',
  )
})

test('a client that sends nothing more of an upload gives its slot back', async () => {
  await using upstream = await startSimulatedUpstream()
  await using gateway = await startGatewayProcess({
    upstream: upstream.baseUrl,
    args: ['--max-concurrent', '1', '--slot-cooldown-ms', '0', '--client-stall-timeout-ms', '400'],
  })
  await using slow = await openRawClient(gateway.port)
  await slow.send(
    'POST /v1/files HTTP/1.1\r\nHost: weir\r\nContent-Type: audio/wav\r\nContent-Length: 99\r\n\r\nRIFF',
  )
  await upstream.waitForRequest(0)
  const answer = await exchange(gateway.port, 'POST', chat, { body: '{"model":"m"}' })
  assert.equal(answer.status, 200)
  await untilIdle(gateway)
  const upload = (await recordedCalls(gateway, 2)).find(({ endpoint }) => endpoint === '/v1/files')
  assert.deepEqual([upload?.outcome, upload?.failure_code], ['client_disconnected', 'client_stalled'])
})

test('an upload that waits for its upstream is no stall of the client', async () => {
  const bytes = 16 * 1024 * 1024
  const reader = createServer((socket) => {
    let read = 0
    socket.pause()
    void delay(1200).then(() => socket.resume())
    socket.on('data', (piece) => {
      read += piece.length
      if (read > bytes) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
    })
  }).listen(0, '127.0.0.1')
  await once(reader, 'listening')
  await using gateway = await startGatewayProcess({
    upstream: `http://127.0.0.1:${(reader.address() as AddressInfo).port}/v1`,
    args: ['--client-stall-timeout-ms', '400'],
  })
  const headers = [['Content-Type', 'audio/wav']] as const
  const answer = await exchange(gateway.port, 'POST', '/v1/files', { body: Buffer.alloc(bytes), headers })
  assert.equal(answer.body.toString(), 'ok')
  reader.close()
})
