import type { Migration } from './migration.ts'

/** An hour is made again of its minutes, sixty for each gateway, so it is right whoever writes them and however often. */
const hourOfNew = `BEGIN
  DELETE FROM gateway_hours WHERE hour = new.minute / 60;
  INSERT INTO gateway_hours
  SELECT new.minute / 60, count(*), max(active_max), max(queued_max), sum(at_limit_ms),
    min(minute), max(minute), min(instance_id), max(instance_id)
  FROM gateway_minutes WHERE minute >= new.minute / 60 * 60 AND minute < new.minute / 60 * 60 + 60;
END`

/** From which quarter hour on there is what older programs did not hold. */
export const marks = `
CREATE TABLE rollup_state_before AS SELECT * FROM rollup_state;
DROP TABLE rollup_state;
CREATE TABLE rollup_state (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  watermark_seq INTEGER NOT NULL,
  coarse_until INTEGER NOT NULL,
  coarse_key INTEGER NOT NULL,
  folded_until INTEGER NOT NULL,
  held_from INTEGER NOT NULL
) STRICT;
INSERT INTO rollup_state
  SELECT id, watermark_seq, coarse_until, coarse_key, folded_until,
    coalesce((SELECT (max(slot) / 4 + 1) * 4 FROM rollup_quarters), 0)
  FROM rollup_state_before;
DROP TABLE rollup_state_before;
`

/**
 * Half hours, and calls by client and model, are held from a quarter hour on: of calls that were added up before, there
 * are none. The gateways' minutes are added up by the hour.
 */
export const rollupMarks: Migration = {
  version: 4,
  sql: `${marks}
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
INSERT INTO gateway_hours
  SELECT minute / 60, count(*), max(active_max), max(queued_max), sum(at_limit_ms),
    min(minute), max(minute), min(instance_id), max(instance_id)
  FROM gateway_minutes GROUP BY minute / 60;
CREATE TRIGGER gateway_hours_of_new AFTER INSERT ON gateway_minutes ${hourOfNew};
CREATE TRIGGER gateway_hours_of_changed AFTER UPDATE ON gateway_minutes ${hourOfNew};
`,
}
