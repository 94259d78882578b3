/**
 * Imports, whole, flawed and killed at random instants. Three kills in the suite; more with
 * `TOKENWEIR_KILLS=10 node --test test/store/import.test.ts`.
 */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { addPast, sumAll } from '../../bench/generate/add-past.ts'
import type { ImportResult } from '../../src/api/database-job.ts'
import { formatCallId, parseCallId } from '../../src/call/call-id.ts'
import type { CallJson } from '../../src/call/call-record.ts'
import type { StoreReader } from '../../src/call/call-reader.ts'
import { systemClock } from '../../src/call/clock.ts'
import { openImport } from '../../src/import/open-import.ts'
import { columnsOf, csvText, ndjsonText } from '../../src/query/row-text.ts'
import { compressStore } from '../../src/store/jobs/compress-store.ts'
import { importCalls } from '../../src/store/jobs/import-calls.ts'
import { openCallReader } from '../../src/store/read/call-query.ts'
import { openForWriting } from '../../src/store/sqlite/open-store.ts'
import { startCommandProcess } from '../support/command-process.ts'
import { fieldsOf } from '../support/fields-of.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { makeTempDir, type TempDir } from '../support/temp-dir.ts'
import { assertNear, fiftyAnswers, withoutSource } from './fifty-answers.ts'
import { assertSound } from './assert-sound.ts'

const kills = Number(process.env['TOKENWEIR_KILLS'] ?? 3)
const random = seededRandom(51)
const endMs = Date.UTC(2026, 10, 20)
const days = 20
const dayMs = 86_400_000
const range = { fromMs: endMs - days * dayMs, toMs: endMs }

let generated: readonly CallJson[] = []
let generatedIn: TempDir

before(async () => {
  generatedIn = await makeTempDir()
  const database = openForWriting(generatedIn.file('from.db'))
  addPast(database, { calls: 5000, days, endMs, seed: 51 })
  sumAll(database, Date.now())
  database.close()
  generated = await callsOf(readerOf(generatedIn.file('from.db')))
})

after(() => generatedIn[Symbol.asyncDispose]())

function readerOf(path: string): StoreReader {
  const reader = openCallReader(path)
  if (typeof reader !== 'object') throw new Error(reader)
  return reader
}

async function callsOf(reader: StoreReader): Promise<readonly CallJson[]> {
  const calls = await reader.list({}, { limit: 20_000 })
  reader.close()
  return calls
}

async function imported(db: string, file: string, dryRun = false): Promise<ImportResult> {
  const opened = await openImport(file, null)
  const request = { ...opened, file, dryRun }
  const result = await importCalls(db, request, { clock: systemClock, onProgress: () => {}, pricer: null })
  if (typeof result !== 'object') throw new Error(result)
  return result
}

function counts({ added, present, skipped, stopped }: ImportResult): readonly unknown[] {
  return [added, present, skipped, stopped]
}

/** Comparing thousands at once would print all of them. */
function assertSameCalls(calls: readonly CallJson[], expected: readonly CallJson[]): void {
  assert.equal(calls.length, expected.length)
  const [one, other] = [withoutSource(calls), withoutSource(expected)]
  for (const [index, call] of one.entries()) assert.deepEqual(call, other[index])
}

