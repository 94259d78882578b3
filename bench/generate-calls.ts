/**
 * Writes a database that looks as if gateways had recorded calls for months:
 * `node bench/generate-calls.ts --calls 1000000 --days 90 --end now --seed 1 --out big.db`.
 * The same options, with an `--end` that is no `now`, give the same rows. With `--many` there are 300 clients, 60 models and 20 tags. With `--again` the calls of
 * the file stay unchanged, and the program computes their sums again.
 */
import { renameSync, rmSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { parseArgs } from 'node:util'
import { openForWriting } from '../src/store/sqlite/open-store.ts'
import { addPast } from './generate/add-past.ts'
import { sumAll } from './generate/sums-anew.ts'

interface GenerateOptions {
  readonly calls: number
  readonly days: number
  readonly endMs: number
  readonly seed: number
  readonly out: string
  readonly areMany: boolean
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
      many: { type: 'boolean', default: false },
      again: { type: 'boolean', default: false },
    },
  })
  const endMs = values.end === 'now' ? Date.now() : Date.parse(values.end)
  if (Number.isNaN(endMs)) throw new Error(`--end: ${values.end} is neither now nor a time in ISO 8601`)
  if (values.out === undefined) throw new Error('--out: where to write the database')
  const [calls, days, seed] = [Number(values.calls), Number(values.days), Number(values.seed)]
  if (!(calls >= 1 && days > 0 && Number.isInteger(seed))) throw new Error('--calls, --days, --seed: numbers')
  return {
    calls: Math.round(calls),
    days,
    endMs,
    seed,
    out: values.out,
    areMany: values.many,
    again: values.again,
  }
}

function generate(options: GenerateOptions): void {
  const unfinished = `${options.out}.unfinished`
  if (options.again) renameSync(options.out, unfinished)
  else removeDatabase(unfinished)
  const database = openForWriting(unfinished)
  // The file gets its name once it is complete, so a crash of the machine leaves no partial one.
  database.exec('PRAGMA journal_mode = MEMORY')
  database.exec('PRAGMA synchronous = OFF')
  database.exec('PRAGMA cache_size = -400000')
  if (!options.again) report('calls', database, () => addPast(database, options))
  report('sums', database, () => sumAll(database, options.endMs))
  database.exec('ANALYZE')
  database.exec('PRAGMA journal_mode = WAL')
  database.close()
  removeDatabase(options.out)
  renameSync(unfinished, options.out)
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
