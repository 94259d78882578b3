import assert from 'node:assert/strict'
import { truncateSync, writeFileSync, readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { variedCall } from '../../../test/store/told-of-calls.ts'
import { sampleStartMs } from '../../../test/store/sample-call.ts'
import { seededRandom } from '../../../test/support/seeded-random.ts'
import { makeTempDir, type TempDir } from '../../../test/support/temp-dir.ts'
import { VarintReader } from '../../lib/packed-numbers.ts'
import { type CheckReport, checkStore } from './check-store.ts'
import { foldCalls } from '../rollup/fold-calls.ts'
import { openForWriting } from '../sqlite/open-store.ts'
import { Summing } from '../rollup/summing.ts'
import { dayMs, hourMs } from '../rollup/time-plan.ts'
import { changeIn } from '../../../test/store/rows-of.ts'
import { writeCalls } from '../../../test/store/write-calls.ts'

const firstDayMs = Math.floor(sampleStartMs / dayMs) * dayMs

/** A database of three days, all of it rolled forward but the last calls. */
function makeDatabase(dir: TempDir): string {
  const path = dir.file('calls.db')
  const database = openForWriting(path)
  const random = seededRandom(7)
  const write = (count: number): void => {
    const someMs = (): number => Math.floor(random() * 3) * dayMs + Math.floor(random() * 4 * hourMs)
    const calls = Array.from({ length: count }, (_, index) =>
      variedCall(firstDayMs + someMs(), index, random),
    )
    writeCalls(database, calls)
  }
  write(300)
  const forward = new Summing(database)
  while (forward.step(firstDayMs + 10 * dayMs, 50));
  write(20)
  database.close()
  return path
}

function check(path: string, full: boolean = true): CheckReport {
  const report = checkStore(path, { full })
  assert.ok(typeof report === 'object', JSON.stringify(report))
  return report
}

test('a sound database is found so, whether its calls are rolled forward, folded away or neither', async () => {
  await using dir = await makeTempDir()
  const path = makeDatabase(dir)
  const report = check(path)
  assert.deepEqual(report.integrity, [])
  assert.deepEqual([report.calls, report.callsToAdd, report.foldedUntilMs], [320, 20, null])
  assert.deepEqual(report.hours, { checked: 12, of: 12, wrongMs: [] })
  assert.deepEqual(report.days, { checked: 3, of: 3, wrongMs: [] })

  const database = openForWriting(path)
  const fold = foldCalls(database)
  const summing = new Summing(database)
  while (summing.step(firstDayMs + 10 * dayMs, 50));
  while (fold(firstDayMs + dayMs, 10) !== 0);
  database.close()
  const folded = check(path)
  assert.equal(folded.foldedUntilMs, firstDayMs + dayMs)
  assert.deepEqual(folded.hours, { checked: 8, of: 8, wrongMs: [] })
  assert.deepEqual(folded.days, { checked: 3, of: 3, wrongMs: [] })
})

test('a call that is gone, and a sum that is off, are found where they are', async () => {
  const hour = firstDayMs / hourMs
  const cells = (minutes: number, cell: number): string => `minutes = ${minutes} AND cell_number = ${cell}`
  const more = 'UPDATE sums SET output_tokens = output_tokens + 1 WHERE grouping_id = 0 AND'
  const keys = '(SELECT min(id) FROM sum_keys WHERE grouping_id = 1)'
  /** What is off, and whether hours, days, or both are found wrong. */
  const wrongs: readonly (readonly [sql: string, found: readonly ('hours' | 'days')[]])[] = [
    ['DELETE FROM calls WHERE id = (SELECT min(id) FROM calls WHERE seq < 300)', ['hours']],
    [`${more} ${cells(15, 1 + 4 * hour)}`, ['hours']],
    [`${more} ${cells(60, hour)}`, ['hours', 'days']],
    [`DELETE FROM sums WHERE ${cells(60, hour)} AND key_id = ${keys}`, ['hours', 'days']],
    // Bytes that are no distributions.
    [`UPDATE sums SET distributions = x'05' WHERE ${cells(15, 4 * hour)}`, ['hours']],
    [`UPDATE sums SET distributions = x'05' WHERE ${cells(60, hour)}`, ['hours', 'days']],
    [`UPDATE sums SET distributions = NULL WHERE ${cells(1440, firstDayMs / dayMs)}`, ['days']],
  ]
  for (const [sql, found] of wrongs) {
    await using dir = await makeTempDir()
    const path = makeDatabase(dir)
    changeIn(path, sql)
    const report = check(path)
    for (const each of found) assert.deepEqual(report[each].wrongMs, [firstDayMs], `${each}: ${sql}`)
  }
})

test('a value that is counted in the next bucket is found', async () => {
  await using dir = await makeTempDir()
  const path = makeDatabase(dir)
  const database = new DatabaseSync(path)
  const row = `grouping_id = 0 AND minutes = 1440 AND cell_number = ${firstDayMs / dayMs}`
  const distributions = database.prepare(`SELECT distributions FROM sums WHERE ${row}`).get()?.[
    'distributions'
  ]
  assert.ok(distributions instanceof Uint8Array)
  const reader = new VarintReader(distributions)
  // Count, sum, least, largest, inverses, buckets in use, zeros: then the place of the first bucket.
  for (let number = 0; number < 7; number++) reader.read()
  distributions[reader.at]! ^= 1
  database.prepare(`UPDATE sums SET distributions = ? WHERE ${row}`).run(distributions)
  database.close()
  assert.deepEqual(check(path).days.wrongMs, [firstDayMs])
})

test('an index that lacks a row, and a torn file, are found', async () => {
  await using dir = await makeTempDir()
  const path = makeDatabase(dir)
  const database = new DatabaseSync(path)
  const page = Number(
    database.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'calls_by_seq'").get()?.['rootpage'],
  )
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  database.close()
  const bytes = readFileSync(path)
  // The number of cells of the index's root page, one less.
  const at = (page - 1) * 4096 + 3
  bytes.writeUInt16BE(bytes.readUInt16BE(at) - 1, at)
  writeFileSync(path, bytes)
  assert.ok(check(path).integrity.length > 0)

  truncateSync(path, bytes.length - 8192)
  const torn = checkStore(path, { full: false })
  assert.ok(torn === 'damaged' || (typeof torn === 'object' && torn.integrity.length > 0))
})

test('a sample has the first and the last, and is not larger than it need be', async () => {
  await using dir = await makeTempDir()
  const path = makeDatabase(dir)
  assert.equal(check(path, false).hours.checked, 12)
  assert.equal(checkStore(dir.file('none.db'), { full: false }), 'missing')
})
