/**
 * Writes a database that looks as if gateways had recorded calls for months:
 * `node bench/generate-calls.ts --calls 1000000 --days 90 --end now --seed 1 --out big.db`.
 * The same options, with an `--end` that is no `now`, give the same rows. With `--again` the calls of the
 * file stay as they are and are added to new rollups, as the program now makes them.
 */
import { renameSync, rmSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { parseArgs } from 'node:util'
import { idsPerMs } from '../src/call/call-id.ts'
import { openForWriting } from '../src/store/open-store.ts'
import { at, type CallRow, CallRows, WordIds } from './generate/call-rows.ts'
import { GatewayPast } from './generate/gateway-past.ts'
import { ImaginedCalls } from './generate/imagined-calls.ts'
import { imaginedIncidents, incidentsAt } from './generate/incidents.ts'
import { loadShape } from './generate/load-shape.ts'
import { rollAll, withoutRollups } from './generate/rollups-anew.ts'
import { seededRandom } from './generate/seeded-random.ts'

const minuteMs = 60_000
/** What a call takes on average, roughly: from it follows how many are in flight. */
const usualCallS = 5
/** Slots of the imagined gateways, as a multiple of the calls that are in flight on average. */
const slotsPerAverage = 5
const rowsPerTransaction = 200_000

interface GenerateOptions {
  readonly calls: number
  readonly days: number
  readonly endMs: number
  readonly seed: number
  readonly out: string
  readonly again: boolean
}

function optionsOf(args: readonly string[]): GenerateOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      calls: { type: 'string', default: '1000000' },
      days: { type: 'string', default: '90' },
      end: { type: 'string', default: 'now' },
      seed: { type: 'string', default: '1' },
      out: { type: 'string' },
      again: { type: 'boolean', default: false },
    },
  })
  const endMs = values.end === 'now' ? Date.now() : Date.parse(values.end)
  if (Number.isNaN(endMs)) throw new Error(`--end: ${values.end} is neither now nor a time in ISO 8601`)
  if (values.out === undefined) throw new Error('--out: where to write the database')
  const [calls, days, seed] = [Number(values.calls), Number(values.days), Number(values.seed)]
  if (!(calls >= 1 && days > 0 && Number.isInteger(seed))) throw new Error('--calls, --days, --seed: numbers')
  return { calls: Math.round(calls), days, endMs, seed, out: values.out, again: values.again }
}

function generate(options: GenerateOptions): void {
  const unfinished = `${options.out}.unfinished`
  if (options.again) {
    renameSync(options.out, unfinished)
    withoutRollups(unfinished)
  } else removeDatabase(unfinished)
  const database = openForWriting(unfinished)
  // Whatever happens to the machine meanwhile: the file has its name only when it is complete.
  database.exec('PRAGMA journal_mode = MEMORY')
  database.exec('PRAGMA synchronous = OFF')
  database.exec('PRAGMA cache_size = -400000')
  if (!options.again) report('calls', database, () => addCalls(database, options))
  report('rollups', database, () => rollAll(database, options.endMs))
  database.exec('ANALYZE')
  database.exec('PRAGMA journal_mode = WAL')
  database.close()
  removeDatabase(options.out)
  renameSync(unfinished, options.out)
}

function addCalls(database: DatabaseSync, { calls, days, endMs, seed }: GenerateOptions): void {
  const random = seededRandom(seed)
  const pastMinute = Math.floor(endMs / minuteMs)
  const minutes = Math.round(days * 1440)
  const firstMinute = pastMinute - minutes
  const incidents = imaginedIncidents(random, firstMinute, minutes)
  const { counts } = loadShape(random, calls, firstMinute, minutes, incidents)
  const slots = Math.max(4, Math.round((calls / minutes / 60) * usualCallS * slotsPerAverage))

  const rows = new CallRows(database)
  const imagined = new ImaginedCalls(random, new WordIds(database))
  const past = new GatewayPast(slots)
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
      const row = imagined.next(state)
      row[at.id] = id
      return row
    })
    seq = numberByEnd(made, seq)
    for (const row of made) rows.add(row)
    past.add(minute, made)
    uncommitted += count
    if (uncommitted >= rowsPerTransaction) {
      database.exec('COMMIT')
      database.exec('BEGIN')
      uncommitted = 0
    }
  }
  past.write(database, firstMinute, pastMinute, incidents)
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

function report(what: string, database: DatabaseSync, work: () => void): void {
  const startMs = performance.now()
  work()
  const seconds = (performance.now() - startMs) / 1000
  const rows = Number(database.prepare('SELECT count(*) AS rows FROM calls').get()?.['rows'])
  console.log(`${what}: ${seconds.toFixed(1)} s, ${Math.round(rows / seconds)} calls a second`)
}

function removeDatabase(path: string): void {
  for (const ending of ['', '-wal', '-shm']) rmSync(`${path}${ending}`, { force: true })
}

generate(optionsOf(process.argv.slice(2)))
