import type { Migration } from './migration.ts'

const figures = `
  calls INTEGER NOT NULL,
  errors INTEGER NOT NULL,
  left_calls INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cached_input_tokens INTEGER NOT NULL,
  cache_write_tokens INTEGER NOT NULL,
  reasoning_tokens INTEGER NOT NULL,
  total_tokens INTEGER NOT NULL,
  cost_nano_usd INTEGER NOT NULL,
  priced_calls INTEGER NOT NULL,
  unpriced_calls INTEGER NOT NULL,
  spreads BLOB`

/** Calls added up by quarter hours and wider spans, so that a question over months reads thousands of rows. */
export const rollups: Migration = {
  version: 2,
  sql: `
CREATE TABLE rollup_keys (
  id INTEGER PRIMARY KEY,
  grouping_id INTEGER NOT NULL,
  call_type_id INTEGER NOT NULL,
  entry_id INTEGER NOT NULL,
  outcome_id INTEGER NOT NULL,
  UNIQUE (grouping_id, call_type_id, entry_id, outcome_id)
) STRICT;

-- By time first: what is added in one go lies together.
CREATE TABLE rollup_quarters (
  slot INTEGER NOT NULL,
  key_id INTEGER NOT NULL REFERENCES rollup_keys,${figures},
  PRIMARY KEY (slot, key_id)
) STRICT, WITHOUT ROWID;

-- By key first: a question reads few keys over long times.
CREATE TABLE rollup_spans (
  level INTEGER NOT NULL,
  key_id INTEGER NOT NULL REFERENCES rollup_keys,
  slot INTEGER NOT NULL,${figures},
  PRIMARY KEY (level, key_id, slot)
) STRICT, WITHOUT ROWID;

CREATE TABLE rollup_state (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  watermark_seq INTEGER NOT NULL,
  coarse_until INTEGER NOT NULL,
  coarse_key INTEGER NOT NULL,
  folded_until INTEGER NOT NULL
) STRICT;
INSERT INTO rollup_state VALUES (1, 0, 0, 0, 0);
`,
}
