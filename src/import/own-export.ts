import { isFingerprint } from '../call/key-fingerprint.ts'
import { amountOf } from '../call/fields/field-kinds.ts'
import { parseCallId } from '../call/call-id.ts'
import { type NamedField, storedFields } from '../call/fields/call-fields.ts'
import type { StoredCall } from '../call/call-record.ts'
import { longestMessage } from '../call/error-message.ts'
import { storedText } from '../gateway/recorder/stored-text.ts'
import { remembered } from '../lib/remembered.ts'
import { FieldError, type Fields, numberIn, textIn } from './field-values.ts'

/** Most characters of a word. */
const longestWord = 2000
/** Masks words again, and cuts them, because a masked text may be longer than the original. */
const word = remembered((text) => storedText(text, longestWord), longestWord)
/** The quote that our CSV puts before a text that a spreadsheet would run as a formula (`row-text.ts`). */
const guarded = /^'(?='*[=+\-@\t\r])/

/** A call of our own CSV or NDJSON, with its id. Throws {@link FieldError}. */
export function ownCall(fields: Fields): StoredCall {
  const idText = textIn(fields, 'id') ?? ''
  const id = parseCallId(idText)
  if (id === null)
    throw new FieldError('id', `${JSON.stringify(idText.slice(0, 40))} is not the id of a call`)
  // In JSON this column is a number.
  const isCsv = typeof fields['request_bytes'] === 'string'
  const call: Record<string, unknown> = { id }
  for (const field of storedFields) {
    const value = valueOf(fields, field, isCsv)
    if (value === null && field.required === true) throw new FieldError(field.name, 'is empty')
    call[field.record] = value
  }
  // An imported call keeps its source; all other calls of the file get `tokenweir`.
  call['source'] ??= 'tokenweir'
  return call as unknown as StoredCall
}

function valueOf(fields: Fields, { name, kind, codes }: NamedField, isCsv: boolean): unknown {
  if (fields[name] === null) return null
  const units = amountOf(kind)
  if (units !== null) {
    const value = numberIn(fields, name)
    return value === null ? null : Math.round(value * units.perShown) / units.perRecord
  }
  const text = textIn(fields, name)
  if (text === null) return null
  const isGood = kind === 'code' ? Object.hasOwn(codes ?? {}, text) : isShaped(kind, text)
  if (!isGood) throw new FieldError(name, `${JSON.stringify(text.slice(0, 40))} is not one of its values`)
  if (kind === 'flag') return text === 'true'
  if (kind !== 'word' && kind !== 'text') return text
  const plain = isCsv ? text.replace(guarded, '') : text
  return name === 'error_message' ? storedText(plain, longestMessage) : word(plain)
}

function isShaped(kind: NamedField['kind'], text: string): boolean {
  if (kind === 'flag') return text === 'true' || text === 'false'
  return kind !== 'fingerprint' || isFingerprint(text)
}
