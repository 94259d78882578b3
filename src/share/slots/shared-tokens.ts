import type { MinuteUsage } from '../../call/call-sink.ts'
import type { BudgetAnswer, BudgetMessage } from '../../gateway/admission/shared-usage.ts'
import type { PostgresConnection } from '../postgres.ts'

/**
 * Reports the tokens that calls in flight may use. Returns the sum of all others' reports, and their use in the minutes in
 * which a row beyond a number counts.
 */
const budgetSql = `WITH told AS (
  UPDATE tokenweir.gateways SET reserved_tokens = $2 WHERE instance = $1 AND reserved_tokens <> $2
)
SELECT s.token_limit, r.last_seq, (
  SELECT coalesce(sum(reserved_tokens), 0) FROM tokenweir.gateways WHERE instance <> $1 AND left_at IS NULL
), (
  SELECT coalesce(json_agg(counted), '[]') FROM (
    SELECT minute, sum(tokens + estimated) AS tokens, sum(estimated) AS estimated FROM tokenweir.budget_minutes
    WHERE instance_id IS DISTINCT FROM (SELECT id FROM tokenweir.words WHERE text = $1)
      AND minute IN (SELECT minute FROM tokenweir.budget_minutes WHERE seq > $3
        AND minute BETWEEN extract(epoch FROM now())::bigint / 60 - 1440 AND extract(epoch FROM now())::bigint / 60 + 1440)
    GROUP BY minute ORDER BY minute
  ) AS counted
) FROM tokenweir.settings AS s, tokenweir.row_state AS r`

/** Sends a gateway's report. Resolves with the answer, or with null while the schema is created again. */
export async function askForBudget(
  connection: PostgresConnection,
  instance: string,
  { reserved, fromSeq }: BudgetMessage,
): Promise<BudgetAnswer | null> {
  const [row] = await connection.query(budgetSql, [instance, reserved, fromSeq])
  if (row === undefined) return null
  const [tokenLimit, seq, reservedElsewhere, minutes] = row
  return {
    tokenLimit: Number(tokenLimit),
    seq: Number(seq),
    reserved: Number(reservedElsewhere),
    isAll: fromSeq === 0,
    minutes: minutes as readonly MinuteUsage[],
  }
}
