import { DatabaseSync } from 'node:sqlite'
import {
  type CallField,
  callTypeCodes,
  outcomeCodes,
  storedFields,
  usageSourceCodes,
  wordTables,
} from '../../call/fields/call-fields.ts'
import { groupings, keyColumns } from '../rollup/groupings.ts'
import { sumColumns } from '../rollup/call-sums.ts'
import { callsReadableSql } from './calls-readable.ts'
import { inTransaction } from './transaction.ts'

/** `user_version` of a database with this schema. */
export const schemaVersion = 1

/** Tables of the closed sets, whose numbers never change because rows have them. */
const codeTables = {
  call_types: callTypeCodes,
  outcomes: outcomeCodes,
  usage_sources: usageSourceCodes,
} as const

function codeTable([table, codes]: readonly [string, Readonly<Record<string, number>>]): string {
  const rows = Object.entries(codes).map(([word, code]) => `(${code}, '${word}')`)
  return `CREATE TABLE ${table} (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT;
INSERT INTO ${table} VALUES ${rows.join(', ')};`
}

/** The statement that creates a table of words; `instances` has one more column. */
function wordTable(table: string): string {
  const version = table === 'instances' ? ', version TEXT' : ''
  return `CREATE TABLE ${table} (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE${version}) STRICT;`
}

function column({ column: name, kind, required, table }: CallField & { readonly column: string }): string {
  const type = kind === 'text' ? 'TEXT' : 'INTEGER'
  const of = kind === 'code' ? name.replace(/_id$/, 's') : table
  return `${name} ${type}${required === true ? ' NOT NULL' : ''}${of === undefined ? '' : ` REFERENCES ${of}`}`
}

/** Computes an hour from its minutes, sixty for each gateway, so it is right for any writer and order. */
const hourOfNew = `BEGIN
  DELETE FROM gateway_hours WHERE hour = new.minute / 60;
  INSERT INTO gateway_hours
  SELECT new.minute / 60, count(*), max(active_max), max(queued_max), sum(at_limit_ms),
    min(minute), max(minute), min(instance_id), max(instance_id)
  FROM gateway_minutes WHERE minute >= new.minute / 60 * 60 AND minute < new.minute / 60 * 60 + 60;
END`

