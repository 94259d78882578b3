/** What a field of a table may hold; null is an empty one. */
export type CsvValue = string | number | boolean | null

/** A line of comma-separated values as RFC 4180 lays it out, with its end. */
export function csvLine(values: readonly CsvValue[]): string {
  return `${values.map(field).join(',')}\r\n`
}

function field(value: CsvValue): string {
  if (value === null) return ''
  if (typeof value !== 'string') return String(value)
  // A spreadsheet would take it for a formula, and names and messages are not ours to trust: https://owasp.org/www-community/attacks/CSV_Injection
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
