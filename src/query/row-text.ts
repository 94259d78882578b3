/** The JSON fields of a call or group: plain values, or objects of them. */
type Fields = Readonly<Record<string, unknown>>

/** Rows as NDJSON, a JSON object a line. */
export function ndjsonText(rows: readonly object[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('')
}

/** CSV with a line of names. A field within an object has both names: `ttft_ms_p95`. Keys of a group keep their names. */
export function csvText(rows: readonly object[], names: readonly string[]): string {
  const lines = rows.map((row) => {
    const flat = flatten(row as Fields)
    return csvLine(names.map((name) => flat.get(name) ?? null))
  })
  return csvLine(names) + lines.join('')
}

/** The lines of a CSV table without its head, for rows without nested objects. */
export function csvRows(rows: readonly object[], names: readonly string[]): string {
  return rows.map((row) => csvLine(names.map((name) => plain((row as Fields)[name])))).join('')
}

/** The columns of such a table, from a row that has all of them. */
export function columnsOf(row: object): readonly string[] {
  return [...flatten(row as Fields).keys()]
}

function flatten(row: Fields): ReadonlyMap<string, CsvValue> {
  const flat = new Map<string, CsvValue>()
  for (const [name, value] of Object.entries(row)) {
    if (typeof value !== 'object' || value === null) flat.set(name, plain(value))
    else
      for (const [inner, member] of Object.entries(value))
        flat.set(name === 'keys' ? inner : `${name}_${inner}`, plain(member))
  }
  return flat
}

function plain(value: unknown): CsvValue {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null
}

/** The value of a cell; null for an empty cell. */
export type CsvValue = string | number | boolean | null

/** A line of comma-separated values with its line break (RFC 4180). */
export function csvLine(values: readonly CsvValue[]): string {
  return `${values.map(field).join(',')}\r\n`
}

function field(value: CsvValue): string {
  if (value === null) return ''
  if (typeof value !== 'string') return String(value)
  // A quote before untrusted text that a spreadsheet would run as a formula, and before a text that begins like
  // such a quoted one, so that an import can undo it: https://owasp.org/www-community/attacks/CSV_Injection
  const text = /^'*[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
