import { type CallField, namedFields } from '../../call/fields/call-fields.ts'
import { derivedSql, idSql, shownSql } from '../../call/fields/shown-sql.ts'

/** The id without its lowest 12 bits is the time of arrival in milliseconds. */
const startedAtSql = `strftime('%Y-%m-%dT%H:%M:%fZ', (c.id >> 12) / 1000.0, 'unixepoch')`

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
  { name: 'id', sql: idSql },
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

/** A view for people with any SQLite tool, with the names and units of `/api/query`. */
export const callsReadableSql: string = `CREATE VIEW calls_readable AS\nSELECT\n${publicFieldList}\nFROM calls AS c`
