import type { Migration } from './migration.ts'

/**
 * The sums gain the time from a call's arrival to its first token, so all that is not folded is added up again from the
 * calls, a few at a time and beside everything else, as calls are when they come. Calls of folded days that are in the
 * sums already go, as the next compressing would let them go: they would be counted twice.
 */
export const firstTokenSums: Migration = {
  version: 8,
  sql: `
CREATE TEMP TABLE folded AS SELECT folded_until AS quarter, folded_until * 900000 * 4096 AS id, watermark_seq AS seq
  FROM rollup_state;
DELETE FROM repriced WHERE call_id IN
  (SELECT c.id FROM calls AS c, folded WHERE c.id < folded.id AND c.seq <= folded.seq);
DELETE FROM calls WHERE id < (SELECT id FROM folded) AND +seq <= (SELECT seq FROM folded);
DELETE FROM rollup_quarters WHERE slot >= (SELECT quarter FROM folded);
DELETE FROM rollup_spans WHERE slot * CASE level WHEN 1 THEN 4 WHEN 2 THEN 24 WHEN 3 THEN 96 ELSE 2 END
  >= (SELECT quarter FROM folded);
UPDATE rollup_state SET watermark_seq = 0, coarse_until = folded_until, coarse_key = 0,
  held_from = min(held_from, (folded_until + 3) / 4 * 4);
DROP TABLE folded;
`,
}
