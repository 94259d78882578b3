/** The list of gateways, and the release of a lost one. */
export const listTables = `
-- Calls that it has recorded and not sent yet, as it told last.
ALTER TABLE tokenweir.gateways ADD COLUMN behind bigint NOT NULL DEFAULT 0;

-- How long each has been silent, and whether for long enough to be called lost: its lease, and ten seconds, as signs of
-- life are noted that rarely where it holds no slots.
CREATE FUNCTION tokenweir.gateway_list() RETURNS TABLE (
  instance text, folder text, host text, version text, silent_ms double precision, is_recovering boolean,
  active integer, held integer, queued integer, behind bigint, lease_left_ms double precision, is_lost boolean,
  max_concurrent integer
) LANGUAGE sql VOLATILE AS $$
  SELECT g.instance, g.folder, g.host, g.version, silent_ms, NOT tokenweir.slots_are_learnt(now_ms),
    coalesce(h.active, 0), coalesce(h.granted_total - h.returned_total, 0), coalesce(h.queued, 0), g.behind,
    greatest(h.lease_ends - now_ms, 0), silent_ms > g.lease_ms + 10000,
    (SELECT s.max_concurrent FROM tokenweir.slot_settings AS s)
  FROM tokenweir.gateways AS g
    LEFT JOIN tokenweir.slot_holders AS h ON h.holder = g.instance,
    LATERAL (SELECT tokenweir.now_ms() AS now_ms) AS n,
    LATERAL (SELECT greatest(now_ms - greatest(h.seen,
      extract(epoch FROM greatest(g.joined_at, g.seen_at))::double precision * 1000), 0) AS silent_ms) AS q
  WHERE g.left_at IS NULL
$$;

-- Null if there is none of that name; false, and nothing changed, if it is not lost. Under the lock, so that no sign of
-- life comes between the look and the release.
CREATE FUNCTION tokenweir.release_lost_gateway(p_instance text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  v_is_lost boolean;
BEGIN
  PERFORM tokenweir.slots_lock();
  SELECT l.is_lost INTO v_is_lost FROM tokenweir.gateway_list() AS l WHERE l.instance = p_instance;
  IF v_is_lost THEN RETURN tokenweir.release_gateway(p_instance); END IF;
  RETURN v_is_lost;
END $$;
`
