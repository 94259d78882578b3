import assert from 'node:assert/strict'
import { type Socket, connect } from 'node:net'
import { test } from 'node:test'
import { residentBytes } from '../../bench/process-figures.ts'
import { HeldBody } from '../../src/gateway/http/request-body.ts'
import { exchange } from '../support/exchange.ts'
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts'
import { untilIdle } from '../support/gateway-state.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'

const body = '{"model":"m"}'

/** The middle of so many calls' times, in milliseconds, and the most memory that the gateway had meanwhile. */
async function watch(gateway: GatewayProcess, calls: number): Promise<{ medianMs: number; mb: number }> {
  const tookMs: number[] = []
  let mb = 0
  for (let call = 0; call < calls; call++) {
    const startedMs = performance.now()
    assert.equal((await exchange(gateway.port, 'POST', '/v1/chat/completions', { body })).status, 200)
    tookMs.push(performance.now() - startedMs)
    mb = Math.max(mb, residentBytes(gateway.pid) / 1e6)
  }
  return { medianMs: tookMs.toSorted((a, b) => a - b)[calls >> 1] ?? 0, mb }
}

for (const [target, type, connections, mostMb] of [
  ['/v1/chat/completions', 'application/json', 10, 100],
  // Node keeps 64 KiB of what is passed on, each byte by itself.
  ['/v1/files', 'audio/wav', 4, 200],
] as const) {
  test(`bodies to ${target} in chunks of a byte take little memory, and keep nobody waiting`, async () => {
    const [chunks, calls] = [400_000, 60]
    await using upstream = await startSimulatedUpstream()
    await using gateway = await startGatewayProcess({
      upstream: upstream.baseUrl,
      args: ['--max-concurrent', '50', '--slot-cooldown-ms', '0'],
    })
    const alone = await watch(gateway, calls)
    const text = `POST ${target} HTTP/1.1\r\nHost: a\r\nContent-Type: ${type}\r\nTransfer-Encoding: chunked\r\n\r\n`
    const flood = Buffer.from(text + '1\r\n \r\n'.repeat(chunks))
    const senders = Array.from({ length: connections }, (): Socket => {
      const socket = connect(gateway.port, '127.0.0.1')
      socket.on('error', () => {}).write(flood)
      return socket
    })
    const beside = await watch(gateway, calls)
    for (const socket of senders) socket.resetAndDestroy()
    assert.ok(beside.mb <= alone.mb + mostMb, `${alone.mb} MB became ${beside.mb}`)
    const boundMs = 50 + 5 * alone.medianMs
    assert.ok(beside.medianMs <= boundMs, `${alone.medianMs} ms became ${beside.medianMs}`)
    await untilIdle(gateway)
  })
}

test('a body in chunks of a byte, of a hundred, and of all sizes is held in little more memory than it has bytes', () => {
  for (const sizes of [[1], [100], [4000], [1, 5000, 3], [10, 700, 90, 4095]]) {
    using held = new HeldBody({ maxBodyBytes: 1e9, maxHeldBytes: 1e9, heldBytes: 0 })
    const sent: Buffer[] = []
    for (let at = 0; held.bytes < 1_000_000; at++) {
      const chunk = Buffer.alloc(sizes[at % sizes.length] ?? 0, at % 251)
      sent.push(chunk)
      assert.equal(held.add(chunk), null)
    }
    const buffers = new Set(held.chunks.map(({ buffer }) => buffer))
    const memory =
      [...buffers].reduce((sum, { byteLength }) => sum + byteLength, 0) + held.chunks.length * 200
    assert.ok(memory <= 1.5 * held.bytes, `${held.bytes} bytes of ${sizes.join()} take ${memory}`)
    assert.ok(Buffer.concat(held.chunks).equals(Buffer.concat(sent)))
  }
})