const schemaSql = `
${Object.entries(codeTables).map(codeTable).join('\n')}
${wordTables.map(wordTable).join('\n')}

CREATE TABLE calls (
  id INTEGER PRIMARY KEY,
  seq INTEGER NOT NULL,
  ${storedFields.map(column).join(',\n  ')}
) STRICT;
-- An index ends in the rowid by itself: this one is (model_id, id).
CREATE INDEX calls_by_model ON calls (model_id);
CREATE INDEX calls_failed ON calls (id) WHERE outcome_id >= 2;
CREATE UNIQUE INDEX calls_by_seq ON calls (seq);
CREATE INDEX calls_by_trace ON calls (trace_id) WHERE trace_id IS NOT NULL;
CREATE INDEX calls_by_session ON calls (session_id) WHERE session_id IS NOT NULL;
-- From a call to the next older one of any session, with what sessions are mostly asked for by.
CREATE INDEX calls_in_sessions ON calls (id, session_id, model_id, client_id) WHERE session_id IS NOT NULL;
CREATE INDEX calls_by_tags ON calls (tags_id) WHERE tags_id IS NOT NULL;

-- Calls of living gateways, and of dead ones until they become rows \`interrupted\`.
CREATE TABLE open_calls (
  id INTEGER PRIMARY KEY,
  instance_id INTEGER NOT NULL REFERENCES instances,
  -- The number of the lock that the gateway holds as long as it lives.
  lock_number INTEGER NOT NULL,
  call TEXT NOT NULL
) STRICT;

-- Many calls have the same tags: the tags of a set are noted once, with its first call.
CREATE TABLE tags (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE tags_in_sets (
  tag_id INTEGER NOT NULL REFERENCES tags,
  set_id INTEGER NOT NULL REFERENCES tag_sets,
  PRIMARY KEY (tag_id, set_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE budget_minutes (minute INTEGER PRIMARY KEY, tokens INTEGER NOT NULL) STRICT;
CREATE TABLE budget_estimates (minute INTEGER PRIMARY KEY, tokens INTEGER NOT NULL) STRICT;

CREATE TABLE gateway_minutes (
  minute INTEGER NOT NULL,
  instance_id INTEGER NOT NULL REFERENCES instances,
  active_max INTEGER NOT NULL,
  queued_max INTEGER NOT NULL,
  at_limit_ms INTEGER NOT NULL,
  admitted INTEGER NOT NULL,
  dropped INTEGER NOT NULL,
  PRIMARY KEY (minute, instance_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE gateway_hours (
  hour INTEGER PRIMARY KEY,
  minutes INTEGER NOT NULL,
  active_max INTEGER NOT NULL,
  queued_max INTEGER NOT NULL,
  at_limit_ms INTEGER NOT NULL,
  first_minute INTEGER NOT NULL,
  last_minute INTEGER NOT NULL,
  lowest_instance_id INTEGER NOT NULL REFERENCES instances,
  highest_instance_id INTEGER NOT NULL REFERENCES instances
) STRICT;
CREATE TRIGGER gateway_hours_of_new AFTER INSERT ON gateway_minutes ${hourOfNew};
CREATE TRIGGER gateway_hours_of_changed AFTER UPDATE ON gateway_minutes ${hourOfNew};
CREATE TABLE gateway_events (
  at_ms INTEGER NOT NULL,
  instance_id INTEGER NOT NULL REFERENCES instances,
  kind TEXT NOT NULL,
  detail TEXT,
  PRIMARY KEY (at_ms, instance_id, kind)
) STRICT, WITHOUT ROWID;

-- A combination of values for one way of grouping calls. -1: not told apart, or no value; -2: any of many names.
CREATE TABLE sum_keys (
  id INTEGER PRIMARY KEY,
  grouping_id INTEGER NOT NULL,
  ${keyColumns.map((name) => `${name} INTEGER NOT NULL`).join(',\n  ')},
  UNIQUE (grouping_id, ${keyColumns.join(', ')})
) STRICT;
-- A cell of time, cell_number × minutes since 1970.
CREATE TABLE sums (
  -- With other groupings it is another schema: ${groupings.map(({ id, by, widths }) => `${id} by ${by.join(' ')} of ${widths.join(' ')}`).join('; ')}.
  grouping_id INTEGER NOT NULL,
  minutes INTEGER NOT NULL,
  cell_number INTEGER NOT NULL,
  key_id INTEGER NOT NULL REFERENCES sum_keys,
  ${sumColumns.map((name) => `${name} INTEGER NOT NULL`).join(',\n  ')},
  distributions BLOB,
  PRIMARY KEY (grouping_id, minutes, cell_number, key_id)
) STRICT, WITHOUT ROWID;
-- Hours (60 minutes) whose cells lack the calls beyond a number (0: all), and days (1440) whose cells are to be made.
CREATE TABLE unsummed (
  minutes INTEGER NOT NULL,
  cell_number INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  changes INTEGER NOT NULL,
  PRIMARY KEY (minutes, cell_number)
) STRICT, WITHOUT ROWID;
-- Calls before an instant are folded away; numbers up to the last one are not given again.
CREATE TABLE folding (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  until_ms INTEGER NOT NULL,
  last_seq INTEGER NOT NULL
) STRICT;
INSERT INTO folding VALUES (1, 0, 0);

CREATE TABLE imports (
  id INTEGER PRIMARY KEY,
  at_ms INTEGER NOT NULL,
  source_id INTEGER NOT NULL REFERENCES labels,
  file TEXT NOT NULL,
  records INTEGER NOT NULL,
  added INTEGER NOT NULL,
  present INTEGER NOT NULL,
  skipped INTEGER NOT NULL
) STRICT;
-- See ImportedEntries.
CREATE TABLE imported_entries (hash INTEGER PRIMARY KEY) STRICT;

-- How far the rows of this file were sent to a shared database, and which ones came from there.
CREATE TABLE share_state (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  replica TEXT NOT NULL,
  confirmed_seq INTEGER NOT NULL,
  sending_seq INTEGER NOT NULL,
  passed_seq INTEGER NOT NULL,
  pulled_seq INTEGER NOT NULL,
  known_until_seq INTEGER NOT NULL,
  from_id INTEGER NOT NULL,
  sent_minute INTEGER NOT NULL
) STRICT;
-- Rows that came from there lie in few ranges.
CREATE TABLE share_ranges (first_seq INTEGER PRIMARY KEY, last_seq INTEGER NOT NULL) STRICT;
-- Calls whose cost was changed since it was sent.
CREATE TABLE share_changed (call_id INTEGER PRIMARY KEY, times INTEGER NOT NULL) STRICT;
CREATE TRIGGER share_changed_cost AFTER UPDATE OF cost_nano_usd, price_source_id, price_key_id, cache_saved_nano_usd
ON calls BEGIN
  INSERT INTO share_changed SELECT new.id, 1 FROM share_state WHERE true
  ON CONFLICT (call_id) DO UPDATE SET times = times + 1;
END;
-- Synced files beside the database: prices, limits of clients.
CREATE TABLE share_files (name TEXT PRIMARY KEY, version INTEGER NOT NULL, hash TEXT NOT NULL) STRICT;

${callsReadableSql};
`

/** `user_version` of a database, 0 for one that holds nothing yet. */
export function versionOf(database: DatabaseSync): number {
  return Number(database.prepare('PRAGMA user_version').get()?.['user_version'] ?? 0)
}

/**
 * Creates the tables of an empty database, in one transaction: readers see nothing or all, and a killed process
 * leaves nothing. Two programs may do so at once; the second finds the tables.
 */
export function makeSchema(database: DatabaseSync): void {
  if (versionOf(database) !== 0) return
  inTransaction(database, () => {
    if (versionOf(database) === 0) database.exec(`${schemaSql}PRAGMA user_version = ${schemaVersion}`)
  })
}

let ownStatements: readonly string[] | null = null

/**
 * True if a database has each table, index, view and trigger of this program, with equal SQL, comments
 * included. There may be others.
 */
export function hasSchema(database: DatabaseSync): boolean {
  if (versionOf(database) !== schemaVersion) return false
  ownStatements ??= statementsOfNew()
  const there = new Set(statementsIn(database))
  return ownStatements.every((sql) => there.has(sql))
}

function statementsOfNew(): readonly string[] {
  using database = new DatabaseSync(':memory:')
  makeSchema(database)
  return statementsIn(database)
}

function statementsIn(database: DatabaseSync): readonly string[] {
  const rows = database.prepare('SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL').all()
  return rows.map(({ sql }) => String(sql))
}
