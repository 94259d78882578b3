import { type NamedField, storedFields } from '../../call/fields/call-fields.ts'
import { codesWithoutTokens, columnType, interruptedCode } from '../schema/row-tables.ts'

const costColumns = ['cost_nano_usd', 'price_source_id', 'price_key_id', 'cache_saved_nano_usd']
const allColumns = storedFields.map(({ column }) => column)

/**
 * The statement that adds rows, in a single transaction, so that a client's pause cannot hold the lock. An existing
 * row stays unchanged, unless its call was `interrupted`, or, with `areChanged`, its cost differs. Parameters: the
 * store, how far it has sent, the lowest and highest id, ids, estimates, and an array for each field of `filled`.
 * Returns the ids that other calls have.
 */
export function addRowsSql(filled: readonly NamedField[], areChanged: boolean): string {
  const parameters = filled.map((field, at) => `$${at + 7}::${columnType(field)}[]`)
  const filledColumns = new Set(filled.map(({ column }) => column))
  const missing = storedFields.filter(({ column }) => !filledColumns.has(column))
  const nulls = missing.map((field) => `, NULL::${columnType(field)} AS ${field.column}`).join('')
  const isOtherCost = costColumns.map((name) => `b.${name} IS DISTINCT FROM c.${name}`).join(' OR ')
  const set = (names: readonly string[]): string => names.map((name) => `${name} = n.${name}`).join(', ')
  const tokens = `coalesce(input_tokens, 0) + coalesce(output_tokens, 0)`
  const estimateOfInterrupted = `CASE WHEN type_before IN (${codesWithoutTokens.join(', ')}) THEN 0
    ELSE (bytes_before + 3) / 4 END`
  return `WITH batch AS MATERIALIZED (
  SELECT b.*${nulls} FROM unnest(${['$5::bigint[]', '$6::bigint[]', ...parameters].join(', ')})
    WITH ORDINALITY AS b(${['id', 'estimate', ...filledColumns, 'place'].join(', ')})
), judged AS MATERIALIZED (
  SELECT b.*, c.request_bytes AS bytes_before, c.call_type_id AS type_before, CASE
    WHEN c.id IS NULL THEN 'new'
    WHEN c.instance_id <> b.instance_id THEN 'conflict'
    WHEN b.outcome_id = ${interruptedCode} AND c.outcome_id <> ${interruptedCode} THEN 'there'
    WHEN c.outcome_id = ${interruptedCode} AND b.outcome_id <> ${interruptedCode} THEN 'known'
    WHEN c.outcome_id <> b.outcome_id OR coalesce(c.duration_us, 0) <> coalesce(b.duration_us, 0) THEN 'conflict'
    WHEN ${areChanged} AND (${isOtherCost}) THEN 'priced'
    ELSE 'there' END AS what
  FROM batch AS b LEFT JOIN tokenweir.calls AS c ON c.id = b.id AND c.id BETWEEN $3::bigint AND $4::bigint
), taken AS (
  UPDATE tokenweir.row_state SET last_seq = last_seq + news.count
  FROM (SELECT count(*) FROM judged WHERE what NOT IN ('there', 'conflict')) AS news
  WHERE news.count > 0 RETURNING last_seq - news.count AS last_seq
), numbered AS MATERIALIZED (
  SELECT j.*, taken.last_seq + row_number() OVER (ORDER BY j.place) AS seq FROM judged AS j, taken
  WHERE what NOT IN ('there', 'conflict')
), added AS (
  INSERT INTO tokenweir.calls (id, seq, first_seq, store_id, ${allColumns.join(', ')})
  SELECT id, seq, seq, $1::int, ${allColumns.join(', ')} FROM numbered AS n WHERE what = 'new'
), known AS (
  UPDATE tokenweir.calls AS c SET seq = n.seq, store_id = $1::int, ${set(allColumns)}
  FROM numbered AS n WHERE n.what = 'known' AND c.id = n.id AND c.outcome_id = ${interruptedCode}
    AND c.id BETWEEN $3::bigint AND $4::bigint
), priced AS (
  UPDATE tokenweir.calls AS c SET seq = n.seq, store_id = $1::int, ${set(costColumns)}
  FROM numbered AS n WHERE n.what = 'priced' AND c.id = n.id AND c.id BETWEEN $3::bigint AND $4::bigint
), used AS (
  SELECT id, duration_us, instance_id, ${tokens} AS tokens, estimate FROM numbered
    -- Imported calls use no budget.
    WHERE what IN ('new', 'known') AND source_id IS NULL
  UNION ALL
  SELECT id, 0, instance_id, 0, -(${estimateOfInterrupted}) FROM numbered WHERE what = 'known'
), budget AS (
  INSERT INTO tokenweir.budget_minutes AS m
  SELECT ((id >> 12) * 1000 + coalesce(duration_us, 0)) / 60000000, instance_id, sum(tokens), sum(estimate),
    (SELECT max(seq) FROM numbered) FROM used
  GROUP BY 1, 2 HAVING sum(tokens) <> 0 OR sum(estimate) <> 0
  ON CONFLICT (minute, instance_id)
  DO UPDATE SET tokens = m.tokens + excluded.tokens, estimated = m.estimated + excluded.estimated, seq = excluded.seq
), marked AS (
  UPDATE tokenweir.stores SET sent = $2::bigint WHERE id = $1::int
)
SELECT id FROM judged WHERE what = 'conflict'`
}
