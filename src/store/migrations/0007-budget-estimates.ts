import type { Migration } from './migration.ts'

/** Beside `budget_minutes`, which a gateway of an earlier version may still be writing while it hands over. */
export const budgetEstimates: Migration = {
  version: 7,
  sql: `
CREATE TABLE budget_estimates (minute INTEGER PRIMARY KEY, tokens INTEGER NOT NULL) STRICT;
`,
}
