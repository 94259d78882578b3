/**
 * The kinds of fields: how they are stored and shown.
 * - `time`: milliseconds with fractions, stored as whole microseconds.
 * - `count`: a whole number. `cost`: nano-dollars, shown as dollars.
 * - `flag`: true or false, stored as 1 or 0. `fingerprint`: eight hexadecimal digits, stored as a signed
 *   32-bit integer.
 * - `code`: a word of a closed set, stored as its number. Rows keep the number, so a number never gets a new
 *   meaning.
 * - `word`: text that repeats, stored as the number of its entry in `table`. `text`: text that hardly ever
 *   repeats.
 * - `derived`: not stored, but computed from other fields.
 */
export type FieldKind = StoredKind | 'derived'

export type StoredKind = keyof typeof fieldKinds

/**
 * `value`: the type in a record and in JSON. `perRecord`, `perShown`: how many stored units are one unit of a
 * record, and one shown unit. `postgres`: the type of the column in PostgreSQL.
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

/** Stored units per unit of a record, and per shown unit; null for a kind that is no amount. */
export function amountOf(kind: FieldKind): { readonly perRecord: number; readonly perShown: number } | null {
  return kind === 'time' || kind === 'count' || kind === 'cost' ? fieldKinds[kind] : null
}
