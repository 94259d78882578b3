/**
 * The tables and functions for shared slots: `SlotPool` (test/support/slot-pool.ts) in SQL. Times are ms
 * since the Unix epoch by the database's clock, the only one that counts. The tables of holders are
 * `UNLOGGED`, so after a crash or a failover they are empty, and never out of date. The list of gateways is
 * logged: after such a loss, no gateway gets a slot until all gateways in the list have reported.
 */
export const slotTables = `
-- The settings of all gateways: slots, tokens of any 24 hours, and whether calls beyond these are refused.
CREATE TABLE tokenweir.settings (
  id integer PRIMARY KEY CHECK (id = 1), max_concurrent integer NOT NULL, token_limit bigint NOT NULL, rejects boolean NOT NULL
);

CREATE TABLE tokenweir.gateways (
  instance text PRIMARY KEY,
  -- The number in the run's call ids. No other run has it until an hour after the last id.
  number smallint NOT NULL UNIQUE CHECK (number BETWEEN 0 AND 63),
  -- The data folder, and the identity of the process.
  folder text NOT NULL,
  host text NOT NULL,
  pid integer NOT NULL,
  start_ticks bigint,
  boot_id text,
  pid_namespace text,
  machine_id text,
  version text NOT NULL,
  -- The settings that the gateway's start asked for; null means the others' value.
  asked_concurrent integer,
  asked_tokens bigint,
  asked_rejects boolean,
  -- At its last report: tokens that calls in flight may use, and recorded calls that it had not sent yet.
  reserved_tokens bigint NOT NULL DEFAULT 0,
  behind bigint NOT NULL DEFAULT 0,
  lease_ms double precision NOT NULL,
  joined_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  seen_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  left_at timestamptz
);

CREATE UNLOGGED TABLE tokenweir.slot_state (
  id integer PRIMARY KEY CHECK (id = 1),
  pool_id text NOT NULL,
  -- The run of the database server, and the identity of this table: a restored copy has another one.
  engine text NOT NULL,
  recovering_until double precision NOT NULL
);
CREATE UNLOGGED TABLE tokenweir.slot_holders (
  holder text PRIMARY KEY,
  join_order bigint NOT NULL,
  join_count bigint NOT NULL,
  granted_total integer NOT NULL,
  returned_total integer NOT NULL,
  waiting double precision[] NOT NULL,
  lease_ends double precision NOT NULL,
  last_sent_total integer,
  last_sent_contended boolean,
  active integer NOT NULL,
  queued integer NOT NULL,
  seen double precision NOT NULL
) WITH (fillfactor = 40);
CREATE UNLOGGED TABLE tokenweir.slot_ended (holder text PRIMARY KEY, join_count bigint NOT NULL);
CREATE UNLOGGED TABLE tokenweir.slot_expected (holder text PRIMARY KEY);

CREATE FUNCTION tokenweir.now_ms() RETURNS double precision LANGUAGE sql VOLATILE AS
  'SELECT extract(epoch FROM clock_timestamp())::double precision * 1000';

CREATE FUNCTION tokenweir.slots_are_learnt(p_now double precision) RETURNS boolean LANGUAGE sql VOLATILE AS $$
  SELECT NOT EXISTS (SELECT FROM tokenweir.slot_expected)
    OR EXISTS (SELECT FROM tokenweir.slot_state WHERE p_now >= recovering_until)
$$;

-- Begins a new state if there is none, or the server has restarted. Call it with the lock held.
CREATE FUNCTION tokenweir.slots_open(p_now double precision) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  v_engine text := pg_postmaster_start_time()::text || ' ' || 'tokenweir.slot_state'::regclass::oid;
  v_pool_id text;
BEGIN
  SELECT s.pool_id INTO v_pool_id FROM tokenweir.slot_state AS s WHERE s.engine = v_engine;
  IF v_pool_id IS NOT NULL THEN RETURN v_pool_id; END IF;
  DELETE FROM tokenweir.slot_state;
  DELETE FROM tokenweir.slot_holders;
  DELETE FROM tokenweir.slot_ended;
  DELETE FROM tokenweir.slot_expected;
  v_pool_id := gen_random_uuid()::text;
  INSERT INTO tokenweir.slot_expected SELECT instance FROM tokenweir.gateways WHERE left_at IS NULL;
  INSERT INTO tokenweir.slot_state
    SELECT 1, v_pool_id, v_engine, p_now + coalesce(max(lease_ms), 0) FROM tokenweir.gateways WHERE left_at IS NULL;
  RETURN v_pool_id;
END $$;

-- Grants each free slot to the call that has waited the longest.
CREATE FUNCTION tokenweir.slots_grant(p_now double precision) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_free bigint;
BEGIN
  IF NOT tokenweir.slots_are_learnt(p_now) THEN RETURN; END IF;
  SELECT (SELECT max_concurrent FROM tokenweir.settings) - coalesce(sum(granted_total - returned_total), 0)
    INTO v_free FROM tokenweir.slot_holders;
  IF v_free <= 0 THEN RETURN; END IF;
  WITH oldest AS (
    SELECT h.holder FROM tokenweir.slot_holders AS h, unnest(h.waiting) WITH ORDINALITY AS w(since, nth)
    ORDER BY w.since, h.join_order, w.nth LIMIT v_free
  ), next AS (SELECT holder, count(*)::integer AS slots FROM oldest GROUP BY holder)
  UPDATE tokenweir.slot_holders AS h SET granted_total = h.granted_total + n.slots, waiting = h.waiting[n.slots + 1:]
    FROM next AS n WHERE n.holder = h.holder;
END $$;

-- Frees the slots of holders that were silent for a lease.
CREATE FUNCTION tokenweir.slots_end_leases(p_now double precision) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  WITH gone AS (DELETE FROM tokenweir.slot_holders WHERE lease_ends <= p_now RETURNING holder, join_count)
  INSERT INTO tokenweir.slot_ended SELECT holder, join_count FROM gone
    ON CONFLICT (holder) DO UPDATE SET join_count = excluded.join_count;
  PERFORM tokenweir.slots_grant(p_now);
END $$;

-- Notes the message for each holder, and returns the holders whose message has changed.
CREATE FUNCTION tokenweir.slots_news(p_but text) RETURNS text[] LANGUAGE sql AS $$
  WITH pool AS (
    SELECT sum(granted_total - returned_total) > (SELECT max_concurrent FROM tokenweir.settings) AS over,
      count(*) FILTER (WHERE cardinality(waiting) > 0) AS wait
    FROM tokenweir.slot_holders
  ), sent AS (
    UPDATE tokenweir.slot_holders AS h
    SET last_sent_total = h.granted_total, last_sent_contended = p.over OR p.wait > (cardinality(h.waiting) > 0)::integer
    FROM pool AS p
    WHERE (h.last_sent_total, h.last_sent_contended)
      IS DISTINCT FROM (h.granted_total, p.over OR p.wait > (cardinality(h.waiting) > 0)::integer)
    RETURNING h.holder
  )
  SELECT coalesce(array_agg(holder), '{}') FROM sent WHERE holder IS DISTINCT FROM p_but
$$;

-- Frees the slots of a holder at once.
CREATE FUNCTION tokenweir.slots_leave(p_now double precision, p_holder text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM tokenweir.slots_open(p_now);
  WITH gone AS (DELETE FROM tokenweir.slot_holders WHERE holder = p_holder RETURNING holder, join_count)
  INSERT INTO tokenweir.slot_ended SELECT holder, join_count FROM gone
    ON CONFLICT (holder) DO UPDATE SET join_count = excluded.join_count;
  DELETE FROM tokenweir.slot_expected WHERE holder = p_holder;
  PERFORM tokenweir.slots_grant(p_now);
END $$;

-- Takes a gateway's message at a given time, and grants free slots. 'is_known' is null for a gateway that is not in the
-- list.
CREATE FUNCTION tokenweir.slots_sync_at(
  p_now double precision, p_holder text, p_pool_id text, p_join_count bigint, p_used_at_join integer, p_returned_total integer,
  p_granted_total integer, p_ages double precision[], p_lease_ms double precision, p_active integer, p_queued integer,
  OUT is_known boolean, OUT pool_id text, OUT granted_total integer, OUT contended boolean, OUT woken text[],
  OUT elsewhere_ms double precision
) LANGUAGE plpgsql AS $$
DECLARE
  v_join_count bigint;
  v_ended bigint;
BEGIN
  pool_id := tokenweir.slots_open(p_now);
  PERFORM tokenweir.slots_end_leases(p_now);
  is_known := p_pool_id IS NOT DISTINCT FROM pool_id;
  IF is_known THEN
    SELECT h.join_count INTO v_join_count FROM tokenweir.slot_holders AS h WHERE h.holder = p_holder;
    IF v_join_count IS DISTINCT FROM p_join_count THEN
      SELECT e.join_count INTO v_ended FROM tokenweir.slot_ended AS e WHERE e.holder = p_holder;
      IF p_join_count <= coalesce(v_join_count, v_ended, 0) THEN
        is_known := false;
      ELSE
        UPDATE tokenweir.gateways SET left_at = NULL, seen_at = clock_timestamp() WHERE instance = p_holder;
        IF FOUND THEN
          INSERT INTO tokenweir.slot_holders AS h
            SELECT p_holder, coalesce(max(join_order), 0) + 1, p_join_count, p_used_at_join, 0, '{}', 0, NULL, NULL, 0, 0, 0 FROM tokenweir.slot_holders
            ON CONFLICT (holder) DO UPDATE SET join_count = excluded.join_count, granted_total = excluded.granted_total, returned_total = 0,
              waiting = '{}', last_sent_total = NULL, last_sent_contended = NULL;
          DELETE FROM tokenweir.slot_expected WHERE holder = p_holder;
        ELSE
          is_known := NULL;
        END IF;
      END IF;
    END IF;
  END IF;
  IF is_known THEN
    -- Slots on their way to the gateway are for its longest waiting calls.
    UPDATE tokenweir.slot_holders AS h SET
      returned_total = greatest(h.returned_total, p_returned_total),
      waiting = ARRAY(SELECT p_now - age FROM unnest(p_ages) WITH ORDINALITY AS a(age, nth)
        WHERE nth > h.granted_total - p_granted_total ORDER BY nth),
      lease_ends = p_now + p_lease_ms, active = p_active, queued = p_queued, seen = p_now
    WHERE h.holder = p_holder;
    PERFORM tokenweir.slots_grant(p_now);
  END IF;
  woken := tokenweir.slots_news(CASE WHEN is_known THEN p_holder END);
  IF is_known THEN
    SELECT h.granted_total, h.last_sent_contended INTO granted_total, contended FROM tokenweir.slot_holders AS h WHERE h.holder = p_holder;
    -- Null if fewer slots are left than are held: then each freed slot goes back.
    SELECT greatest(p_now - min(h.waiting[1]) FILTER (WHERE h.holder <> p_holder), 0) INTO elsewhere_ms
      FROM tokenweir.slot_holders AS h
      HAVING sum(h.granted_total - h.returned_total) <= (SELECT max_concurrent FROM tokenweir.settings)
        AND count(h.waiting[1]) FILTER (WHERE h.holder <> p_holder) > 0;
  END IF;
END $$;

-- Takes the lock. A caller that waits too long fails, and tries again.
CREATE FUNCTION tokenweir.slots_lock() RETURNS void LANGUAGE plpgsql SET lock_timeout TO '1500ms' AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('tokenweir.slots'));
END $$;

CREATE FUNCTION tokenweir.slots_wake(p_woken text[]) RETURNS void LANGUAGE sql AS
  $$ SELECT pg_notify('tokenweir_' || name, '') FROM unnest(p_woken) AS name $$;

-- Takes a gateway's message. Returns the answer, the figures of all gateways, and the names of the others in the list.
CREATE FUNCTION tokenweir.slots_sync(
  p_holder text, p_pool_id text, p_join_count bigint, p_used_at_join integer, p_returned_total integer, p_granted_total integer,
  p_ages double precision[], p_lease_ms double precision, p_active integer, p_queued integer,
  OUT is_known boolean, OUT pool_id text, OUT granted_total integer, OUT contended boolean, OUT elsewhere_ms double precision,
  OUT max_concurrent integer,
  OUT gateways bigint, OUT held bigint, OUT active_all bigint, OUT queued_all bigint, OUT is_recovered boolean,
  OUT others text[]
) LANGUAGE plpgsql AS $$
DECLARE
  v_now double precision;
  v_woken text[];
BEGIN
  PERFORM tokenweir.slots_lock();
  v_now := tokenweir.now_ms();
  SELECT s.is_known, s.pool_id, s.granted_total, s.contended, s.elsewhere_ms, s.woken
    INTO is_known, pool_id, granted_total, contended, elsewhere_ms, v_woken
    FROM tokenweir.slots_sync_at(v_now, p_holder, p_pool_id, p_join_count, p_used_at_join, p_returned_total, p_granted_total, p_ages, p_lease_ms,
      p_active, p_queued) AS s;
  IF v_woken <> '{}' THEN PERFORM tokenweir.slots_wake(v_woken); END IF;
  SELECT count(*), coalesce(sum(h.granted_total - h.returned_total), 0), coalesce(sum(h.active), 0), coalesce(sum(h.queued), 0)
    INTO gateways, held, active_all, queued_all FROM tokenweir.slot_holders AS h;
  SELECT s.max_concurrent INTO max_concurrent FROM tokenweir.settings AS s;
  is_recovered := tokenweir.slots_are_learnt(v_now);
  others := ARRAY(SELECT instance FROM tokenweir.gateways WHERE left_at IS NULL AND instance <> p_holder);
END $$;

-- Removes a gateway that has ended or is known to be dead.
CREATE FUNCTION tokenweir.release_gateway(p_instance text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  PERFORM tokenweir.slots_lock();
  UPDATE tokenweir.gateways SET left_at = clock_timestamp() WHERE instance = p_instance AND left_at IS NULL;
  IF NOT FOUND THEN RETURN false; END IF;
  PERFORM tokenweir.slots_leave(tokenweir.now_ms(), p_instance);
  PERFORM tokenweir.slots_wake(tokenweir.slots_news(NULL));
  RETURN true;
END $$;

-- Changes the number of slots for all gateways. Each gets it with its next message, and waiting ones at once.
CREATE FUNCTION tokenweir.set_max_concurrent(p_max integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM tokenweir.slots_lock();
  UPDATE tokenweir.settings SET max_concurrent = p_max;
  PERFORM tokenweir.slots_open(tokenweir.now_ms());
  PERFORM tokenweir.slots_grant(tokenweir.now_ms());
  PERFORM tokenweir.slots_news(NULL);
  PERFORM tokenweir.slots_wake(ARRAY(SELECT holder FROM tokenweir.slot_holders));
END $$;

-- Adds a gateway to the list. 'number' is null if other settings are in force, or no number is free. A gateway that was
-- in a list before reports its settings, schema and the other gateways. If the schema was created again, the settings are
-- written again, and no slot is granted until all of these gateways have reported what they hold, or a lease is over.
CREATE FUNCTION tokenweir.enter_gateway(
  p_instance text, p_folder text, p_host text, p_pid integer, p_start_ticks bigint, p_boot_id text,
  p_pid_namespace text, p_machine_id text, p_version text, p_lease_ms double precision,
  p_asked_concurrent integer, p_asked_tokens bigint, p_asked_rejects boolean,
  p_max integer, p_token_limit bigint, p_rejects boolean, p_schema text, p_others text[],
  OUT number integer, OUT max_concurrent integer, OUT token_limit bigint, OUT rejects boolean, OUT schema text
) LANGUAGE plpgsql AS $$
DECLARE
  v_before tokenweir.gateways;
  v_max integer;
  v_token_limit bigint;
  v_rejects boolean;
BEGIN
  PERFORM tokenweir.slots_lock();
  schema := 'tokenweir.gateways'::regclass::oid;
  INSERT INTO tokenweir.settings VALUES (1, p_max, p_token_limit, p_rejects) ON CONFLICT DO NOTHING;
  IF p_schema <> schema THEN
    PERFORM tokenweir.slots_open(tokenweir.now_ms());
    UPDATE tokenweir.settings SET max_concurrent = p_max, token_limit = p_token_limit, rejects = p_rejects;
    -- The other gateways in the list are expected to report.
    INSERT INTO tokenweir.slot_expected SELECT p_instance UNION SELECT name FROM unnest(p_others) AS name
      WHERE NOT EXISTS (SELECT FROM tokenweir.gateways AS g WHERE g.instance = name) ON CONFLICT DO NOTHING;
    UPDATE tokenweir.slot_state SET recovering_until = tokenweir.now_ms() + p_lease_ms;
  END IF;
  SELECT s.max_concurrent, s.token_limit, s.rejects INTO max_concurrent, token_limit, rejects FROM tokenweir.settings AS s;
  SELECT * INTO v_before FROM tokenweir.gateways AS g WHERE g.folder = p_folder ORDER BY g.joined_at DESC LIMIT 1;
  -- A gateway that asks for the same as before has not changed its setting: the setting was changed elsewhere.
  v_max := coalesce(CASE WHEN p_asked_concurrent IS DISTINCT FROM v_before.asked_concurrent THEN p_asked_concurrent END, max_concurrent);
  v_token_limit := coalesce(CASE WHEN p_asked_tokens IS DISTINCT FROM v_before.asked_tokens THEN p_asked_tokens END, token_limit);
  v_rejects := coalesce(CASE WHEN p_asked_rejects IS DISTINCT FROM v_before.asked_rejects THEN p_asked_rejects END, rejects);
  IF p_schema IS NULL AND (v_max, v_token_limit, v_rejects) <> (max_concurrent, token_limit, rejects) THEN
    -- New settings are used if no gateway of another folder runs.
    IF EXISTS (SELECT FROM tokenweir.gateways AS g WHERE g.left_at IS NULL AND g.folder <> p_folder) THEN RETURN; END IF;
    UPDATE tokenweir.settings SET token_limit = v_token_limit, rejects = v_rejects;
    PERFORM tokenweir.set_max_concurrent(v_max);
    max_concurrent := v_max;
    token_limit := v_token_limit;
    rejects := v_rejects;
  END IF;
  -- One hour allows for differing clocks. A run of the same folder has the same clock as the one before.
  SELECT n INTO number FROM generate_series(0, 63) AS n
    WHERE NOT EXISTS (SELECT FROM tokenweir.gateways AS g WHERE g.number = n AND (g.left_at IS NULL
      OR (g.left_at > clock_timestamp() - interval '1 hour' AND g.folder <> p_folder)))
    ORDER BY EXISTS (SELECT FROM tokenweir.gateways AS g WHERE g.number = n AND g.folder = p_folder) DESC, n LIMIT 1;
  IF number IS NULL THEN RETURN; END IF;
  DELETE FROM tokenweir.slot_ended WHERE holder IN (SELECT g.instance FROM tokenweir.gateways AS g WHERE g.number = enter_gateway.number);
  DELETE FROM tokenweir.gateways AS g WHERE g.number = enter_gateway.number;
  INSERT INTO tokenweir.gateways (instance, number, folder, host, pid, start_ticks, boot_id, pid_namespace, machine_id,
      version, asked_concurrent, asked_tokens, asked_rejects, lease_ms)
    VALUES (p_instance, number, p_folder, p_host, p_pid, p_start_ticks, p_boot_id, p_pid_namespace, p_machine_id,
      p_version, p_asked_concurrent, p_asked_tokens, p_asked_rejects, p_lease_ms)
    -- The gateway was removed as dead but runs, so another one may have its number by now.
    ON CONFLICT (instance) DO UPDATE SET number = excluded.number, left_at = NULL, reserved_tokens = 0,
      joined_at = clock_timestamp(), seen_at = clock_timestamp();
  -- The others learn of the change before this gateway holds a slot for long.
  PERFORM tokenweir.slots_wake(ARRAY(SELECT g.instance FROM tokenweir.gateways AS g
    WHERE g.left_at IS NULL AND g.instance <> p_instance));
END $$;

-- Notes that a gateway runs, and returns the other running ones, as of a second ago at most. A gateway that was silent
-- for a lease and a minute has left.
CREATE FUNCTION tokenweir.look_at_gateways(p_instance text) RETURNS TABLE (
  instance text, number smallint, folder text, host text, pid integer, start_ticks bigint, boot_id text,
  pid_namespace text, machine_id text, silent_ms double precision
) LANGUAGE plpgsql SET synchronous_commit TO off AS $$
BEGIN
  UPDATE tokenweir.gateways AS g SET seen_at = clock_timestamp()
    WHERE g.instance = p_instance AND g.left_at IS NULL AND g.seen_at < clock_timestamp() - interval '10 s';
  UPDATE tokenweir.gateways AS g SET left_at = clock_timestamp()
    WHERE g.left_at IS NULL AND g.seen_at < clock_timestamp() - interval '1 minute' - g.lease_ms * interval '1 ms';
  RETURN QUERY SELECT g.instance, g.number, g.folder, g.host, g.pid, g.start_ticks, g.boot_id, g.pid_namespace, g.machine_id,
      tokenweir.now_ms() - greatest(h.seen, extract(epoch FROM g.joined_at)::double precision * 1000)
    FROM tokenweir.gateways AS g LEFT JOIN tokenweir.slot_holders AS h ON h.holder = g.instance
    WHERE g.left_at IS NULL AND g.instance <> p_instance;
END $$;
`
