import type { DatabaseSync } from 'node:sqlite'
import { idsPerMs } from '../../src/call/call-id.ts'
import { at, type CallRow, CallRows, WordIds } from './call-rows.ts'
import { GatewayPast } from './gateway-past.ts'
import { GeneratedCalls } from './generated-calls.ts'
import { type Incident, generatedIncidents, incidentsAt } from './incidents.ts'
import { loadShape } from './load-shape.ts'
import { seededRandom } from './seeded-random.ts'
import { markUnsummed } from './sums-anew.ts'

const minuteMs = 60_000
/** A call's rough average duration, from which the number in flight follows. */
const usualCallS = 5
/** Slots of the generated gateways, as a multiple of the calls that are in flight on average. */
const slotsPerAverage = 5
const rowsPerTransaction = 200_000

/** Calls as gateways would have recorded them: the same order gives the same rows. */
export interface GeneratedPast {
  readonly calls: number
  readonly days: number
  readonly endMs: number
  readonly seed: number
  /** Of 300 clients, 60 models and 20 tags, in place of some 30, 20 and none. */
  readonly areMany?: boolean
  /** Incidents before a minute since the Unix epoch (default: drawn by the seed). */
  readonly incidents?: (endMinute: number) => readonly Incident[]
}

/** Fills an empty database. */
export function addPast(database: DatabaseSync, past: GeneratedPast): void {
  const { calls, days, endMs, seed, areMany = false } = past
  const random = seededRandom(seed)
  const pastMinute = Math.floor(endMs / minuteMs)
  const minutes = Math.round(days * 1440)
  const firstMinute = pastMinute - minutes
  const usual = generatedIncidents(random, firstMinute, minutes)
  const incidents = past.incidents?.(pastMinute) ?? usual
  const { counts } = loadShape(random, calls, firstMinute, minutes, incidents)
  const slots = Math.max(4, Math.round((calls / minutes / 60) * usualCallS * slotsPerAverage))

  const rows = new CallRows(database)
  const generated = new GeneratedCalls(random, new WordIds(database), areMany)
  const gateways = new GatewayPast(slots)
  let seq = 0
  let uncommitted = 0
  database.exec('BEGIN')
  for (let i = 0; i < minutes; i++) {
    const minute = firstMinute + i
    const count = counts[i]!
    const pressure = (count * usualCallS) / 60 / slots
    const hour = Math.floor((minute % 1440) / 60)
    const state = { incidents: incidentsAt(incidents, minute), pressure, isNight: hour >= 1 && hour < 5 }
    const starts = startsWithin(random, minute * minuteMs, count)
    const made = Array.from(starts, (id) => {
      const row = generated.next(state)
      row[at.id] = id
      return row
    })
    seq = numberByEnd(made, seq)
    for (const row of made) rows.add(row)
    gateways.add(minute, made)
    uncommitted += count
    if (uncommitted >= rowsPerTransaction) {
      database.exec('COMMIT')
      database.exec('BEGIN')
      uncommitted = 0
    }
  }
  gateways.write(database, firstMinute, pastMinute, incidents)
  markUnsummed(database)
  database.exec('COMMIT')
}

/** Ids of calls at chance instants of a minute, rising. */
function startsWithin(random: () => number, fromMs: number, count: number): Float64Array {
  const ids = new Float64Array(count)
  for (let i = 0; i < count; i++) ids[i] = fromMs + Math.floor(random() * minuteMs)
  ids.sort()
  let sameMs = 0
  let lastMs = 0
  for (let i = 0; i < count; i++) {
    const startMs = ids[i]!
    sameMs = startMs === lastMs ? sameMs + 1 : 0
    lastMs = startMs
    ids[i] = startMs * idsPerMs + sameMs
  }
  return ids
}

/** `seq` is the order of ending, here within a minute's calls. */
function numberByEnd(rows: readonly CallRow[], lastSeq: number): number {
  const endOf = (row: CallRow): number => (Number(row[at.id]) / idsPerMs) * 1000 + Number(row[at.duration_us])
  let seq = lastSeq
  for (const row of rows.toSorted((a, b) => endOf(a) - endOf(b))) row[at.seq] = ++seq
  return seq
}
