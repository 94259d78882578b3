import { numberFromZero, wholeNumber } from '../../src/lib/typed-number.ts'

/** Spaces and such between digits, as people type and paste them. */
const separators = /[\s_'’]/g

/** A whole number as it is typed, with or without separators; null for anything else. */
export function typedWhole(text: string): number | null {
  return wholeNumber(text.replaceAll(separators, ''))
}

/** A number with or without a fraction; null for anything else, and for `4,5`, which can be read in two ways. */
export function typedNumber(text: string): number | null {
  return numberFromZero(text.replaceAll(separators, ''))
}

/** A limit as it is typed; null for none. */
export function typedLimit(text: string): number | null | 'wrong' {
  if (text.trim() === '') return null
  const limit = typedWhole(text)
  return limit === null || limit === 0 ? 'wrong' : limit
}
