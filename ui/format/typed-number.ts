/** Spaces and such between digits, as the page writes them and people type them. */
const separators = /[\s_'’]/g
const commaGroups = /^[1-9]\d{0,2}(,\d{3})+$/

/** A whole number as it is typed, with or without separators; null for anything else. */
export function typedWhole(text: string): number | null {
  const digits = text.replaceAll(separators, '')
  const plain = commaGroups.test(digits) ? digits.replaceAll(',', '') : digits
  return /^\d{1,16}$/.test(plain) ? Number(plain) : null
}

/** A number with a point or a comma; null for anything else, and for `1,500`, which can be read in two ways. */
export function typedNumber(text: string): number | null {
  const digits = text.replaceAll(separators, '')
  const [whole = '', ...fraction] = digits.split('.')
  const isGrouped = commaGroups.test(whole)
  if (isGrouped && fraction.length === 0 && whole.indexOf(',') === whole.lastIndexOf(',')) return null
  const plain = isGrouped ? digits.replaceAll(',', '') : digits.replace(',', '.')
  return /^(\d+(\.\d*)?|\.\d+)$/.test(plain) ? Number(plain) : null
}

/** A limit as it is typed; null for none. */
export function typedLimit(text: string): number | null | 'wrong' {
  if (text.trim() === '') return null
  const limit = typedWhole(text)
  return limit === null || limit === 0 ? 'wrong' : limit
}
