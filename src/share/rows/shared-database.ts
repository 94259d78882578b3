import type { PostgresConnection } from '../postgres.ts'

/** A connection to PostgreSQL, as far as the rows need it. */
export type SharedDatabase = Pick<PostgresConnection, 'query' | 'queryWide'>

/** An array of numbers as PostgreSQL's text, which is cheaper than the driver's own. */
export function numberArray(values: readonly (number | string | null)[]): string {
  return `{${values.map((value) => value ?? 'NULL').join(',')}}`
}

/** The same of texts, in which PostgreSQL holds no NUL. */
export function textArray(values: readonly (number | string | null)[]): string {
  const quoted = values.map((value) => {
    if (value === null) return 'NULL'
    return `"${String(value)
      .replaceAll('\0', '')
      .replaceAll(/["\\]/g, String.raw`\$&`)}"`
  })
  return `{${quoted.join(',')}}`
}
