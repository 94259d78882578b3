/**
 * Every step of the schema, oldest first: the number of steps done is the database's `user_version`. What stands in a step
 * is never edited once released; the next step corrects it.
 */

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

/** By their place: the first step makes version 1. */
export const migrations: readonly string[] = [
  // 1: The first schema: calls, their words, the budget's minutes, and the gateway's own history.
  `
CREATE TABLE call_types (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE outcomes (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE usage_sources (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT;
INSERT INTO call_types VALUES (0, 'chat'), (1, 'embedding'), (2, 'rerank'), (3, 'props'), (4, 'other');
INSERT INTO outcomes VALUES (0, 'ok'), (1, 'client_disconnected'), (2, 'upstream_error'), (3, 'upstream_cut'),
  (4, 'gateway_error'), (5, 'refused'), (6, 'interrupted');
INSERT INTO usage_sources VALUES (0, 'none'), (1, 'usage'), (2, 'timings');

CREATE TABLE models (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE endpoints (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE upstreams (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE instances (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE, version TEXT) STRICT;
CREATE TABLE clients (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE user_agents (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE sessions (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE labels (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT;

CREATE TABLE calls (
  id INTEGER PRIMARY KEY,
  seq INTEGER NOT NULL,
  call_type_id INTEGER NOT NULL REFERENCES call_types,
  endpoint_id INTEGER NOT NULL REFERENCES endpoints,
  method_id INTEGER NOT NULL REFERENCES labels,
  stream INTEGER NOT NULL,
  model_id INTEGER REFERENCES models,
  response_model_id INTEGER REFERENCES models,
  service_tier_id INTEGER REFERENCES labels,
  upstream_id INTEGER REFERENCES upstreams,
  instance_id INTEGER NOT NULL REFERENCES instances,
  status INTEGER,
  outcome_id INTEGER NOT NULL REFERENCES outcomes,
  failure_code_id INTEGER REFERENCES labels,
  upstream_error_code_id INTEGER REFERENCES labels,
  error_message TEXT,
  finish_reason_id INTEGER REFERENCES labels,
  attempts INTEGER NOT NULL,
  client_retry INTEGER,
  receive_us INTEGER,
  queue_us INTEGER,
  retry_wait_us INTEGER,
  connect_us INTEGER,
  ttfb_us INTEGER,
  ttft_us INTEGER,
  ttfo_us INTEGER,
  duration_us INTEGER,
  overhead_us INTEGER,
  tpot_us INTEGER,
  chunks INTEGER,
  gap_p50_us INTEGER,
  gap_p95_us INTEGER,
  gap_max_us INTEGER,
  stalls INTEGER,
  input_tokens INTEGER,
  output_tokens INTEGER,
  cached_input_tokens INTEGER,
  cache_write_tokens INTEGER,
  cache_write_1h_tokens INTEGER,
  input_audio_tokens INTEGER,
  output_audio_tokens INTEGER,
  reasoning_tokens INTEGER,
  total_tokens INTEGER,
  usage_source_id INTEGER NOT NULL REFERENCES usage_sources,
  request_bytes INTEGER NOT NULL,
  response_bytes INTEGER NOT NULL,
  search_units INTEGER,
  upstream_request_id TEXT,
  upstream_queue_us INTEGER,
  upstream_prompt_us INTEGER,
  upstream_decode_us INTEGER,
  client_id INTEGER REFERENCES clients,
  key_fingerprint INTEGER,
  user_agent_id INTEGER REFERENCES user_agents,
  session_id INTEGER REFERENCES sessions,
  cost_nano_usd INTEGER,
  price_source_id INTEGER REFERENCES labels,
  price_key_id INTEGER REFERENCES labels
) STRICT;
-- An index ends in the rowid by itself: this one is (model_id, id).
CREATE INDEX calls_by_model ON calls (model_id);
CREATE INDEX calls_failed ON calls (id) WHERE outcome_id >= 2;
CREATE UNIQUE INDEX calls_by_seq ON calls (seq);

CREATE TABLE budget_minutes (minute INTEGER PRIMARY KEY, tokens INTEGER NOT NULL) STRICT;

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

CREATE TABLE gateway_events (
  at_ms INTEGER NOT NULL,
  instance_id INTEGER NOT NULL REFERENCES instances,
  kind TEXT NOT NULL,
  detail TEXT,
  PRIMARY KEY (at_ms, instance_id, kind)
) STRICT, WITHOUT ROWID;
`,
  // 2: Calls added up by quarter hours and wider spans, so that a question over months reads thousands of rows.
  `
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
  // 3: Which process is at a job that one at a time may do.
  `
CREATE TABLE job_leases (
  job TEXT PRIMARY KEY,
  pid INTEGER NOT NULL,
  start_ticks INTEGER,
  boot_id TEXT,
  taken_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`,
  // 4: Half hours, and calls by client and model, are held from a quarter hour on: of calls that were added up
  // before, there are none. The gateways' minutes are added up by the hour.
  `${marks}
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
  // 5: What re-pricing replaced, so that it can be seen, and put back.
  `
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
  // 6: Jobs keep one another away by a lock that the kernel frees, not by a row that a killed process leaves behind.
  'DROP TABLE job_leases;',
  // 7: Beside `budget_minutes`, which a gateway of an earlier version may still be writing while it hands over.
  `
CREATE TABLE budget_estimates (minute INTEGER PRIMARY KEY, tokens INTEGER NOT NULL) STRICT;
`,
  // 8: The sums gain the time from a call's arrival to its first token, so all that is not folded is added up
  // again from the calls, a few at a time and beside everything else, as calls are when they come. Calls of folded
  // days that are in the sums already go, as the next compressing would let them go: they would be counted twice.
  `
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
  // 9: Which trace a call is part of; few calls are part of any.
  `
ALTER TABLE calls ADD COLUMN trace_id TEXT;
ALTER TABLE calls ADD COLUMN parent_span_id TEXT;
CREATE INDEX calls_by_trace ON calls (trace_id) WHERE trace_id IS NOT NULL;
`,
  // 10: Sessions with what named them, tags, and the tools that an answer asks for.
  `
CREATE TABLE tag_sets (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE tool_sets (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT;
ALTER TABLE calls ADD COLUMN session_source_id INTEGER REFERENCES labels;
ALTER TABLE calls ADD COLUMN tags_id INTEGER REFERENCES tag_sets;
ALTER TABLE calls ADD COLUMN tool_calls INTEGER;
ALTER TABLE calls ADD COLUMN tools_id INTEGER REFERENCES tool_sets;
CREATE INDEX calls_by_session ON calls (session_id) WHERE session_id IS NOT NULL;
-- From a call to the next older one of any session, with what sessions are mostly asked for by.
CREATE INDEX calls_in_sessions ON calls (id, session_id, model_id, client_id) WHERE session_id IS NOT NULL;

-- What the cache saved, which is less than nothing where writing to it costs more than it brings.
ALTER TABLE calls ADD COLUMN cache_saved_nano_usd INTEGER;
ALTER TABLE repriced ADD COLUMN cache_saved_nano_usd INTEGER;
ALTER TABLE rollup_quarters ADD COLUMN cache_saved_nano_usd INTEGER NOT NULL DEFAULT 0;
ALTER TABLE rollup_spans ADD COLUMN cache_saved_nano_usd INTEGER NOT NULL DEFAULT 0;

-- Many calls have the same tags: which of them a set has is noted once, with its first call.
CREATE TABLE tags (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE tags_in_sets (
  tag_id INTEGER NOT NULL REFERENCES tags,
  set_id INTEGER NOT NULL REFERENCES tag_sets,
  PRIMARY KEY (tag_id, set_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX calls_by_tags ON calls (tags_id) WHERE tags_id IS NOT NULL;
`,
  // 11: What an import brought a call from, and which imports there were.
  `
ALTER TABLE calls ADD COLUMN source_id INTEGER REFERENCES labels;
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
`,
  // 12: Sharing: how far the rows of this file were sent to a common database, and which ones came from there.
  `
CREATE TABLE share_state (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  store TEXT NOT NULL,
  sent INTEGER NOT NULL,
  sending INTEGER NOT NULL,
  mark INTEGER NOT NULL,
  pulled INTEGER NOT NULL,
  pulled_before INTEGER NOT NULL,
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
-- Calls whose cost was changed elsewhere while a job was at work here.
CREATE TABLE share_deferred (call_id INTEGER PRIMARY KEY) STRICT;
-- What is synced of the files beside the database: prices, limits of clients.
CREATE TABLE share_files (name TEXT PRIMARY KEY, version INTEGER NOT NULL, hash TEXT NOT NULL) STRICT;
`,
  // 13: Which of several upstreams took a call.
  `
ALTER TABLE calls ADD COLUMN upstream_name_id INTEGER REFERENCES upstreams;
`,
  // 14: Which entries of sources were imported; see `ImportedEntries`.
  `
CREATE TABLE imported_entries (entry INTEGER PRIMARY KEY) STRICT;
`,
]
