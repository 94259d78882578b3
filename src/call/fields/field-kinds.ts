/**
 * The kinds of fields: storage and output.
 * - `time`: milliseconds with fractions, stored as whole microseconds.
 * - `count`: a whole number. `cost`: nano-dollars, shown as dollars.
 * - `flag`: true or false, stored as 1 or 0. `fingerprint`: eight hexadecimal digits, stored as 32 bits, signed.
 * - `code`: one of a closed set of words, stored as its number. These are written into rows for ever, so a number is
 *   never given a new meaning.
 * - `word`: text that repeats, stored as the number of an entry of `table`. `text`: text that hardly ever repeats.
 * - `derived`: not stored; it follows from other fields.
 */
export type FieldKind = StoredKind | 'derived'

export type StoredKind = keyof typeof fieldKinds

/**
 * `value`: the type of a value in a record and in JSON. An amount is stored in whole units: so many of them are one of a
 * record, and one of what is shown. `postgres`: its column there, where what an upstream reports may be any count.
 */
export const fieldKinds = {
  time: { value: 'number', perRecord: 1000, perShown: 1000, postgres: 'bigint' },
  count: { value: 'number', perRecord: 1, perShown: 1, postgres: 'bigint' },
  cost: { value: 'number', perRecord: 1, perShown: 1e9, postgres: 'bigint' },
  flag: { value: 'boolean', postgres: 'smallint' },
  fingerprint: { value: 'string', postgres: 'integer' },
  code: { value: 'string', postgres: 'smallint' },
  word: { value: 'string', postgres: 'integer' },
  text: { value: 'string', postgres: 'text' },
} as const

/** Null for a field that is no amount. */
export function amountOf(kind: FieldKind): { readonly perRecord: number; readonly perShown: number } | null {
  return kind === 'time' || kind === 'count' || kind === 'cost' ? fieldKinds[kind] : null
}
