/**
 * The token budget of gateways that share. Used tokens are counted from rows as they arrive. Each gateway reports the tokens
 * that its calls in flight may use, and those without a row yet.
 */
export const budgetTables = `
CREATE TABLE tokenweir.budget_settings (
  id integer PRIMARY KEY CHECK (id = 1), token_limit bigint NOT NULL, rejects boolean NOT NULL
);
-- The last start's request of each data folder.
CREATE TABLE tokenweir.budget_asked (folder text PRIMARY KEY, token_limit bigint NOT NULL, rejects boolean NOT NULL);

CREATE FUNCTION tokenweir.budget_lock() RETURNS void LANGUAGE plpgsql SET lock_timeout TO '1500ms' AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('tokenweir.budget'));
END $$;

-- The limit and its action, as set by the first start. A later start that asks for another limit is refused, unless its
-- folder asked for the same before: then the limit was changed elsewhere. Null: no start has asked.
CREATE FUNCTION tokenweir.budget_enter(
  p_folder text, p_limit bigint, p_default_limit bigint, p_rejects boolean,
  OUT token_limit bigint, OUT rejects boolean, OUT is_allowed boolean
) LANGUAGE plpgsql AS $$
DECLARE
  v_asked tokenweir.budget_asked;
BEGIN
  PERFORM tokenweir.budget_lock();
  INSERT INTO tokenweir.budget_settings VALUES (1, coalesce(p_limit, p_default_limit), coalesce(p_rejects, false))
    ON CONFLICT DO NOTHING;
  SELECT s.token_limit, s.rejects INTO token_limit, rejects FROM tokenweir.budget_settings AS s;
  SELECT * INTO v_asked FROM tokenweir.budget_asked AS a WHERE a.folder = p_folder;
  is_allowed := coalesce(p_limit IN (token_limit, v_asked.token_limit), p_limit IS NULL)
    AND coalesce(p_rejects IN (rejects, v_asked.rejects), p_rejects IS NULL);
  IF NOT is_allowed THEN RETURN; END IF;
  INSERT INTO tokenweir.budget_asked VALUES (p_folder, coalesce(p_limit, token_limit), coalesce(p_rejects, rejects))
    ON CONFLICT (folder) DO UPDATE SET token_limit = excluded.token_limit, rejects = excluded.rejects;
END $$;

CREATE FUNCTION tokenweir.set_token_limit(p_limit bigint) RETURNS void LANGUAGE sql AS
  'UPDATE tokenweir.budget_settings SET token_limit = p_limit';

-- Takes a gateway's report: tokens used in its run, and those that its calls in flight may use. Returns the sums of all
-- others, without tokens that came as rows, and the minutes in which a row beyond 'p_from_seq' counts: triples of
-- minute, tokens of others, and the estimated ones among them. All are read at one instant, so that each call counts
-- once. If the schema was created again, the limit is written again.
CREATE FUNCTION tokenweir.budget_look(
  p_instance text, p_reported bigint, p_from_seq bigint, p_limit bigint, p_rejects boolean,
  OUT token_limit bigint, OUT pending bigint, OUT last_seq bigint, OUT minutes bigint[]
) LANGUAGE plpgsql SET synchronous_commit TO off AS $$
DECLARE
  v_minute integer := floor(tokenweir.now_ms() / 60000);
  v_own integer;
BEGIN
  SELECT s.token_limit INTO token_limit FROM tokenweir.budget_settings AS s;
  IF token_limit IS NULL THEN
    INSERT INTO tokenweir.budget_settings VALUES (1, p_limit, p_rejects) ON CONFLICT DO NOTHING;
    token_limit := p_limit;
  END IF;
  UPDATE tokenweir.gateways AS g SET reported_tokens = p_reported WHERE g.instance = p_instance AND g.reported_tokens <> p_reported;
  SELECT w.id INTO v_own FROM tokenweir.words AS w WHERE w.text = p_instance;
  SELECT r.last_seq, (
    SELECT coalesce(sum(greatest(g.reported_tokens - g.sent_tokens, 0)), 0) FROM tokenweir.gateways AS g
    WHERE g.instance <> p_instance AND g.left_at IS NULL
  ), (
    SELECT array_agg(v) FROM (
      SELECT unnest(ARRAY[m.minute, sum(m.tokens + m.estimated), sum(m.estimated)]::bigint[]) AS v
      FROM tokenweir.budget_minutes AS m
      WHERE m.instance_id IS DISTINCT FROM v_own AND m.minute IN (SELECT n.minute FROM tokenweir.budget_minutes AS n
        WHERE n.seq > p_from_seq AND n.minute BETWEEN v_minute - 1440 AND v_minute + 1440)
      GROUP BY m.minute
    ) AS counted
  ) INTO last_seq, pending, minutes FROM tokenweir.row_state AS r;
END $$;
`
