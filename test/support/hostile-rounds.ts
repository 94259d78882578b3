import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { residentBytes } from '../../bench/process-figures.ts'
import { type DashboardProcess, startDashboardProcess } from './dashboard-process.ts'
import { eventually } from './eventually.ts'
import { startGatewayProcess } from './gateway-process.ts'
import { complaintsOf, untilHealth, untilIdle } from './gateway-state.ts'
import {
  type HostileConnection,
  callsIn,
  dashboardKinds,
  gatewayKinds,
  hostileConnections,
  playHostile,
} from './hostile-connections.ts'
import { inParallel } from './in-parallel.ts'
import { asRecord } from './json-record.ts'
import { readCalls } from './recorded-calls.ts'
import { startSimulatedUpstream } from './simulated-upstream.ts'

const width = 32
/** A heap that is small is collected often: what grows is a leak, and not what waits to be collected. */
export const smallHeap = ['--max-old-space-size=96', '--max-semi-space-size=2'] as const
/** Of all connections a third warms a process up: what grows beyond its memory then is a leak. */
function warmUpOf(count: number): number {
  return Math.ceil(count / 3)
}
/** More than the memory of a process that is warm varies by. */
const mostGrownMb = 32

/** What a process holds: descriptors, and megabytes of memory. */
export interface Held {
  readonly files: number
  readonly mb: number
}

export function heldBy(pid: number): Held {
  return { files: readdirSync(`/proc/${pid}/fd`).length, mb: residentBytes(pid) / 1e6 }
}

/** Waits until a process has about the descriptors that it had; fails if its memory has grown, and answers by how much. */
export async function expectNoGrowth(pid: number, before: Held): Promise<number> {
  await eventually(`${before.files} open files`, () => Math.abs(heldBy(pid).files - before.files) <= 5)
  const grownMb = heldBy(pid).mb - before.mb
  assert.ok(grownMb <= mostGrownMb, `memory grew by ${grownMb.toFixed(0)} MB`)
  return grownMb
}

async function play(port: number, all: readonly HostileConnection[]): Promise<readonly string[]> {
  return (await inParallel(all, width, (connection) => playHostile(port, connection))).flat()
}

/** Plays so many hostile connections to a gateway of its own; fails where it does not stand them, or tells in words. */
export async function attackGateway(count: number): Promise<string> {
  await using upstream = await startSimulatedUpstream()
  await using gateway = await startGatewayProcess({
    upstream: upstream.baseUrl,
    args: ['--max-concurrent', '4', '--slot-cooldown-ms', '0'],
    nodeArgs: smallHeap,
  })
  const all = [...hostileConnections(gatewayKinds, count)]
  const idle = async (): Promise<void> => {
    await untilIdle(gateway)
    await untilHealth(
      gateway,
      'nothing is pending',
      (health) => asRecord(health['telemetry'])['pending'] === 0,
    )
  }
  const answered = [...(await play(gateway.port, all.slice(0, warmUpOf(count))))]
  await idle()
  const before = heldBy(gateway.pid)
  answered.push(...(await play(gateway.port, all.slice(warmUpOf(count)))))
  await idle()
  assert.equal((await gateway.health())['pid'], gateway.pid)
  const grownMb = await expectNoGrowth(gateway.pid, before)
  const rows = readCalls(gateway.databaseFile)
  const ids = new Set(rows.map(({ id }) => id))
  assert.equal(ids.size, rows.length, 'a call has two rows')
  assert.deepEqual(
    answered.filter((id) => !ids.has(id)),
    [],
    'calls that were answered have no row',
  )
  const bySession = Map.groupBy(rows, ({ session }) => session)
  const sentBySession = new Map(all.map((connection) => [connection.session, callsIn(connection)]))
  for (const [session, of] of bySession) {
    const sent = sentBySession.get(session ?? '') ?? 0
    assert.ok(of.length <= sent, `${session} sent ${sent} calls and has ${of.length} rows`)
  }
  assert.ok(rows.length >= upstream.requests.length, 'a call that was sent on has no row')
  assert.equal(complaintsOf(gateway), '')
  return (
    `${count} connections of ${gatewayKinds.length} kinds to the gateway: alive, all slots back, ` +
    `${rows.length} calls with a row each, memory ${grownMb.toFixed(0)} MB more`
  )
}

/** The same to a dashboard. */
export async function attackDashboard(count: number): Promise<string> {
  await using dashboard = await startDashboardProcess({ env: { NODE_OPTIONS: smallHeap.join(' ') } })
  const { pid } = dashboard.command
  const all = [...hostileConnections(dashboardKinds, count)]
  await play(dashboard.port, all.slice(0, warmUpOf(count)))
  await expectAnswers(dashboard)
  const before = heldBy(pid)
  await play(dashboard.port, all.slice(warmUpOf(count)))
  await expectAnswers(dashboard)
  const grownMb = await expectNoGrowth(pid, before)
  assert.equal(dashboard.command.stderr, '')
  return `${count} of ${dashboardKinds.length} kinds to the dashboard: alive, memory ${grownMb.toFixed(0)} MB more`
}

async function expectAnswers(dashboard: DashboardProcess): Promise<void> {
  assert.equal((await dashboard.ask('GET', '/api/proxy/status')).status, 200)
}
