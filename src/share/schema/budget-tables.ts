/**
 * The token budget of gateways that share. What calls have used is counted as their rows come; what others may still use is
 * credit: a gateway holds `granted - given` tokens of its whole life, of which `sent` have come as rows. So what is used and
 * all credit together stay within the limit, whatever is lost, repeated or late on the way.
 */
export const budgetTables = `
CREATE TABLE tokenweir.budget_settings (
  id integer PRIMARY KEY CHECK (id = 1), token_limit bigint NOT NULL, rejects boolean NOT NULL
);
-- What the last start of each data folder asked for.
CREATE TABLE tokenweir.budget_asked (folder text PRIMARY KEY, token_limit bigint NOT NULL, rejects boolean NOT NULL);

-- Reported and estimated tokens of all gateways, and the estimated ones among them.
CREATE TABLE tokenweir.budget_totals (minute integer PRIMARY KEY, tokens bigint NOT NULL, estimated bigint NOT NULL);
INSERT INTO tokenweir.budget_totals
  SELECT minute, sum(tokens + estimated), sum(estimated) FROM tokenweir.budget_minutes GROUP BY minute;

CREATE TABLE tokenweir.budget_holders (
  instance text PRIMARY KEY,
  folder text NOT NULL,
  granted bigint NOT NULL,
  given bigint NOT NULL,
  sent bigint NOT NULL,
  left_at timestamptz
) WITH (fillfactor = 50);

CREATE FUNCTION tokenweir.budget_counted() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  v_estimated bigint := NEW.estimated;
  v_tokens bigint := NEW.tokens + NEW.estimated;
BEGIN
  IF TG_OP = 'UPDATE' THEN
    v_estimated := v_estimated - OLD.estimated;
    v_tokens := v_tokens - OLD.tokens - OLD.estimated;
  END IF;
  INSERT INTO tokenweir.budget_totals AS t VALUES (NEW.minute, v_tokens, v_estimated)
    ON CONFLICT (minute) DO UPDATE SET tokens = t.tokens + excluded.tokens, estimated = t.estimated + excluded.estimated;
  UPDATE tokenweir.budget_holders SET sent = sent + v_tokens
    WHERE instance = (SELECT text FROM tokenweir.words WHERE id = NEW.instance_id);
  RETURN NULL;
END $$;
CREATE TRIGGER budget_counted AFTER INSERT OR UPDATE ON tokenweir.budget_minutes
  FOR EACH ROW EXECUTE FUNCTION tokenweir.budget_counted();

CREATE FUNCTION tokenweir.budget_lock() RETURNS void LANGUAGE plpgsql SET lock_timeout TO '1500ms' AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('tokenweir.budget'));
END $$;

-- The limit and what it does, as the first start has said it. Not allowed is who asks for another one, unless its folder
-- asked for the same before: then it was changed elsewhere since. Null is what nobody has asked for.
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

-- The message of a gateway: all it was granted, has given back and has used in its life; what its calls in flight may use
-- beside that; what each call that waits may use, the first one first. With 'p_is_whole' all rows of earlier runs of its
-- folder are sent. The answer: what it was granted, what of its use has come, what is free for all, how much credit is good to
-- have, and minutes from 'p_from_minute' on as triples of minute, tokens, estimated tokens.
CREATE FUNCTION tokenweir.budget_sync(
  p_instance text, p_folder text, p_granted bigint, p_given bigint, p_used bigint, p_reserved bigint,
  p_needs bigint[], p_is_whole boolean, p_from_minute integer,
  OUT token_limit bigint, OUT granted bigint, OUT sent bigint, OUT free bigint, OUT block bigint,
  OUT minute integer, OUT used bigint, OUT minutes bigint[]
) LANGUAGE plpgsql AS $$
DECLARE
  v_rejects boolean;
  v_given bigint;
  v_spare bigint;
  v_need bigint;
  v_wanted bigint := 0;
  v_gateways bigint;
BEGIN
  PERFORM tokenweir.budget_lock();
  SELECT s.token_limit, s.rejects INTO token_limit, v_rejects FROM tokenweir.budget_settings AS s;
  minute := floor(tokenweir.now_ms() / 60000);
  -- After a failover to an older copy, what the gateway says of itself holds.
  IF NOT EXISTS (SELECT FROM tokenweir.budget_holders WHERE instance = p_instance) THEN
    INSERT INTO tokenweir.budget_holders
      SELECT p_instance, p_folder, p_granted, p_given, coalesce(sum(m.tokens + m.estimated), 0), NULL
      FROM tokenweir.budget_minutes AS m JOIN tokenweir.words AS w ON w.id = m.instance_id
      WHERE m.minute >= budget_sync.minute - 1440 AND w.text = p_instance;
  END IF;
  UPDATE tokenweir.budget_holders AS h SET
    -- Calls that did not say what they may use have used more than was granted.
    granted = greatest(h.granted, p_granted, CASE WHEN v_rejects THEN p_given + p_used + p_reserved END),
    given = greatest(h.given, p_given), left_at = NULL
    WHERE h.instance = p_instance AND (h.granted < greatest(p_granted, CASE WHEN v_rejects THEN p_given + p_used + p_reserved END)
      OR h.given < p_given OR h.left_at IS NOT NULL);
  UPDATE tokenweir.budget_holders AS h SET left_at = clock_timestamp() WHERE h.left_at IS NULL AND h.instance <> p_instance
    AND NOT EXISTS (SELECT FROM tokenweir.gateways AS g WHERE g.instance = h.instance AND g.left_at IS NULL);
  -- What a lost gateway held counts until all of its rows are here, or would be out of the window.
  DELETE FROM tokenweir.budget_holders AS h WHERE h.left_at < clock_timestamp() - interval '24 hours'
    OR (p_is_whole AND h.folder = p_folder AND h.left_at < clock_timestamp() - interval '5 s')
    OR (h.left_at IS NOT NULL AND h.granted - h.given <= h.sent);
  SELECT coalesce(sum(t.tokens), 0) INTO used FROM tokenweir.budget_totals AS t
    WHERE t.minute BETWEEN budget_sync.minute - 1440 AND budget_sync.minute + 1440;
  SELECT token_limit - used - coalesce(sum(greatest(h.granted - h.given - h.sent, 0)), 0),
      greatest(count(*) FILTER (WHERE h.left_at IS NULL), 1)
    INTO free, v_gateways FROM tokenweir.budget_holders AS h;
  SELECT h.granted, h.given, h.sent INTO granted, v_given, sent FROM tokenweir.budget_holders AS h WHERE h.instance = p_instance;
  block := least(greatest(free, 0) / (8 * v_gateways), 1000000);
  IF v_rejects THEN
    v_spare := granted - v_given - p_used - p_reserved;
    -- As the gateway serves them: each that fits, the first one first.
    FOREACH v_need IN ARRAY p_needs LOOP
      IF v_wanted + v_need <= v_spare + greatest(free, 0) THEN v_wanted := v_wanted + v_need; END IF;
    END LOOP;
    v_wanted := v_wanted - v_spare + CASE WHEN v_spare - v_wanted < block / 2 THEN block ELSE 0 END;
    v_wanted := least(v_wanted, greatest(free, 0));
    IF v_wanted > 0 THEN
      UPDATE tokenweir.budget_holders AS h SET granted = h.granted + v_wanted WHERE h.instance = p_instance
        RETURNING h.granted INTO granted;
      free := free - v_wanted;
    END IF;
  END IF;
  SELECT array_agg(v) INTO minutes FROM (
    SELECT unnest(ARRAY[t.minute, t.tokens, t.estimated]) AS v FROM tokenweir.budget_totals AS t
    WHERE t.minute BETWEEN greatest(p_from_minute, budget_sync.minute - 1440) AND budget_sync.minute + 1440
  ) AS all_minutes;
END $$;
`
