import type { Migration } from './migration.ts'

/** Which process is at a job that one at a time may do. */
export const jobs: Migration = {
  version: 3,
  sql: `
CREATE TABLE job_leases (
  job TEXT PRIMARY KEY,
  pid INTEGER NOT NULL,
  start_ticks INTEGER,
  boot_id TEXT,
  taken_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`,
}
