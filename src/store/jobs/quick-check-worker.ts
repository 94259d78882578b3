/** The entry of the process that looks a database through. Its parent is a `QuickCheck`. */
import { openForReading } from '../sqlite/open-store.ts'
import { sqliteCode, sqliteCodes } from '../sqlite/sqlite-code.ts'

const [, , path] = process.argv
if (path === undefined || process.send === undefined) {
  throw new Error('quick-check-worker runs only as the child of a QuickCheck')
}
process.on('SIGINT', () => {})
process.on('disconnect', () => process.exit(0))
process.send({ finding: firstFinding(path) }, () => process.exit(0))

/** `null` if nothing is wrong, or nothing can be read for another reason: the writer sees that for itself. */
function firstFinding(databasePath: string): string | null {
  const opened = openForReading(databasePath)
  if (opened === 'damaged') return 'it cannot be read'
  if (typeof opened === 'string') return null
  using database = opened
  try {
    const found = String(database.prepare('PRAGMA quick_check(1)').get()?.['quick_check'])
    // Before the finding stands a line that names the database.
    return found === 'ok' ? null : (found.split('\n').at(-1) ?? found)
  } catch (error) {
    return sqliteCode(error) === sqliteCodes.corrupt && error instanceof Error ? error.message : null
  }
}
