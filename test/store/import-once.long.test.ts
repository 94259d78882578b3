/** Each row of a source is one call, and the second time nothing: equal rows, cut files, killed imports, and a source that must not be touched. */
import assert from 'node:assert/strict'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import * as fc from 'fast-check'
import type { ImportResult } from '../../src/api/database-job.ts'
import { systemClock } from '../../src/call/clock.ts'
import { openImport } from '../../src/import/open-import.ts'
import { importCalls } from '../../src/store/jobs/import-calls.ts'
import { checkStore } from '../../src/store/jobs/check-store.ts'
import { startCommandProcess } from '../support/command-process.ts'
import { fieldsOf } from '../support/fields-of.ts'
import { makeTempDir, type TempDir } from '../support/temp-dir.ts'
import { callsIn, rowsIn } from './rows-of.ts'

type Entry = Readonly<Record<string, string | number | null>>

/** Few different values, so that many entries are equal, in what is read of them and in what is not. */
const anyEntry: fc.Arbitrary<Entry> = fc.record({
  request_id: fc.constantFrom('a', 'b', `resp_${'x'.repeat(300)}1`, `resp_${'x'.repeat(300)}2`),
  call_type: fc.constantFrom('acompletion', 'embedding'),
  startTime: fc.constantFrom(
    '2026-05-01T12:00:00.000Z',
    '2026-05-01T12:00:00.001Z',
    '2026-06-01T12:00:00.000Z',
  ),
  endTime: fc.constant('2026-06-01T12:00:02.000Z'),
  prompt_tokens: fc.constantFrom(0, 7),
  completion_tokens: fc.constantFrom(0, 3),
  status: fc.constantFrom('success', 'failure'),
  cache_key: fc.constantFrom('x', 'y', null),
})

const proxySchema = `CREATE TABLE api_calls (id INTEGER PRIMARY KEY AUTOINCREMENT, timestamp TEXT NOT NULL, model TEXT,
  endpoint TEXT, input_tokens INTEGER, output_tokens INTEGER, total_ms REAL, status_code INTEGER, calls_count INTEGER DEFAULT 1)`

function ndjsonOf(entries: readonly Entry[]): string {
  return entries.map((entry) => `${JSON.stringify(entry)}\n`).join('')
}

function csvOf(entries: readonly Entry[]): string {
  const names = Object.keys(entries[0] ?? { request_id: '' })
  const line = (values: readonly (string | number | null | undefined)[]): string =>
    `${values.map((value) => String(value ?? '')).join()}\n`
  return line(names) + entries.map((entry) => line(names.map((name) => entry[name]))).join('')
}

/** The older proxy's database, as it is beside a process that has ended. */
function makeProxyDatabase(path: string, entries: readonly Entry[], mode: 'wal' | 'delete' = 'wal'): void {
  const database = new DatabaseSync(path)
  database.exec(`PRAGMA journal_mode = ${mode}; ${proxySchema}; BEGIN`)
  const insert = database.prepare(
    'INSERT INTO api_calls (timestamp, model, endpoint, input_tokens, output_tokens, total_ms, status_code) VALUES (?, ?, ?, ?, ?, ?, ?)',
  )
  for (const { startTime, prompt_tokens, completion_tokens, status } of entries)
    insert.run(
      startTime!,
      'm',
      '/v1/chat/completions',
      prompt_tokens!,
      completion_tokens!,
      5,
      status === 'failure' ? 502 : 200,
    )
  database.exec('COMMIT')
  database.close()
}

async function imported(db: string, file: string): Promise<ImportResult> {
  const opened = await openImport(file, null)
  const request = { ...opened, file, dryRun: false }
  const result = await importCalls(db, request, { clock: systemClock, onProgress: () => {}, pricer: null })
  if (typeof result !== 'object') throw new Error(result)
  return result
}

const groupedRows = `SELECT id >> 12, instance_id, input_tokens, output_tokens, status, upstream_request_id, count(*) FROM calls
  GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY 1, 2, 3, 4, 5, 6`

const forms: readonly (readonly [name: string, write: (path: string, entries: readonly Entry[]) => void])[] =
  [
    ['calls.ndjson', (path, entries) => writeFileSync(path, ndjsonOf(entries))],
    ['calls.csv', (path, entries) => writeFileSync(path, csvOf(entries))],
    ['calls.db', (path, entries) => makeProxyDatabase(path, entries)],
  ]

for (const [name, write] of forms) {
  test(`${name}: of many equal entries each is a call, whole, cut before, and the second time none`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyEntry, { minLength: 1, maxLength: 40 }), fc.nat(), async (entries, at) => {
        await using dir = await makeTempDir()
        const [file, db] = [dir.file(name), dir.file('to.db')]
        const cut = at % (entries.length + 1)
        if (cut > 0) {
          mkdirSync(dir.file('cut'))
          write(dir.file(`cut/${name}`), entries.slice(0, cut))
          const { added, present, skipped } = await imported(db, dir.file(`cut/${name}`))
          assert.deepEqual([added, present, skipped], [cut, 0, 0])
        }
        write(file, entries)
        for (const before of [cut, entries.length]) {
          const { added, present, skipped } = await imported(db, file)
          assert.deepEqual([added, present, skipped], [entries.length - before, before, 0])
        }
        assert.equal(callsIn(db), entries.length)
        write(dir.file(`all-${name}`), entries)
        await imported(dir.file('at-once.db'), dir.file(`all-${name}`))
        assert.deepEqual(rowsIn(db, groupedRows), rowsIn(dir.file('at-once.db'), groupedRows))
      }),
      { numRuns: 8 },
    )
  })
}

