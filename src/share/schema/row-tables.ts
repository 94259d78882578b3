import {
  type CallField,
  callFields,
  type NamedField,
  namedFields,
  outcomeCodes,
  storedFields,
} from '../../call/fields/call-fields.ts'
import { fieldKinds } from '../../call/fields/field-kinds.ts'
import { derivedSql, idSql, shownSql } from '../../call/fields/shown-sql.ts'

/** PostgreSQL's type of a field's column. */
export function columnType({ kind }: CallField): 'bigint' | 'integer' | 'smallint' | 'text' {
  return kind === 'derived' ? 'text' : fieldKinds[kind].postgres
}

const bySize = { bigint: 0, integer: 1, smallint: 2, text: 3 } as const

/** Columns by width, the widest first, so that no padding is needed. */
const columns = storedFields
  .toSorted((a, b) => bySize[columnType(a)] - bySize[columnType(b)])
  .map((field) => `  ${field.column} ${columnType(field)}${field.required === true ? ' NOT NULL' : ''}`)
  .join(',\n')

function readable({ name, kind, codes = {}, column }: NamedField): string {
  const value = `c.${column}`
  switch (kind) {
    case 'flag':
      return `${value} = 1`
    case 'code': {
      const words = Object.entries(codes).map(([word, code]) => `WHEN ${code} THEN '${word}'`)
      return `CASE ${value} ${words.join(' ')} END`
    }
    case 'word':
      return `(SELECT w.text FROM tokenweir.words AS w WHERE w.id = ${value})`
    case 'fingerprint':
      return `lpad(to_hex(${value}), 8, '0')`
    case 'derived':
      return derivedSql[name] ?? 'NULL'
    default:
      return shownSql(kind, value)
  }
}

const readableColumns = [
  `${idSql} AS id`,
  'to_timestamp((c.id >> 12) / 1000.0) AS started_at',
  ...namedFields.map((field) => `${readable(field)} AS ${field.name}`),
]

/**
 * The tables of rows. `row_state.last_seq` numbers rows without gaps. Adding rows holds its lock until they
 * are committed, so that all rows up to a visible number are visible.
 */
export const rowTables = `
CREATE TABLE tokenweir.row_state (id integer PRIMARY KEY CHECK (id = 1), last_seq bigint NOT NULL);
INSERT INTO tokenweir.row_state VALUES (1, 0);

-- The files whose rows are here, and how far each has sent.
CREATE TABLE tokenweir.stores (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL UNIQUE,
  sent bigint NOT NULL DEFAULT 0
);

-- A hash index, because a word may be too long for an entry of another index.
CREATE TABLE tokenweir.words (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  text text NOT NULL,
  EXCLUDE USING hash (text WITH =)
);

CREATE TABLE tokenweir.calls (
  id bigint NOT NULL,
  seq bigint NOT NULL,
  -- The number when the row came; 'seq' is a new number after each change.
  first_seq bigint NOT NULL,
${columns.replace(/(\n {2}(?!.*bigint))/, '\n  store_id integer NOT NULL,$1')},
  PRIMARY KEY (id)
) PARTITION BY RANGE (id);
CREATE INDEX calls_by_seq ON tokenweir.calls (seq);

-- Creates the partition of a month if it is missing.
CREATE FUNCTION tokenweir.add_month(month date) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  name text := 'calls_' || to_char(month, 'YYYY_MM');
  first_id bigint := extract(epoch FROM month::timestamp)::bigint * 4096000;
  past_id bigint := extract(epoch FROM (month + interval '1 month')::timestamp)::bigint * 4096000;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('tokenweir.add_month'));
  IF to_regclass('tokenweir.' || name) IS NOT NULL THEN RETURN; END IF;
  -- Created, then attached: to create it as a partition would wait for all readers.
  EXECUTE format('CREATE TABLE tokenweir.%I (LIKE tokenweir.calls INCLUDING ALL)', name);
  EXECUTE format('ALTER TABLE tokenweir.calls ATTACH PARTITION tokenweir.%I FOR VALUES FROM (%s) TO (%s)',
    name, first_id, past_id);
END $$;

CREATE TABLE tokenweir.budget_minutes (
  minute integer NOT NULL,
  instance_id integer NOT NULL,
  tokens bigint NOT NULL,
  estimated bigint NOT NULL,
  seq bigint NOT NULL,
  PRIMARY KEY (minute, instance_id)
);
CREATE INDEX budget_minutes_by_seq ON tokenweir.budget_minutes (seq);

CREATE TABLE tokenweir.gateway_minutes (
  minute integer NOT NULL,
  instance_id integer NOT NULL,
  active_max bigint NOT NULL,
  queued_max bigint NOT NULL,
  at_limit_ms bigint NOT NULL,
  admitted bigint NOT NULL,
  dropped bigint NOT NULL,
  seq bigint NOT NULL,
  store_id integer NOT NULL,
  PRIMARY KEY (minute, instance_id)
);
CREATE INDEX gateway_minutes_by_seq ON tokenweir.gateway_minutes (seq);

CREATE TABLE tokenweir.gateway_events (
  at_ms bigint NOT NULL,
  instance_id integer NOT NULL,
  kind text NOT NULL,
  detail text,
  seq bigint NOT NULL,
  store_id integer NOT NULL,
  PRIMARY KEY (at_ms, instance_id, kind)
);
CREATE INDEX gateway_events_by_seq ON tokenweir.gateway_events (seq);

-- Prices and clients' limits, as in the files beside each database.
CREATE TABLE tokenweir.files (name text PRIMARY KEY, version bigint NOT NULL, body text NOT NULL);

-- For people with psql: the names and units of /api/query.
CREATE VIEW tokenweir.calls_readable AS SELECT
  ${readableColumns.join(',\n  ')}
FROM tokenweir.calls AS c;
`

/** The code of a call that was cut off. A later row may replace its row. */
export const interruptedCode: number = outcomeCodes.interrupted
export const codesWithoutTokens: readonly number[] = [
  callFields.call_type.codes.props,
  callFields.call_type.codes.other,
]
