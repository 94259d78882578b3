import assert from 'node:assert/strict'
import { type Socket, connect } from 'node:net'
import { test } from 'node:test'
import { requestBytes } from '../support/exchange.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { openRawClient } from '../support/raw-client.ts'
import { recordedCalls } from '../support/recorded-calls.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'

const chat = '/v1/chat/completions'

/** Sends a text and then the same again and again, until the server ends the connection; answers what it said. */
async function sendForEver(port: number, start: string, again: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  let received = ''
  socket.setEncoding('latin1').on('data', (text: string) => {
    received += text
  })
  const piece = again.repeat(65_536)
  const send = (): void => {
    while (!socket.destroyed && socket.write(piece)) if (socket.writableNeedDrain) break
  }
  const closed = new Promise((resolve) => void socket.once('close', resolve))
  socket
    .on('error', () => {})
    .on('drain', send)
    .once('end', () => socket.destroy())
  socket.write(start)
  send()
  await closed
  return received
}

test('empty lines and zeros without an end are not read without an end', { timeout: 60_000 }, async () => {
  await using upstream = await startSimulatedUpstream()
  await using gateway = await startGatewayProcess({ upstream: upstream.baseUrl })
  assert.equal(await sendForEver(gateway.port, '', '\r\n'), '')
  const head = `POST ${chat} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n`
  assert.match(
    await sendForEver(gateway.port, head, '0'),
    /^HTTP\/1\.1 400 [^]*x-tokenweir-error: invalid_request/,
  )
  assert.match(await sendForEver(gateway.port, `${head}2\r\n{}\r\n`, '0'), /^HTTP\/1\.1 400 /)
  const rows = await recordedCalls(gateway, 2)
  assert.ok(rows.every(({ outcome, status }) => outcome === 'refused' && status === 400))
})

test(
  'a long body is no such thing, nor is a connection that is kept after it',
  { timeout: 60_000 },
  async () => {
    await using upstream = await startSimulatedUpstream()
    await using gateway = await startGatewayProcess({ upstream: upstream.baseUrl })
    await using client = await openRawClient(gateway.port)
    await client.send(requestBytes('POST', chat, { body: `{"model":"m","a":"${'x'.repeat(40_000_000)}"}` }))
    assert.equal((await client.response('POST', 30_000)).status, 200)
    // Longer than it takes to look at all connections.
    for (const untilMs = performance.now() + 600; performance.now() < untilMs;) await gateway.health()
    await client.send(requestBytes('POST', chat, { body: '{"model":"m"}' }))
    assert.equal((await client.response('POST')).status, 200)
  },
)

const nothing = 'GET /x HTTP/1.1\r\nHost: a\r\n\r\n'

/** Sends the same request so many times, and reads no answer yet. */
function flood(port: number, requests: number): Socket {
  const socket = connect(port, '127.0.0.1').pause()
  socket.on('error', () => {}).write(nothing.repeat(requests))
  return socket
}

const ask = requestBytes('POST', chat, { body: '{"model":"m","messages":[]}' })

for (const [clients, requests] of [
  [1, 1_000_000],
  [10, 100_000],
] as const) {
  const who = clients === 1 ? 'one client' : `${clients} clients`
  test(`${who} who pipeline without end and read nothing neither end the gateway nor keep others waiting`, async () => {
    await using upstream = await startSimulatedUpstream()
    await using gateway = await startGatewayProcess({
      upstream: upstream.baseUrl,
      nodeArgs: ['--max-old-space-size=100'],
    })
    const crowd = Array.from({ length: clients }, () => flood(gateway.port, requests))
    await using honest = await openRawClient(gateway.port)
    await honest.send(Buffer.concat([ask, ask, ask]))
    for (let call = 0; call < 3; call++) assert.equal((await honest.response('POST')).status, 200)
    for (let look = 0; look < 50; look++) assert.equal((await gateway.health())['pid'], gateway.pid)
    for (const socket of crowd) socket.resetAndDestroy()
  })
}
