/** Two gateways that share divide a limit a minute: together they are never over it, whenever one joins, leaves, or is killed. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fullestMinute } from '../limits/limited-provider.ts'
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts'
import { asRecord } from '../support/json-record.ts'
import { startPostgres } from '../support/postgres.ts'
import { jsonReply } from '../support/response-bytes.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { eventually } from '../support/eventually.ts'

const perMinute = 60

test('a gateway that joins takes nothing that another may have used, and one that is killed leaves its part after a minute', async () => {
  await using postgres = await startPostgres()
  const url = await postgres.database('minutes')
  const choices = [{ index: 0, message: { role: 'assistant', content: 'y' }, finish_reason: 'stop' }]
  await using upstream = await startSimulatedUpstream({
    reply: () => jsonReply(200, { model: 'm', choices }),
  })
  const start = (): Promise<GatewayProcess> =>
    startGatewayProcess({
      upstream: upstream.baseUrl,
      args: ['--share', `--max-rpm=${perMinute}`, '--max-concurrent=50', '--slot-cooldown-ms=0'],
      env: { TOKENWEIR_SHARE: url },
    })
  const leaves = new AbortController()
  const call = async ({ baseUrl }: GatewayProcess, from: string): Promise<void> => {
    const body = JSON.stringify({ model: 'm', messages: [] })
    const headers = { 'content-type': 'application/json' }
    const { signal } = leaves
    const answer = await fetch(`${baseUrl}/chat/completions?${from}`, {
      method: 'POST',
      body,
      headers,
      signal,
    })
    await answer.text()
  }
  const callMany = (gateway: GatewayProcess, from: string): void => {
    for (let at = 0; at < 150; at++) call(gateway, from).catch(() => {})
  }
  const countOf = (from: string): number =>
    upstream.requests.filter(({ target }) => target.endsWith(from)).length
  const partOf = async (gateway: GatewayProcess): Promise<unknown> =>
    asRecord(((await gateway.health())['minute_limits'] as unknown[])[0])['limit']

  await using one = await start()
  callMany(one, 'one')
  await eventually('the first gateway calls alone', () =>
    Promise.resolve(countOf('one') >= 15 || countOf('one')),
  )
  const startedMs = performance.now()
  await using other = await start()
  callMany(other, 'other')
  for (const gateway of [one, other])
    await eventually('half of the limit is its part', async () => {
      const part = await partOf(gateway)
      return part === perMinute / 2 || part
    })
  const before = countOf('one')
  await eventually('the other one calls', () => Promise.resolve(countOf('other') > 0), 90_000)
  assert.ok(performance.now() - startedMs >= 60_000, 'it has joined within this minute')
  await eventually('the first one goes on with its part', () =>
    Promise.resolve(countOf('one') >= before + 10),
  )

  await other.kill9()
  await eventually('the first one has all of it', async () => {
    const part = await partOf(one)
    return part === perMinute || part
  })
  await sleep(5000)
  leaves.abort()
  const arrived = upstream.requests.map(({ headAtMs }): [number, number] => [headAtMs, 1])
  // On a busy machine some arrive late.
  const fullest = fullestMinute(arrived, 59_500)
  assert.ok(fullest <= perMinute, String(fullest))
})
