import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { untilHealth } from '../support/gateway-state.ts'
import { type JsonRecord, asRecord } from '../support/json-record.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { SteadyLoad, steadyReply } from './steady-load.ts'
import type { StorageFault } from './storage-faults.ts'
import { callsIn, valueIn } from '../store/rows-of.ts'

export interface StorageRoundOptions {
  readonly perSecond: number
  /** Of load before the fault. */
  readonly beforeMs: number
  /** How long it lasts once it is warned of. */
  readonly holdMs: number
  /** Until a fault is warned of, and until all is recorded after its end. */
  readonly limitMs: number
}

/** What one fault under load came to. */
export interface StorageFigures {
  readonly calls: number
  /** Calls that began after the fault was known. */
  readonly callsSince: number
  /** Calls that were not answered byte by byte. */
  readonly failed: readonly string[]
  readonly slowestBeforeMs: number
  readonly slowestDuringMs: number
  /** From the fault to `degraded`, `null` where no warning is wanted. */
  readonly warnedAfterMs: number | null
  /** From the end of its cause until no record waits any more, and the warning is gone where it passes. */
  readonly recoveredAfterMs: number
  readonly message: string
  readonly dropped: number
  readonly rows: number
  readonly integrity: string
}

/** A gateway under load, a fault of its storage, and the time after it. */
export async function storageRound(
  fault: StorageFault,
  options: StorageRoundOptions,
): Promise<StorageFigures> {
  await using cleanup = new AsyncDisposableStack()
  const dir = cleanup.use(await makeTempDir())
  const folder = dir.file('data')
  const database = `${folder}/calls.db`
  mkdirSync(folder)
  if (fault.needs === 'mount') {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=6m,mode=700', 'tmpfs', folder])
    cleanup.defer(() => void execFileSync('umount', [folder]))
  }
  const upstream = cleanup.use(await startSimulatedUpstream({ reply: steadyReply }))
  const place = { folder, database, spare: dir.file('spare') }
  let end = fault.atStart === true ? await fault.begin({ pid: 0, ...place }) : null
  const gateway = cleanup.use(
    await startGatewayProcess({
      upstream: upstream.baseUrl,
      directory: dir.path,
      args: ['--db', database, '--max-concurrent', '64'],
    }),
  )
  const load = new SteadyLoad(gateway.origin, options.perSecond)
  cleanup.defer(() => load.stop())
  await delay(options.beforeMs)
  const startedMs = performance.now()
  if (end === null) await untilHealth(gateway, 'calls are recorded', isRecording)
  const beganMs = performance.now()
  end ??= await fault.begin({ pid: gateway.pid, ...place })
  let warnedAfterMs: number | null = null
  let message = ''
  if (fault.codes.length > 0) {
    const what = `${fault.codes.join(' or ')} is warned of`
    const health = await untilHealth(
      gateway,
      what,
      (seen) => warningOf(seen, fault) !== null,
      options.limitMs,
    )
    warnedAfterMs = performance.now() - beganMs
    assert.equal(health['status'], 'degraded')
    message = warningOf(health, fault) ?? ''
  }
  const knownMs = performance.now()
  await delay(options.holdMs)
  const overMs = performance.now()
  await end()
  const endedMs = performance.now()
  const writtenThen = telemetryOf(await gateway.health(), 'written')
  await untilHealth(
    gateway,
    'all is recorded again',
    (health) => {
      const isWell = fault.passes ? health['status'] === 'ok' : true
      return isWell && telemetryOf(health, 'written') > writtenThen && telemetryOf(health, 'pending') < 64
    },
    options.limitMs,
  )
  const recoveredAfterMs = performance.now() - endedMs
  await load.stop()
  const health = await untilHealth(gateway, 'nothing waits', (seen) => telemetryOf(seen, 'pending') === 0)
  assert.deepEqual(await gateway.stop(), { code: 0, signal: null })
  return {
    calls: load.calls.length,
    failed: load.calls.flatMap((call) => call.fault ?? []),
    callsSince: load.between(knownMs, Infinity).length,
    slowestBeforeMs: Math.max(
      ...load.between(startedMs - options.beforeMs, beganMs).map((call) => call.tookMs),
    ),
    slowestDuringMs: Math.max(...load.between(beganMs, overMs).map((call) => call.tookMs)),
    warnedAfterMs,
    recoveredAfterMs,
    message,
    dropped: telemetryOf(health, 'dropped'),
    ...contentsOf(database),
  }
}

function isRecording(health: JsonRecord): boolean {
  return health['status'] === 'ok' && telemetryOf(health, 'written') > 0
}

function telemetryOf(health: JsonRecord, name: string): number {
  return Number(asRecord(health['telemetry'])[name])
}

function warningOf(health: JsonRecord, fault: StorageFault): string | null {
  const warnings = health['warnings']
  if (!Array.isArray(warnings)) return null
  const found = warnings.map(asRecord).find((each) => fault.codes.includes(String(each['code'])))
  return found === undefined ? null : String(found['message'])
}

function contentsOf(path: string): { readonly rows: number; readonly integrity: string } {
  return { rows: callsIn(path), integrity: String(valueIn(path, 'PRAGMA integrity_check')) }
}

/** What was promised and did not hold. */
export function brokenPromises(fault: StorageFault, figures: StorageFigures, slowestMs: number): string[] {
  const broken: string[] = []
  if (figures.failed.length > 0) broken.push(`${figures.failed.length} calls failed: ${figures.failed[0]}`)
  if (figures.slowestDuringMs > slowestMs) broken.push(`a call took ${figures.slowestDuringMs} ms`)
  if (figures.integrity !== 'ok') broken.push(`the database is not sound: ${figures.integrity}`)
  const rows = figures.rows + figures.dropped
  if (fault.losesNothing ? rows !== figures.calls : rows < figures.callsSince) {
    const { calls, callsSince } = figures
    broken.push(
      `${calls} calls, ${callsSince} of them since, ${figures.rows} rows, ${figures.dropped} dropped`,
    )
  }
  return broken
}
