import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { rowsOf } from '../../../test/store/rows-of.ts'
import { formatCallId } from '../../call/call-id.ts'
import { isFailed, type Outcome } from '../../call/outcome.ts'
import { firstFailedOutcome, outcomeCodes } from '../../call/fields/call-fields.ts'
import { publicFields } from './calls-readable.ts'
import { hasSchema, makeSchema, schemaVersion, versionOf } from './schema.ts'

function made(): DatabaseSync {
  const database = new DatabaseSync(':memory:')
  makeSchema(database)
  return database
}

test('a schema is made whole or not at all: no reader sees a part of it', () => {
  const database = new DatabaseSync(':memory:')
  // A late statement makes a table of this name.
  database.exec('CREATE TABLE share_state (other)')
  assert.throws(() => makeSchema(database), /share_state already exists/)
  assert.equal(versionOf(database), 0)
  const tables = rowsOf(database, 'SELECT name FROM sqlite_schema')
  assert.deepEqual(tables, [{ name: 'share_state' }])
})

test('the view shows the fields of /api/query under their public names', () => {
  const names = made().prepare("SELECT name FROM pragma_table_info('calls_readable')").all()
  assert.deepEqual(
    names.map((row) => row['name']),
    publicFields.map((field) => field.name),
  )
  // The contract's, in their order; others may come between them.
  const promised =
    'id started_at call_type endpoint method stream model response_model service_tier upstream instance ' +
    'status outcome failed failure_code upstream_error_code error_message finish_reason attempts client_retry ' +
    'receive_ms queue_ms retry_wait_ms connect_ms ttfb_ms ttft_ms ttft_total_ms ttfo_ms duration_ms overhead_ms tpot_ms ' +
    'output_tokens_per_s chunks gap_p50_ms gap_p95_ms gap_max_ms stalls input_tokens output_tokens ' +
    'cached_input_tokens cache_write_tokens cache_write_1h_tokens input_audio_tokens output_audio_tokens ' +
    'reasoning_tokens total_tokens usage_source request_bytes response_bytes search_units upstream_request_id ' +
    'upstream_queue_ms upstream_prompt_ms upstream_decode_ms client key_fingerprint user_agent session cost_usd ' +
    'price_source price_key'
  const published = publicFields
    .map((field) => field.name)
    .filter((name) => promised.split(' ').includes(name))
  assert.equal(published.join(' '), promised)
})

test('failed is one comparison', () => {
  for (const [outcome, code] of Object.entries(outcomeCodes)) {
    assert.equal(isFailed(outcome as Outcome), code >= firstFailedOutcome, outcome)
  }
})

test('the view writes an id as the program does', () => {
  const database = made()
  database.exec(
    "INSERT INTO labels VALUES (1, 'x'); INSERT INTO endpoints VALUES (1, 'x'); INSERT INTO instances VALUES (1, 'x', 'v')",
  )
  const insert = database.prepare(
    `INSERT INTO calls (id, seq, call_type_id, endpoint_id, method_id, stream, instance_id, outcome_id, attempts,
      usage_source_id, request_bytes, response_bytes) VALUES (?, ?, 0, 1, 1, 0, 1, 0, 0, 0, 0, 0)`,
  )
  const ids = [0, 1, 31, 32, 2 ** 40 + 12_345, 1_795_233_600_123 * 4096 + 4095, Number.MAX_SAFE_INTEGER]
  for (const [index, id] of ids.entries()) insert.run(id, index)
  assert.deepEqual(
    rowsOf(database, 'SELECT id, started_at FROM calls_readable ORDER BY 1'),
    ids.map((id) => ({ id: formatCallId(id), started_at: new Date(Math.floor(id / 4096)).toISOString() })),
  )
})

test('what is made is not made again', () => {
  const database = made()
  database.exec("INSERT INTO models VALUES (1, 'm')")
  makeSchema(database)
  assert.equal(versionOf(database), schemaVersion)
  assert.equal(database.prepare('SELECT count(*) AS n FROM models').get()?.['n'], 1)
})

test('a schema is known by what it is made of, and may have more beside it', () => {
  const changes: readonly (readonly [sql: string, isOurs: boolean])[] = [
    ['CREATE INDEX own ON calls (status); CREATE TABLE notes (text)', true],
    ['ANALYZE', true],
    [`PRAGMA user_version = ${schemaVersion + 1}`, false],
    ['PRAGMA user_version = 0', false],
    ['ALTER TABLE calls ADD COLUMN more TEXT', false],
    ['DROP TABLE share_files', false],
    ['DROP INDEX calls_by_tags', false],
    ['DROP VIEW calls_readable', false],
  ]
  for (const [sql, isOurs] of changes) {
    using database = made()
    database.exec(sql)
    assert.equal(hasSchema(database), isOurs, sql)
  }
})
