/** A database whose sums do not know the time from arrival to the first token is summed up anew, but for what is folded. */
import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { CallWriter } from '../../src/store/write/call-writer.ts'
import { openCallReader } from '../../src/store/read/call-query.ts'
import { checkStore } from '../../src/store/jobs/check-store.ts'
import { foldCalls } from '../../src/store/rollup/fold-calls.ts'
import { schemaVersion } from '../../src/store/sqlite/migrate.ts'
import { openForWriting } from '../../src/store/sqlite/open-store.ts'
import { BatchEncoder, WordList } from '../../src/store/write/record-batch.ts'
import { RollForward } from '../../src/store/rollup/roll-forward.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { dayMs, variedCall } from './told-of-calls.ts'

/** The eighth migration adds the sums up again. */
const versionBefore = 7
const days = 4
const fromMs = Math.floor(Date.UTC(2026, 10, 14) / dayMs) * dayMs

test('after the step every unfolded call is in the sums once, with its first token; folded sums stay', async () => {
  await using dir = await makeTempDir()
  const path = dir.file('calls.db')
  const random = seededRandom(8)
  const calls = Array.from({ length: 500 }, (_, index) =>
    variedCall(Math.floor(fromMs + random() * days * dayMs), index, random),
  )
  const database = openForWriting(path)
  const words = new WordList()
  const batch = new BatchEncoder().encode(calls)
  words.accept(batch)
  new CallWriter(database, words).write(batch)
  const forward = new RollForward(database)
  while (forward.step(fromMs + days * dayMs, 500));
  // Two days are marked as folded; of the second, some calls are still there, as where compressing was killed.
  const fold = foldCalls(database)
  while (fold(fromMs + dayMs, 1000) > 0);
  assert.equal(fold(fromMs + 2 * dayMs, 20), 20)
  // As an older program left it: no sum holds the new measure, which is a single zero byte when it holds nothing.
  for (const table of ['rollup_quarters', 'rollup_spans']) {
    database.exec(`UPDATE ${table} SET spreads = x'00000000' WHERE spreads IS NOT NULL`)
  }
  // What came with the ninth migration and those after it.
  const added = 'source_id session_source_id tags_id tool_calls tools_id cache_saved_nano_usd'.split(' ')
  database.exec(`PRAGMA foreign_keys = OFF;
    DROP VIEW calls_readable;
    DROP INDEX calls_by_session;
    DROP INDEX calls_in_sessions;
    DROP INDEX calls_by_tags;
    ${added.map((column) => `ALTER TABLE calls DROP COLUMN ${column};`).join('\n')}
    ALTER TABLE repriced DROP COLUMN cache_saved_nano_usd;
    ALTER TABLE rollup_quarters DROP COLUMN cache_saved_nano_usd;
    ALTER TABLE rollup_spans DROP COLUMN cache_saved_nano_usd;
    DROP TABLE imports;
    DROP TRIGGER share_changed_cost;
    DROP TABLE share_state;
    DROP TABLE share_ranges;
    DROP TABLE share_changed;
    DROP TABLE share_deferred;
    DROP TABLE share_files;
    DROP TABLE imported_entries;
    DROP TABLE tags_in_sets;
    DROP TABLE tags;
    DROP TABLE tag_sets;
    DROP TABLE tool_sets;
    DROP INDEX calls_by_trace;
    ALTER TABLE calls DROP COLUMN trace_id;
    ALTER TABLE calls DROP COLUMN parent_span_id;
    ALTER TABLE calls DROP COLUMN upstream_name_id;
    PRAGMA user_version = ${versionBefore}`)
  const before = new Map(callsByDay(path))
  database.close()

  const migrated = openForWriting(path)
  const again = new RollForward(migrated)
  while (again.step(fromMs + days * dayMs, 500));
  migrated.close()
  const report = checkStore(path, { full: true })
  assert.ok(typeof report === 'object')
  assert.equal(report.schemaVersion, schemaVersion)
  assert.deepEqual([report.quarters.wrongMs, report.days.wrongMs, report.callsToAdd], [[], [], 0])
  assert.equal(report.foldedUntilMs, fromMs + 2 * dayMs)

  assert.deepEqual(new Map(callsByDay(path)), before)
  const reader = openCallReader(path)
  assert.ok(typeof reader !== 'string')
  const edgesMs = [fromMs, fromMs + 2 * dayMs, fromMs + days * dayMs]
  const { groups } = await reader.aggregate({ filter: {}, edgesMs, dimension: null })
  const streamed = calls.filter(
    ({ id, outcome, ttftMs }) => id / 4096 >= edgesMs[1]! && outcome === 'ok' && ttftMs !== null,
  )
  assert.ok(streamed.length > 50)
  assert.deepEqual(
    groups.map(({ figures }) => figures.ttft_total_ms.n),
    [0, streamed.length],
  )
  assert.equal(groups[1]!.figures.ttft_ms.n, streamed.length)
  reader.close()
})

/** From the sums of days, and of quarters as long as there are none. */
function callsByDay(path: string): Iterable<readonly [day: number, calls: number]> {
  const database = new DatabaseSync(path, { readOnly: true })
  try {
    return database
      .prepare(
        `SELECT slot / 96 AS day, sum(calls) AS calls FROM rollup_quarters
          JOIN rollup_keys AS k ON k.id = key_id AND k.grouping_id = 0 GROUP BY slot / 96`,
      )
      .all()
      .map((row) => [Number(row['day']), Number(row['calls'])] as const)
  } finally {
    database.close()
  }
}
