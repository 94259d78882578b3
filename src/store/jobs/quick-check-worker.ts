/** The entry of the process that looks a database through. Its parent starts it in `quickCheck`. */
import { openForReading } from '../sqlite/open-store.ts'
import { sqliteCode, sqliteCodes } from '../sqlite/sqlite-code.ts'

const [, , path] = process.argv
if (path === undefined) throw new Error('quick-check-worker runs only for another process')
// Ctrl-C goes to the whole group: the parent decides when this process ends.
process.on('SIGINT', () => {})
process.stdout.write(firstFinding(path))

/** Empty if nothing is wrong, or nothing can be read for another reason: the writer sees that for itself. */
function firstFinding(databasePath: string): string {
  const opened = openForReading(databasePath)
  if (opened === 'damaged') return 'it cannot be read'
  if (typeof opened === 'string') return ''
  using database = opened
  try {
    const found = String(database.prepare('PRAGMA quick_check(1)').get()?.['quick_check'])
    // Before the finding stands a line that names the database.
    return found === 'ok' ? '' : (found.split('\n').at(-1) ?? found)
  } catch (error) {
    return sqliteCode(error) === sqliteCodes.corrupt && error instanceof Error ? error.message : ''
  }
}
