/** Clients watch upstreams die in mid-answer. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import {
  type UpstreamDeath,
  bodyBefore,
  contentEventsBefore,
  nameOf,
  replyOf,
} from '../faults/upstream-deaths.ts'
import { type WatchingClientName, watchingClients } from '../faults/watching-clients.ts'
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts'
import { complaintsOf, untilIdle } from '../support/gateway-state.ts'
import { inParallel } from '../support/in-parallel.ts'
import { recordedCalls } from '../support/recorded-calls.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'

/** Each client sees each of its deaths, gets all that came before, and the rows tell. */
export async function watchDeaths(
  deathsOf: Readonly<Partial<Record<WatchingClientName, readonly UpstreamDeath[]>>>,
  context: TestContext,
): Promise<void> {
  await using upstream = await startSimulatedUpstream({
    reply: ({ target }) => {
      const [, name, index] = /death=([\w.-]+)%2F(\d+)/.exec(target)!
      return replyOf(deathsOf[name as WatchingClientName]![Number(index)]!)
    },
  })
  const start = (...args: string[]): Promise<GatewayProcess> =>
    startGatewayProcess({ upstream: upstream.baseUrl, args: ['--max-concurrent', '64', ...args] })
  await using gateway = await start()
  // Long enough for what comes before the silence, also from a machine that stands still now and then.
  await using impatient = await start('--idle-timeout-ms', '2500')
  const gatewayOf = ({ manner }: UpstreamDeath): GatewayProcess => (manner === 'stall' ? impatient : gateway)
  const calls = Object.entries(deathsOf).flatMap(([name, deaths]) =>
    deaths.map((death, index) => ({ name: name as WatchingClientName, death, key: `${name}/${index}` })),
  )
  await inParallel(calls, 48, async ({ name, death, key }) => {
    const { port } = gatewayOf(death)
    const { streamed } = death
    const seen = await watchingClients[name]({ port, streamed, query: { death: key }, session: key })
    const what = `${name}, ${nameOf(death)}: ${seen.detail}`
    assert.equal(seen.end, 'broken', what)
    if (seen.body !== null) assert.equal(seen.body, bodyBefore(death), what)
    if (seen.events !== null) assert.equal(seen.events, contentEventsBefore(death), what)
  })
  context.diagnostic(`${calls.length} deaths`)
  const stalled = calls.filter(({ death }) => death.manner === 'stall').length
  const rows = [
    ...(await recordedCalls(gateway, calls.length - stalled)),
    ...(await recordedCalls(impatient, stalled)),
  ]
  const deaths = new Map(calls.map(({ key, death }) => [key, death]))
  for (const row of rows) {
    const death = deaths.get(row.session ?? '')!
    const { outcome, failure_code, status, failed, chunks } = row
    assert.deepEqual({ outcome, failure_code, status, failed, chunks }, expectedRow(death), nameOf(death))
  }
  for (const each of [gateway, impatient]) {
    await untilIdle(each)
    assert.equal(complaintsOf(each), '')
  }
}

function expectedRow(death: UpstreamDeath): Record<string, unknown> {
  return {
    outcome: 'upstream_cut',
    failure_code: death.manner === 'stall' ? 'upstream_timeout' : 'upstream_reset',
    status: 200,
    failed: true,
    chunks: contentEventsBefore(death),
  }
}
