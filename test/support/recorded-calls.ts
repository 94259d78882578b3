import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import type { CallJson } from '../../src/call/call-record.ts'
import { openForReading } from '../../src/store/sqlite/open-store.ts'
import type { GatewayProcess } from './gateway-process.ts'
import { asRecord } from './json-record.ts'
import type { RawResponse } from './raw-response.ts'

const waitLimitMs = 30_000
const pollMs = 5

/**
 * Waits until a gateway has recorded all that it was asked, and reads its database, oldest first. Fails where
 * the database then holds another number of calls, or of calls of the named upstream.
 */
export async function recordedCalls(
  gateway: GatewayProcess,
  count: number,
  upstream?: string,
): Promise<readonly CallJson[]> {
  const calls = await until(
    gateway,
    () => {
      const all = readCalls(gateway.databaseFile)
      const calls = upstream === undefined ? all : all.filter((call) => call.upstream_name === upstream)
      return calls.length >= count ? calls : undefined
    },
    `${count} recorded calls`,
  )
  assert.equal(calls.length, count, calls.map((call) => `${call.method} ${call.endpoint}`).join('\n'))
  return calls
}

/** Waits for the row of the call that was answered with this response. Fails where there is more than one. */
export function rowOf(gateway: GatewayProcess, response: Pick<RawResponse, 'header'>): Promise<CallJson> {
  const id = response.header('x-tokenweir-call-id')
  assert.ok(id !== undefined, 'the answer has no x-tokenweir-call-id')
  return until(
    gateway,
    () => {
      const [row, ...more] = readCalls(gateway.databaseFile).filter((call) => call.id === id)
      assert.equal(more.length, 0)
      return row
    },
    `the row of call ${id}`,
  )
}

/** The first answer of `probe` that is not `undefined`, asked whenever the gateway says that nothing is pending. */
async function until<T>(gateway: GatewayProcess, probe: () => T | undefined, what: string): Promise<T> {
  const deadline = performance.now() + waitLimitMs
  for (;;) {
    const telemetry = asRecord((await gateway.health())['telemetry'])
    const answer = telemetry['pending'] === 0 ? probe() : undefined
    if (answer !== undefined) return answer
    if (performance.now() > deadline)
      throw new Error(`waited in vain for ${what}: ${JSON.stringify(telemetry)}`)
    await delay(pollMs)
  }
}

/**
 * All calls of a database, oldest first; none where it is still being made. Waits as long as it is locked, which
 * making it may take on a busy machine.
 */
export function readCalls(databaseFile: string): readonly CallJson[] {
  const deadline = performance.now() + waitLimitMs
  let database = openForReading(databaseFile)
  while (database === 'busy' && performance.now() < deadline) database = openForReading(databaseFile)
  if (database === 'missing' || database === 'empty') return []
  if (typeof database === 'string') throw new Error(`no calls can be read: ${database}`)
  try {
    return database
      .prepare('SELECT * FROM calls_readable ORDER BY id')
      .all()
      .map((row) => {
        const flags = { stream: row['stream'] === 1, failed: row['failed'] === 1 }
        return Object.assign({}, row, flags) as unknown as CallJson
      })
  } finally {
    database.close()
  }
}
