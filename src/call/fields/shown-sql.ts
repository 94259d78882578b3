/** Fields without a column, as SQL for SQLite and PostgreSQL: `c` is a row of `calls`. */
import { firstFailedOutcome } from './call-fields.ts'
import { type FieldKind, amountOf } from './field-kinds.ts'

const digits = '0123456789abcdefghjkmnpqrstvwxyz'

/** The eleven base32 digits of an id, highest first, as in `formatCallId`. */
export const idSql: string = Array.from(
  { length: 11 },
  (_, index) => `substr('${digits}', 1 + CAST((c.id >> ${(10 - index) * 5}) & 31 AS integer), 1)`,
).join(' || ')

/** The condition of failed calls, with the same text as in the partial index. SQLite needs that to use the index. */
export const failedSql: string = `c.outcome_id >= ${firstFailedOutcome}`

/** From the request's head to the first content, in the row of this name. */
export function ttftTotalSql(row: string): string {
  return `${row}.receive_us + ${row}.queue_us + coalesce(${row}.retry_wait_us, 0) + ${row}.ttft_us`
}

const uncached = 'c.input_tokens - coalesce(c.cached_input_tokens, 0)'

/** Fields that are not stored but follow from others. */
export const derivedSql: Readonly<Record<string, string>> = {
  failed: `(${failedSql})`,
  ttft_total_ms: `(${ttftTotalSql('c')}) / 1000.0`,
  output_tokens_per_s: '1e6 / nullif(c.tpot_us, 0)',
  input_tokens_per_s: `CASE WHEN ${uncached} > 0 THEN (${uncached}) * 1e6 / nullif(c.upstream_prompt_us, 0) END`,
}

/** A column as SQL that shows it: an amount in its shown unit, any other value unchanged. */
export function shownSql(kind: FieldKind, column: string): string {
  const { perShown = 1 } = amountOf(kind) ?? {}
  return perShown === 1 ? column : `${column} / ${perShown}.0`
}
