import assert from 'node:assert/strict'
import { requestBytes } from '../support/exchange.ts'
import type { GatewayProcess } from '../support/gateway-process.ts'
import { untilCalls } from '../support/gateway-state.ts'
import { openRawClient } from '../support/raw-client.ts'
import { recordedCalls } from '../support/recorded-calls.ts'

const body = '{"model":"m","messages":[]}'
const headers = [['Content-Type', 'application/json'] as const]

/** Who leaves while the gateway still waits for its upstream's connection frees the slot at once; the first call of a gateway. */
export async function leavesWhileConnecting(gateway: GatewayProcess): Promise<void> {
  await using client = await openRawClient(gateway.port)
  await client.send(requestBytes('POST', '/v1/chat/completions', { headers, body }))
  await untilCalls(gateway, { active: 1, queued: 0 })
  client.leave()
  await untilCalls(gateway, { active: 0, queued: 0 })
  const [left] = await recordedCalls(gateway, 1)
  assert.equal(left?.outcome, 'client_disconnected')
}
