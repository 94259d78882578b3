/** The primary result codes that the program handles: https://sqlite.org/rescode.html */
export const sqliteCodes = {
  permission: 3,
  busy: 5,
  locked: 6,
  readOnly: 8,
  ioError: 10,
  corrupt: 11,
  full: 13,
  cannotOpen: 14,
  tooBig: 18,
  constraint: 19,
  mismatch: 20,
  notADatabase: 26,
} as const

/** The primary code of an error that SQLite raised, `null` for any other error. */
export function sqliteCode(error: unknown): number | null {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return null
  return error.errcode & 0xff
}

/** The kinds of faults of a database file. */
export type SqliteFault = 'damaged' | 'busy' | 'full' | 'unavailable' | 'other'

const faults: Readonly<Record<number, SqliteFault>> = {
  [sqliteCodes.notADatabase]: 'damaged',
  [sqliteCodes.corrupt]: 'damaged',
  [sqliteCodes.busy]: 'busy',
  [sqliteCodes.locked]: 'busy',
  [sqliteCodes.full]: 'full',
  [sqliteCodes.cannotOpen]: 'unavailable',
  [sqliteCodes.permission]: 'unavailable',
  [sqliteCodes.readOnly]: 'unavailable',
  [sqliteCodes.ioError]: 'unavailable',
}

/** The kind of fault that an error of SQLite shows; null for any other error. */
export function sqliteFault(error: unknown): SqliteFault | null {
  const code = sqliteCode(error)
  return code === null ? null : (faults[code] ?? 'other')
}
