import { type CallField, firstFailedOutcome, namedFields } from '../../call/call-fields.ts'
import { shownSql } from '../../call/field-kinds.ts'
import { ttftTotalSql } from '../rollup/call-figures.ts'

const digits = '0123456789abcdefghjkmnpqrstvwxyz'
/** The eleven base32 digits of an id, highest first, as in `formatCallId`. */
const idDigits = Array.from({ length: 11 }, (_, index) => {
  const shift = (10 - index) * 5
  return `substr('${digits}', 1 + ((c.id >> ${shift}) & 31), 1)`
})

/** The id without its lowest 12 bits is the time of arrival in milliseconds. */
const startedAtSql = `strftime('%Y-%m-%dT%H:%M:%fZ', (c.id >> 12) / 1000.0, 'unixepoch')`

/** A condition, in the very words of the partial index, without which SQLite would not use it. */
export const failedSql: string = `c.outcome_id >= ${firstFailedOutcome}`

/** Fields that are not stored but follow from others. */
const derivedSql: Readonly<Record<string, string>> = {
  failed: `(${failedSql})`,
  ttft_total_ms: `(${ttftTotalSql('c')}) / 1000.0`,
  output_tokens_per_s: '1e6 / nullif(c.tpot_us, 0)',
  input_tokens_per_s:
    'nullif(max(0, c.input_tokens - coalesce(c.cached_input_tokens, 0)), 0) * 1e6 / nullif(c.upstream_prompt_us, 0)',
}

function publicSql(name: string, { kind, table = `${name}s` }: CallField, column: string): string {
  switch (kind) {
    case 'code':
    case 'word':
      return `(SELECT text FROM ${table} WHERE id = ${column})`
    case 'fingerprint':
      return `CASE WHEN ${column} IS NOT NULL THEN printf('%08x', ${column} & 4294967295) END`
    case 'derived':
      return derivedSql[name] ?? 'NULL'
    default:
      return shownSql(kind, column)
  }
}

/** The fields of `CallJson` in their order, and the SQL that yields each from a row `c` of `calls`. */
export const publicFields: readonly { readonly name: string; readonly sql: string }[] = [
  { name: 'id', sql: idDigits.join(' || ') },
  { name: 'started_at', sql: startedAtSql },
  ...namedFields.map((field) => ({
    name: field.name,
    sql: publicSql(field.name, field, `c.${field.column}`),
  })),
]

/** The list of expressions for a SELECT from `calls AS c`. */
export const publicFieldList: string = publicFields
  .map((field) => `  ${field.sql} AS ${field.name}`)
  .join(',\n')

/** For people with any SQLite tool: the names and units of `/api/query`. */
export const callsReadableSql: string = `CREATE VIEW calls_readable AS\nSELECT\n${publicFieldList}\nFROM calls AS c`
