import { numberFromZero, wholeNumber } from '../../src/lib/typed-number.ts'

/** Separators between digits, as people type and paste them. */
const separators = /[\s_'’]/g

/** Returns the whole number that was typed, with or without separators; null for other texts. */
export function typedWhole(text: string): number | null {
  return wholeNumber(text.replaceAll(separators, ''))
}

/**
 * Returns the number that was typed, with or without a fraction; null for other texts, and for the ambiguous `4,5`.
 */
export function typedNumber(text: string): number | null {
  return numberFromZero(text.replaceAll(separators, ''))
}

/** Returns the limit that was typed; null for none. */
export function typedLimit(text: string): number | null | 'wrong' {
  if (text.trim() === '') return null
  const limit = typedWhole(text)
  return limit === null || limit === 0 ? 'wrong' : limit
}
