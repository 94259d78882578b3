import { parseIsoInstant } from '../lib/iso-instant.ts'
import { isObject } from '../lib/message-shape.ts'

/** A record of a file, by column name: texts of CSV, values of JSON. */
export type Fields = Readonly<Record<string, unknown>>

/** A field of an import has an impossible value. */
export class FieldError extends Error {
  constructor(name: string, what: string) {
    super(`column ${name}: ${what}`)
  }
}

/** The text of a field; null if its value is unknown: missing, empty or null. Throws {@link FieldError}. */
export function textIn(fields: Fields, name: string): string | null {
  const value = fields[name]
  if (value === undefined || value === null || value === '') return null
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  throw new FieldError(name, 'is not text')
}

/** The number of a field; null if it is unknown. Throws {@link FieldError}. */
export function numberIn(fields: Fields, name: string): number | null {
  const plain = fields[name]
  if (typeof plain === 'number' && Number.isFinite(plain)) return plain
  const text = textIn(fields, name)
  if (text === null) return null
  const value = Number(text)
  if (/^[-+\d.e]+$/i.test(text) && Number.isFinite(value)) return value
  throw new FieldError(name, `${quoted(text)} is not a number`)
}

/** A count, such as tokens, also an implausible one; null if it is unknown. Throws {@link FieldError}. */
export function countIn(fields: Fields, name: string): number | null {
  const value = numberIn(fields, name)
  if (value === null || Number.isInteger(value)) return value
  throw new FieldError(name, `${quoted(String(value))} is not a whole number`)
}

/**
 * The instant of a field in ms since the Unix epoch; null if it is unknown. A time without an offset is UTC,
 * as in databases. Throws {@link FieldError}.
 */
export function instantIn(fields: Fields, name: string): number | null {
  const text = textIn(fields, name)
  if (text === null) return null
  const iso = text.replace(/^(\d{4}-\d\d-\d\d) (?=\d)/, '$1T').replace(/([+-]\d\d)$/, '$1:00')
  const instant = parseIsoInstant(iso.includes('T') ? iso : text)
  if (instant !== null) return instant
  throw new FieldError(name, `${quoted(text)} is not a time`)
}

/** The instant of a field in ms since the Unix epoch. Throws {@link FieldError} if it is unknown. */
export function requiredInstant(fields: Fields, name: string): number {
  const instant = instantIn(fields, name)
  if (instant === null) throw new FieldError(name, 'is empty')
  return instant
}

/** The object in a field, also as JSON text; empty for any other value. */
export function objectIn(fields: Fields, name: string): Fields {
  const value = jsonIn(fields, name)
  return isObject(value) ? value : {}
}

/** The JSON value of a field, in which a text is parsed; null if the text is not JSON. */
export function jsonIn(fields: Fields, name: string): unknown {
  const value = fields[name]
  if (typeof value !== 'string') return value ?? null
  // Some programs double the quotes of JSON in CSV twice.
  for (const text of [value, value.replaceAll('""', '"')]) {
    try {
      return JSON.parse(text) as unknown
    } catch {
      // The other text may be JSON.
    }
  }
  return null
}

function quoted(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text)
}
