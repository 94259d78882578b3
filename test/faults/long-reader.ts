/**
 * Somebody who reads the database in one long transaction beside a gateway at work:
 * `node test/faults/long-reader.ts [--seconds 60] [--per-second 500]`. Ends with 1 where the log stayed large, or a
 * record was lost.
 */
import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { untilHealth } from '../support/gateway-state.ts'
import { asRecord } from '../support/json-record.ts'
import { readCalls } from '../support/recorded-calls.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { SteadyLoad, steadyReply } from './steady-load.ts'

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '60' }, 'per-second': { type: 'string', default: '500' } },
})
const settleMs = 10_000
const logLimitBytes = 64 * 2 ** 20

await using upstream = await startSimulatedUpstream({ reply: steadyReply })
await using gateway = await startGatewayProcess({
  upstream: upstream.baseUrl,
  args: ['--max-concurrent', '64'],
})
await untilHealth(gateway, 'the database is there', ({ status }) => status === 'ok')
const load = new SteadyLoad(gateway.origin, Number(values['per-second']))
await untilHealth(gateway, 'rows', (health) => Number(asRecord(health['telemetry'])['written']) > 0)
const reader = new DatabaseSync(gateway.databaseFile, { readOnly: true })
reader.exec('BEGIN')
reader.prepare('SELECT count(*) FROM calls').get()
await delay(Number(values.seconds) * 1000)
const logBytes = (): number => statSync(`${gateway.databaseFile}-wal`).size
const largest = logBytes()
reader.exec('COMMIT')
reader.close()
await delay(settleMs)
const after = logBytes()
await load.stop()
await untilHealth(gateway, 'nothing waits', (health) => asRecord(health['telemetry'])['pending'] === 0)
const failed = load.calls.filter(({ fault }) => fault !== null).length
const lost = load.calls.length - readCalls(gateway.databaseFile).length
const tookMs = load.calls.map((call) => call.tookMs).sort((a, b) => a - b)
const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1)
console.log(
  `measured: log ${megabytes(largest)} MB at the reader's end, ${megabytes(after)} MB 10 s later; ${lost} of ` +
    `${load.calls.length} records lost; ${failed} calls failed; p99 ${tookMs[Math.floor(tookMs.length * 0.99)]?.toFixed(1)} ms`,
)
if (after > logLimitBytes || lost !== 0 || failed > 0) process.exitCode = 1
