import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { addPast, sumAll } from '../../bench/generate/add-past.ts'
import type { Incident } from '../../src/demo/past-failures.ts'
import { upstreams } from '../../bench/generate/busy-past.ts'
import { idsPerMs } from '../../src/call/call-id.ts'
import type { CallRecord } from '../../src/call/call-record.ts'
import { defaultDatabase } from '../../src/options/gateway-options.ts'
import { openForWriting } from '../../src/store/sqlite/open-store.ts'
import { chatCall } from '../store/sample-call.ts'
import { writeCalls } from '../store/write-calls.ts'

/**
 * `empty`: a database without a call. `three`: three calls of the last minutes, one of which failed. `day`: some
 * thousands of the last 24 hours. `incident`: the same with two hours in which one upstream fails and another is
 * slow, a quarter of an hour without a gateway, and calls that wait.
 */
export type PageState = 'empty' | 'three' | 'day' | 'incident'

const callsOfDay = 4000

/** Where `startDashboardProcess({ directory })` looks for the database; the folder it is in is made. */
export function pageDatabase(directory: string): string {
  const path = join(directory, defaultDatabase)
  mkdirSync(dirname(path), { recursive: true })
  return path
}

/** Writes the database of a state for a dashboard in this folder. The same instant gives the same calls. */
export function writePageData(directory: string, state: PageState, nowMs: number = Date.now()): void {
  const database = openForWriting(pageDatabase(directory))
  try {
    database.exec('PRAGMA synchronous = OFF')
    if (state === 'three') writeCalls(database, threeCalls(nowMs))
    else if (state !== 'empty') {
      const past = { calls: callsOfDay, days: 1, endMs: nowMs, seed: 7 }
      addPast(database, state === 'day' ? past : { ...past, incidents: badAfternoon })
    }
    sumAll(database, nowMs)
  } finally {
    database.close()
  }
}

/** The newest two minutes old, so that all are within the shortest range. */
function threeCalls(nowMs: number): readonly CallRecord[] {
  const id = (minutesAgo: number): number => (Math.floor(nowMs) - minutesAgo * 60_000) * idsPerMs
  const times = { ttfbMs: 180.25, ttftMs: 182.5, ttfoMs: 182.5, durationMs: 2310.75 } as const
  const cut = {
    outcome: 'upstream_cut',
    failureCode: 'upstream_reset',
    finishReason: null,
    inputTokens: null,
    outputTokens: null,
    totalTokens: null,
    costNanoUsd: null,
    tpotMs: null,
  } as const
  return [
    { ...chatCall(id(9)), ...times, queueMs: 412.5, durationMs: 2723.25 },
    { ...chatCall(id(5)), ...times, ...cut },
    {
      ...chatCall(id(2)),
      ...times,
      model: 'qwen3-coder:30b',
      costNanoUsd: null,
      priceKey: null,
      priceSource: null,
    },
  ]
}

function badAfternoon(endMinute: number): readonly Incident[] {
  const [failing, slow] = upstreams
  const incident = (kind: Incident['kind'], of: string, from: number, to: number): Incident => ({
    kind,
    of,
    fromMinute: endMinute - from,
    toMinute: endMinute - to,
  })
  return [
    incident('failing', failing, 240, 120),
    incident('slow', slow, 200, 90),
    incident('stopped', failing, 300, 285),
  ]
}
