/** The list of gateways, and the release of a lost one. */
export const listTables = `
-- How long each gateway has been silent, and whether it counts as lost: after its lease and ten seconds. A gateway
-- without slots reports so rarely that its lease alone is too short.
CREATE FUNCTION tokenweir.gateway_list() RETURNS TABLE (
  instance text, folder text, host text, version text, silent_ms double precision, is_recovering boolean,
  active integer, held integer, queued integer, behind bigint, lease_left_ms double precision, is_lost boolean,
  max_concurrent integer
) LANGUAGE sql VOLATILE AS $$
  SELECT g.instance, g.folder, g.host, g.version, silent_ms, NOT tokenweir.slots_are_learnt(now_ms),
    coalesce(h.active, 0), coalesce(h.granted_total - h.returned_total, 0), coalesce(h.queued, 0), g.behind,
    greatest(h.lease_ends - now_ms, 0), silent_ms > g.lease_ms + 10000,
    (SELECT s.max_concurrent FROM tokenweir.settings AS s)
  FROM tokenweir.gateways AS g
    LEFT JOIN tokenweir.slot_holders AS h ON h.holder = g.instance,
    LATERAL (SELECT tokenweir.now_ms() AS now_ms) AS n,
    LATERAL (SELECT greatest(now_ms - greatest(h.seen,
      extract(epoch FROM greatest(g.joined_at, g.seen_at))::double precision * 1000), 0) AS silent_ms) AS q
  WHERE g.left_at IS NULL
$$;

-- Releases a lost gateway. Null if no gateway has the name; false, without a change, if it is not lost. The lock is
-- held, so that no report comes between check and release.
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
