import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exchange } from '../support/exchange.ts'
import { untilIdle } from '../support/gateway-state.ts'
import { inParallel } from '../support/in-parallel.ts'
import { shareGateway } from '../support/shared-gateway.ts'

const chat = { headers: [['Content-Type', 'application/json'] as const], body: '{"model":"m","messages":[]}' }
const shared = await shareGateway()

for (const how of ['fin', 'reset'] as const) {
  test(`an upstream that ends connections (${how}) at any moment between calls never gets one twice`, async () => {
    await using upstream = await shared.upstream()
    const statuses = await inParallel(
      Array.from({ length: 200 }, (_, index) => index),
      4,
      async (index) => {
        const answer = await exchange(
          shared.gateway.port,
          'POST',
          `${upstream.prefix}/v1/chat/completions?call=${index}`,
          chat,
        )
        upstream.closeIdleConnections(how)
        return answer.status
      },
    )
    assert.ok(statuses.every((status) => status === 200 || status === 502))
    const targets = upstream.requests.map((request) => request.target)
    assert.equal(new Set(targets).size, targets.length)
    await upstream.recorded(200)
    await untilIdle(shared.gateway)
  })
}