test('two thousand calls of one millisecond stay in it, and what has no place there is told', async () => {
  await using dir = await makeTempDir()
  const entry = { ...fc.sample(anyEntry, 1)[0]!, startTime: '2026-05-01T12:00:00.000Z' }
  const [file, db] = [dir.file('calls.ndjson'), dir.file('to.db')]
  writeFileSync(file, ndjsonOf(Array.from({ length: 2000 }, () => entry)))
  for (const added of [2000, 0]) {
    const result = await imported(db, file)
    assert.deepEqual([result.added, result.present, result.skipped], [added, 2000 - added, 0])
  }
  using database = new DatabaseSync(db, { readOnly: true })
  const times = database.prepare('SELECT id >> 12 AS ms, count(*) AS n FROM calls GROUP BY 1').all()
  assert.deepEqual(fieldsOf(times, 'ms', 'n'), [[Date.parse(entry.startTime), 2000]])

  writeFileSync(file, ndjsonOf(Array.from({ length: 4100 }, () => entry)))
  await using command = startCommandProcess({ args: ['db', 'import', file, '--db', db], directory: dir.path })
  assert.deepEqual(await command.exited, { code: 1, signal: null })
  assert.match(
    command.stdout,
    /^2,096 calls .*; 2,000 there already, 4 skipped\n {2}4 skipped, line 4097, .*all ids of its instant/,
  )
})

test('killed midway and begun again, each of many equal entries is there once', async () => {
  await using dir = await makeTempDir()
  const entries = fc.sample(anyEntry, { numRuns: 40, seed: 7 })
  const many = Array.from({ length: 6000 }, (_, index) => entries[index % entries.length]!)
  writeFileSync(dir.file('calls.ndjson'), ndjsonOf(many))
  const args = ['db', 'import', 'calls.ndjson', '--json', '--db', 'to.db']
  let midway = 0
  for (let round = 0; round < 2 || (midway === 0 && round < 12); round++) {
    await using process = startCommandProcess({ args, directory: dir.path })
    await process.waitForOutput(/"progress"/)
    await process.stop('SIGKILL')
    const calls = callsIn(dir.file('to.db'))
    if (calls > 0 && calls < many.length) midway++
  }
  assert.ok(midway > 0, 'no kill fell midway')
  await using last = startCommandProcess({ args, directory: dir.path })
  assert.deepEqual(await last.exited, { code: 0, signal: null }, last.stdout)
  await imported(dir.file('at-once.db'), dir.file('calls.ndjson'))
  assert.deepEqual(rowsIn(dir.file('to.db'), groupedRows), rowsIn(dir.file('at-once.db'), groupedRows))
  const report = checkStore(dir.file('to.db'), { full: true })
  assert.ok(typeof report === 'object')
  assert.deepEqual([report.integrity, report.hours.wrongMs], [[], []])
})

/** Everything in a folder: names, contents and times. */
function contentOf(folder: string): readonly unknown[] {
  return readdirSync(folder).map((name) => {
    const { mtimeMs, mode } = statSync(`${folder}/${name}`)
    return [name, mtimeMs, mode, readFileSync(`${folder}/${name}`).toString('base64')]
  })
}

const fifty = fc.sample(anyEntry, { numRuns: 50, seed: 3 })

/** Leaves the log of a process that was killed: the file lacks the rows. */
function makeWithLog(dir: TempDir, path: string): void {
  const made = dir.file('made.db')
  makeProxyDatabase(made, fifty.slice(0, 20))
  const database = new DatabaseSync(made)
  const insert = database.prepare(
    "INSERT INTO api_calls (timestamp, model) VALUES ('2026-05-01T12:00:00Z', 'm')",
  )
  for (let index = 0; index < 30; index++) insert.run()
  copyFileSync(made, path)
  copyFileSync(`${made}-wal`, `${path}-wal`)
  database.close()
}

const sources: readonly (readonly [string, (dir: TempDir, path: string) => void])[] = [
  ['in the mode of a log', (_, path) => makeProxyDatabase(path, fifty)],
  ['in the mode of a journal', (_, path) => makeProxyDatabase(path, fifty, 'delete')],
  ['with a log that was left', makeWithLog],
]

for (const [what, make] of sources) {
  test(`a database ${what} in a read-only folder is imported, and left as it is`, async () => {
    await using dir = await makeTempDir()
    mkdirSync(dir.file('theirs'))
    mkdirSync(dir.file('ours'))
    make(dir, dir.file('theirs/llm_telemetry.db'))
    const before = contentOf(dir.file('theirs'))
    chmodSync(dir.file('theirs'), 0o555)
    // Root may write everywhere: another user takes its place.
    const isRoot = process.getuid?.() === 0
    if (isRoot) {
      chmodSync(dir.path, 0o755)
      chownSync(dir.file('ours'), 65_534, 65_534)
    }
    const launcher = isRoot ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] : []
    for (const added of [50, 0]) {
      await using command = startCommandProcess({
        args: ['db', 'import', '../theirs/llm_telemetry.db', '--db', 'to.db', '--json'],
        directory: dir.file('ours'),
        launcher,
      })
      assert.deepEqual(await command.exited, { code: 0, signal: null }, command.stdout + command.stderr)
      const { result } = JSON.parse(command.stdout.trim().split('\n').at(-1) ?? '') as {
        result: ImportResult
      }
      assert.deepEqual([result.added, result.present], [added, 50 - added])
    }
    chmodSync(dir.file('theirs'), 0o755)
    assert.deepEqual(contentOf(dir.file('theirs')), before)
    // In a folder that may be written to as well.
    renameSync(dir.file('ours/to.db'), dir.file('ours/first.db'))
    await imported(dir.file('ours/to.db'), dir.file('theirs/llm_telemetry.db'))
    assert.deepEqual(contentOf(dir.file('theirs')), before)
  })
}
