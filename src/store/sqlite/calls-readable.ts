import type { CallJson } from '../../call/call-reader.ts'
import { firstFailedOutcome } from './call-codes.ts'
import { callColumns } from './call-columns.ts'
import { ttftTotalSql } from '../rollup/call-figures.ts'

/** A field of `CallJson` and the SQL that yields it from a row `c` of `calls`. */
export interface PublicField {
  readonly name: keyof CallJson
  readonly sql: string
}

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

/** Fields that are not stored but follow from others, by the field after which they stand. */
const derived: Partial<Record<keyof CallJson, PublicField>> = {
  outcome: { name: 'failed', sql: `(${failedSql})` },
  ttft_ms: { name: 'ttft_total_ms', sql: `(${ttftTotalSql('c')}) / 1000.0` },
  tpot_ms: { name: 'output_tokens_per_s', sql: '1e6 / nullif(c.tpot_us, 0)' },
}

/** The fields of `CallJson` in their order. */
export const publicFields: readonly PublicField[] = [
  { name: 'id', sql: idDigits.join(' || ') },
  { name: 'started_at', sql: startedAtSql },
  ...callColumns.flatMap((column) => {
    const field: PublicField = { name: column.publicName, sql: column.sql }
    const next = derived[column.publicName]
    return next === undefined ? [field] : [field, next]
  }),
]

/** The list of expressions for a SELECT from `calls AS c`. */
export const publicFieldList: string = publicFields
  .map((field) => `  ${field.sql} AS ${field.name}`)
  .join(',\n')

/** For people with any SQLite tool: the names and units of `/api/query`. */
export const callsReadableSql: string = `CREATE VIEW calls_readable AS\nSELECT\n${publicFieldList}\nFROM calls AS c`
