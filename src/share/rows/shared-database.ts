import type { PostgresConnection } from '../postgres.ts'

/** A connection to PostgreSQL, as far as the rows need it. */
export type SharedDatabase = Pick<PostgresConnection, 'query' | 'close'>

/** An array of numbers as PostgreSQL's text, which is faster than the driver's conversion. */
export function numberArray(values: readonly (number | string | null)[]): string {
  return `{${values.map((value) => value ?? 'NULL').join(',')}}`
}

/** An array of texts as PostgreSQL's text, without NUL, which PostgreSQL does not allow. */
export function textArray(values: readonly (number | string | null)[]): string {
  const quoted = values.map((value) => {
    if (value === null) return 'NULL'
    return `"${String(value)
      .replaceAll('\0', '')
      .replaceAll(/["\\]/g, String.raw`\$&`)}"`
  })
  return `{${quoted.join(',')}}`
}
