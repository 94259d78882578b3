import type { Migration } from './migration.ts'

/** The first schema: calls, their words, the budget's minutes, and the gateway's own history. */
export const calls: Migration = {
  version: 1,
  sql: `
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
}
