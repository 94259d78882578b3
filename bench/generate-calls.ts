/**
 * Writes a database that looks as if gateways had recorded calls for months:
 * `node bench/generate-calls.ts --calls 1000000 --days 90 --end now --seed 1 --out big.db`.
 * The same options, with an `--end` that is no `now`, give the same rows. With `--many` there are 300 clients, 60 models and 20 tags.
 */
import { renameSync, rmSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { openForWriting } from '../src/store/sqlite/open-store.ts'
import { addPast, sumAll } from './generate/add-past.ts'

const { values } = parseArgs({
  options: {
    calls: { type: 'string', default: '1000000' },
    days: { type: 'string', default: '90' },
    end: { type: 'string', default: 'now' },
    seed: { type: 'string', default: '1' },
    out: { type: 'string' },
    many: { type: 'boolean', default: false },
  },
})
const { out, end, many } = values
const endMs = end === 'now' ? Date.now() : Date.parse(end)
if (Number.isNaN(endMs)) throw new Error(`--end: ${end} is neither now nor a time in ISO 8601`)
if (out === undefined) throw new Error('--out: where to write the database')
const [calls, days, seed] = [Math.round(Number(values.calls)), Number(values.days), Number(values.seed)]
if (!(calls >= 1 && days > 0 && Number.isInteger(seed))) throw new Error('--calls, --days, --seed: numbers')

// The file gets its name once it is complete, so a crash of the machine leaves no partial one.
const unfinished = `${out}.unfinished`
removeDatabase(unfinished)
const database = openForWriting(unfinished)
database.exec('PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA cache_size = -400000')
report('calls', () => addPast(database, { calls, days, endMs, seed, areMany: many }))
report('sums', () => sumAll(database, endMs))
database.exec('ANALYZE; PRAGMA journal_mode = WAL')
database.close()
removeDatabase(out)
renameSync(unfinished, out)

function report(what: string, work: () => void): void {
  const startMs = performance.now()
  work()
  const seconds = (performance.now() - startMs) / 1000
  console.log(`${what}: ${seconds.toFixed(1)} s, ${Math.round(calls / seconds)} calls a second`)
}

function removeDatabase(path: string): void {
  for (const ending of ['', '-wal', '-shm']) rmSync(`${path}${ending}`, { force: true })
}
