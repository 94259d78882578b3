import assert from 'node:assert/strict'
import type { SQLOutputValue } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import type { CallJson } from '../../src/call/call-record.ts'
import { openForReading } from '../../src/store/sqlite/open-store.ts'
import type { GatewayProcess } from './gateway-process.ts'
import { type JsonRecord, asRecord } from './json-record.ts'
import type { RawResponse } from './raw-response.ts'

const waitLimitMs = 30_000
const pollMs = 10

/**
 * Waits until a gateway has recorded all that it was asked, and reads its database, oldest first. Fails where
 * the database then holds another number of calls, or of calls of the named upstream.
 */
export async function recordedCalls(
  gateway: GatewayProcess,
  count: number,
  upstream?: string,
): Promise<readonly CallJson[]> {
  const [which, values] = upstream === undefined ? ['', []] : ['WHERE upstream_name = ?', [upstream]]
  const probe = async (): Promise<boolean> => {
    const { length } = read(gateway.databaseFile, `SELECT id FROM calls_readable ${which}`, values)
    return length >= count && (await telemetryOf(gateway))['pending'] === 0
  }
  await until(gateway, probe, `${count} recorded calls`)
  const calls = read(gateway.databaseFile, `SELECT * FROM calls_readable ${which} ORDER BY id`, values).map(
    asCall,
  )
  assert.equal(calls.length, count, calls.map((call) => `${call.method} ${call.endpoint}`).join('\n'))
  return calls
}

/** Waits for the row of the call that was answered with this response. */
export async function rowOf(
  gateway: GatewayProcess,
  response: Pick<RawResponse, 'header'>,
): Promise<CallJson> {
  const id = response.header('x-tokenweir-call-id')
  assert.ok(id !== undefined, 'the answer has no x-tokenweir-call-id')
  let row: CallJson | undefined
  const probe = (): boolean => {
    ;[row] = read(gateway.databaseFile, 'SELECT * FROM calls_readable WHERE id = ?', [id]).map(asCall)
    return row !== undefined
  }
  await until(gateway, probe, `the row of call ${id}`)
  return row!
}

/** Asks whether it is so, until it is. */
async function until(
  gateway: GatewayProcess,
  holds: () => boolean | Promise<boolean>,
  what: string,
): Promise<void> {
  const deadline = performance.now() + waitLimitMs
  while (!(await holds())) {
    if (performance.now() > deadline)
      throw new Error(`waited in vain for ${what}: ${JSON.stringify(await telemetryOf(gateway))}`)
    await delay(pollMs)
  }
}

async function telemetryOf(gateway: GatewayProcess): Promise<JsonRecord> {
  return asRecord((await gateway.health())['telemetry'])
}

/** All calls of a database, oldest first; none where it is still being made. */
export function readCalls(databaseFile: string): readonly CallJson[] {
  return read(databaseFile, 'SELECT * FROM calls_readable ORDER BY id').map(asCall)
}

type Row = Record<string, SQLOutputValue>

/** No rows where the database is still being made. Waits as long as it is locked, which making it may take on a busy machine. */
function read(databaseFile: string, sql: string, values: readonly string[] = []): Row[] {
  const deadline = performance.now() + waitLimitMs
  let database = openForReading(databaseFile)
  while (database === 'busy' && performance.now() < deadline) database = openForReading(databaseFile)
  if (database === 'missing' || database === 'empty') return []
  if (typeof database === 'string') throw new Error(`no calls can be read: ${database}`)
  try {
    return database.prepare(sql).all(...values)
  } finally {
    database.close()
  }
}

function asCall(row: Row): CallJson {
  const flags = { stream: row['stream'] === 1, failed: row['failed'] === 1 }
  return Object.assign({}, row, flags) as unknown as CallJson
}
