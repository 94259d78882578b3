import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { test } from 'node:test'
import { exchange } from '../support/exchange.ts'
import { fieldsOf } from '../support/fields-of.ts'
import { freePort } from '../support/free-port.ts'
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts'
import { untilCalls } from '../support/gateway-state.ts'
import { inParallel } from '../support/in-parallel.ts'
import { recordedCalls } from '../support/recorded-calls.ts'
import { leavesWhileConnecting } from './leaves-while-connecting.ts'

const chat = { headers: [['Content-Type', 'application/json'] as const], body: '{"model":"m","messages":[]}' }
/** Streamed through, so that nothing of it may be lost by trying. */
const upload = { headers: [['Content-Type', 'text/plain'] as const], body: 'u'.repeat(300_000) }

test('calls to an upstream that is not there yet hold their slots, and are served once each when it is', async () => {
  const port = await freePort()
  await using gateway = await startGatewayProcess({
    upstream: `http://127.0.0.1:${port}/v1`,
    args: ['--connect-retry-ms', '20000', '--max-concurrent', '2'],
  })
  const answers = inParallel(Array.from({ length: 4 }), 4, (_, index) =>
    index === 0
      ? exchange(gateway.port, 'POST', '/v1/files', upload)
      : exchange(gateway.port, 'POST', '/v1/chat/completions', chat),
  )
  await untilCalls(gateway, { active: 2, queued: 2 })
  const sizes: number[] = []
  const server = createServer((req, res) => {
    let size = 0
    req.on('data', (piece: Buffer) => (size += piece.length))
    req.on('end', () => {
      sizes.push(size)
      res.end('{"choices":[{}]}')
    })
  })
  await once(server.listen(port, '127.0.0.1'), 'listening')
  using cleanup = new DisposableStack()
  cleanup.defer(() => {
    server.closeAllConnections()
    server.close()
  })
  assert.deepEqual(fieldsOf(await answers, 'status'), [200, 200, 200, 200])
  assert.deepEqual(
    sizes.sort((a, b) => a - b),
    [27, 27, 27, 300_000],
  )
  assert.ok((await recordedCalls(gateway, 4)).every((row) => row.outcome === 'ok' && row.attempts === 1))
})

test('the wait ends with its time, or when the client leaves', async () => {
  const upstream = `http://127.0.0.1:${await freePort()}/v1`
  const start = (retryMs: number): Promise<GatewayProcess> =>
    startGatewayProcess({
      upstream,
      args: ['--connect-retry-ms', String(retryMs), '--max-concurrent', '1'],
    })
  await using patient = await start(60_000)
  await leavesWhileConnecting(patient)
  await using gateway = await start(1500)
  const startedMs = performance.now()
  const answer = await exchange(gateway.port, 'POST', '/v1/chat/completions', chat)
  const tookMs = performance.now() - startedMs
  assert.deepEqual([answer.status, answer.header('x-tokenweir-error')], [502, 'upstream_unreachable'])
  assert.ok(tookMs >= 1500, `${tookMs}`)
  const [row] = await recordedCalls(gateway, 1)
  assert.equal(row?.outcome, 'upstream_error')
})
