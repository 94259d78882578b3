/** A connection to PostgreSQL, as far as the rows need it: values are arrays by column, and 64-bit numbers are numbers. */
export interface SharedDatabase {
  /** Rejects with PostgreSQL's error, or that of the socket; never later than a time-out of its own. */
  query(sql: string, values?: readonly unknown[]): Promise<readonly (readonly unknown[])[]>
}

/** An array of PostgreSQL as text, of numbers: cheaper than what the driver makes of an array. */
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
