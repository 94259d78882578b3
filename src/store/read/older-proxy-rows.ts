import { ForeignDatabase } from '../sqlite/foreign-database.ts'

const rowsAtOnce = 500
const busyMs = 5000

/**
 * The rows of the older proxy's `api_calls`, each with its number, in batches, because the proxy may still be
 * writing. Only reads. Throws SQLite's error.
 */
export function* olderProxyRows(path: string): Generator<Readonly<Record<string, unknown>>> {
  using source = new ForeignDatabase(path, busyMs, { mayCopy: true })
  const some = source.database.prepare(
    `SELECT rowid AS line, * FROM api_calls WHERE rowid > ? ORDER BY rowid LIMIT ${rowsAtOnce}`,
  )
  for (let last = Number.MIN_SAFE_INTEGER; ;) {
    const rows = some.all(last)
    if (source.hasChanged) throw new Error('the database changed while it was read; run this again')
    yield* rows
    if (rows.length < rowsAtOnce) return
    last = Number(rows.at(-1)?.['line'])
  }
}