test('five thousand calls of an export come back with all their fields, and fifty questions have the same answers', async () => {
  await using dir = await makeTempDir()
  const [file, db] = [dir.file('calls.ndjson'), dir.file('data/to.db')]
  writeFileSync(file, ndjsonText(generated))
  assert.deepEqual(counts(await imported(db, file, true)), [5000, 0, 0, null])
  assert.deepEqual(counts(await imported(db, file)), [5000, 0, 0, null])
  const calls = await callsOf(readerOf(db))
  assertSameCalls(calls, generated)
  assert.deepEqual(new Set(calls.map(({ source }) => source)), new Set(['tokenweir']))
  const [told, expected] = [
    await fiftyAnswers(readerOf(db), range),
    await fiftyAnswers(readerOf(generatedIn.file('from.db')), range),
  ]
  assert.equal(told.length, 50)
  for (const [index, answer] of told.entries()) assertNear(answer, expected[index])
  assertSound(db)
  assert.deepEqual(counts(await imported(db, file)), [0, 5000, 0, null])

  const database = new DatabaseSync(db, { readOnly: true })
  assert.equal(database.prepare('SELECT count(*) AS n FROM budget_minutes').get()?.['n'], 0)
  // The file begins with the newest: rows that are added in that order leave half of each page empty.
  const unused = "SELECT 1.0 * sum(unused) / sum(pgsize) AS part FROM dbstat WHERE name = 'calls'"
  assert.ok(Number(database.prepare(unused).get()?.['part']) < 0.3)
  assert.deepEqual(
    database
      .prepare('SELECT added, present FROM imports')
      .all()
      .map((row) => Object.values(row)),
    [
      [5000, 0],
      [0, 5000],
    ],
  )
  database.close()
})

test('so do those of a CSV, with a mark or packed', async () => {
  await using dir = await makeTempDir()
  const some = generated.slice(0, 600)
  const text = csvText(some, columnsOf(some[0]!))
  const forms = { 'marked.csv': Buffer.from(`\uFEFF${text}`), 'packed.csv.gz': gzipSync(text) }
  for (const [name, bytes] of Object.entries(forms)) {
    writeFileSync(dir.file(name), bytes)
    assert.deepEqual(counts(await imported(dir.file(`${name}.db`), dir.file(name))), [600, 0, 0, null], name)
    assertSameCalls(await callsOf(readerOf(dir.file(`${name}.db`))), some)
  }
})

test('a file that goes wrong midway is told with the place, and what came before it stays', async () => {
  await using dir = await makeTempDir()
  const some = generated.slice(0, 300)
  const text = csvText(some, columnsOf(some[0]!))
  const lines = text.split('\r\n')
  const quote = [...lines.slice(0, 201), '"', ...lines.slice(201)].join('\r\n')
  const latin = (line: number): Buffer =>
    Buffer.concat([
      Buffer.from(`${lines.slice(0, line).join('\r\n')}\r\n`),
      Buffer.from('1,M\u00FC\r\n', 'latin1'),
      Buffer.from(lines.slice(line).join('\r\n')),
    ])
  const packed = gzipSync(text)
  const flawed: readonly [string, string | Buffer, number, number, RegExp | null][] = [
    ['cut.csv', text.slice(0, -3), 299, 1, null],
    ['quote.csv', quote, 200, 1, /^line 202, field 1: the quote that begins here never ends, so nothing/],
    ['latin.csv', latin(150), 149, 0, /^line 151 has bytes that are not UTF-8, so nothing from there on/],
    ['latin-at-end.csv', latin(301), 300, 0, /^line 302 has bytes that are not UTF-8/],
    [
      'cut.csv.gz',
      packed.subarray(0, packed.length - 1000),
      -1,
      -1,
      /^the rest of the file cannot be read: unexpected end of file/,
    ],
    ['cut.ndjson', ndjsonText(some).slice(0, -9), 299, 1, null],
  ]
  for (const [name, bytes, added, skipped, stopped] of flawed) {
    writeFileSync(dir.file(name), bytes)
    const result = await imported(dir.file(`${name}.db`), dir.file(name))
    if (added >= 0) assert.deepEqual([result.added, result.skipped], [added, skipped], name)
    else assert.ok(result.added > 0 && result.added < 300)
    if (stopped === null) assert.equal(result.stopped, null, name)
    else assert.match(result.stopped ?? '', stopped)
    assert.equal((await callsOf(readerOf(dir.file(`${name}.db`)))).length, result.added)
    assertSound(dir.file(`${name}.db`))
    writeFileSync(
      dir.file(name),
      name.includes('ndjson') ? ndjsonText(some) : name.includes('gz') ? packed : text,
    )
    assert.equal((await imported(dir.file(`${name}.db`), dir.file(name))).added, 300 - result.added, name)
  }
})

