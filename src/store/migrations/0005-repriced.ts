import type { Migration } from './migration.ts'

/** What re-pricing replaced, so that it can be seen, and put back. */
export const repriced: Migration = {
  version: 5,
  sql: `
CREATE TABLE reprice_runs (
  id INTEGER PRIMARY KEY,
  at_ms INTEGER NOT NULL,
  from_ms INTEGER NOT NULL,
  to_ms INTEGER NOT NULL,
  model_id INTEGER REFERENCES models
) STRICT;

-- By call first: what is folded away lies together.
CREATE TABLE repriced (
  call_id INTEGER NOT NULL,
  run_id INTEGER NOT NULL REFERENCES reprice_runs,
  cost_nano_usd INTEGER,
  price_source_id INTEGER REFERENCES labels,
  price_key_id INTEGER REFERENCES labels,
  PRIMARY KEY (call_id, run_id)
) STRICT, WITHOUT ROWID;
`,
}