test('calls of another gateway that have the ids of ours get others, the same ones each time', async () => {
  await using dir = await makeTempDir()
  const [one, other, db] = [dir.file('one.ndjson'), dir.file('other.ndjson'), dir.file('to.db')]
  const some = generated.slice(0, 50)
  writeFileSync(one, ndjsonText(some))
  writeFileSync(other, ndjsonText(some.map((call) => ({ ...call, instance: 'elsewhere' }))))
  assert.deepEqual(counts(await imported(db, one)), [50, 0, 0, null])
  for (const added of [50, 0]) {
    assert.deepEqual(counts(await imported(db, other)), [added, 50 - added, 0, null])
  }
  assert.deepEqual(counts(await imported(db, one)), [0, 50, 0, null])
  const calls = await callsOf(readerOf(db))
  assert.deepEqual(
    fieldsOf(calls, 'started_at'),
    some.flatMap(({ started_at }) => [started_at, started_at]),
  )
  assertSound(db)
})

test('calls of days that are kept as sums alone are left out, and that is said', async () => {
  await using dir = await makeTempDir()
  const [file, db] = [dir.file('calls.ndjson'), dir.file('to.db')]
  const some = generated.filter((_, index) => index % 20 === 0)
  writeFileSync(file, ndjsonText(some))
  await imported(db, file)
  const clock = { ...systemClock, wallTime: () => endMs }
  await compressStore(db, { keepDays: 10, dryRun: false }, { clock, onProgress: () => {} })
  const result = await imported(db, file)
  assert.equal(result.added, 0)
  assert.ok(result.skipped > 0 && result.present > 0)
  assert.equal(result.skipped + result.present, some.length)
  assert.match(
    result.problems[0]?.problem ?? '',
    /^calls before 2026-11-10T00:00:00\.000Z are kept only as sums/,
  )
})

test('where a running gateway may have given out an id, a young call gets another', async () => {
  await using dir = await makeTempDir()
  const [file, db] = [dir.file('calls.ndjson'), dir.file('data/llm_telemetry.db')]
  const now = (Math.floor(Date.now()) - 1000) * 4096
  const young = { ...generated[0]!, id: '' }
  writeFileSync(file, ndjsonText([{ ...young, id: formatCallId(now) }]))
  await using gateway = startCommandProcess({
    args: ['gateway', '--port', '0', '--host', '127.0.0.1', '--upstream', 'http://127.0.0.1:9'],
    directory: dir.path,
  })
  await gateway.waitForOutput(/calls are recorded in/)
  assert.deepEqual(counts(await imported(db, file)), [1, 0, 0, null])
  assert.deepEqual(counts(await imported(db, file)), [0, 1, 0, null])
  const [call] = await callsOf(readerOf(db))
  assert.equal(Math.floor(((parseCallId(call?.id ?? '') ?? 0) % 4096) / 128), 31)
  assert.deepEqual(await gateway.stop(), { code: 0, signal: null })
})

test(`${kills} times kill -9, and once more: every call is there once, and the sums are right`, async () => {
  await using dir = await makeTempDir()
  writeFileSync(dir.file('calls.ndjson'), ndjsonText(generated))
  const args = ['db', 'import', 'calls.ndjson', '--json', '--db', 'to.db']
  let midway = 0
  for (let round = 0; round < kills || (midway === 0 && round < 10 * kills); round++) {
    await using process = startCommandProcess({ args, directory: dir.path })
    await process.waitForOutput(/"progress"/)
    await delay(random() * 200)
    await process.stop('SIGKILL')
    const calls = await callsOf(readerOf(dir.file('to.db')))
    if (calls.length > 0 && calls.length < generated.length) midway++
  }
  assert.ok(midway > 0, 'no kill fell midway')
  await using last = startCommandProcess({ args, directory: dir.path })
  assert.deepEqual(await last.exited, { code: 0, signal: null })
  assertSameCalls(await callsOf(readerOf(dir.file('to.db'))), generated)
  assertSound(dir.file('to.db'))
})
