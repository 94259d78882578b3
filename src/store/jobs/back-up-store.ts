import { backup, DatabaseSync } from 'node:sqlite'
import { openForReading, type StoreAbsence } from '../sqlite/open-store.ts'
import { StoreError } from '../sqlite/store-error.ts'
import { damageIn } from './check-store.ts'

interface BackUpOptions {
  /** Called between two steps with the copied share, 0 to 1. */
  readonly onProgress?: (share: number) => void
  /** Pages (4 kB) that a step copies. */
  readonly pagesAtOnce?: number
}

/**
 * Copies a snapshot of the database at `path` to the empty file `target`, and checks that the copy is intact
 * and has all calls. Other processes may write to the database meanwhile. Resolves with the number of calls.
 * Rejects with {@link StoreError} for a bad copy, and with SQLite's errors.
 */
export async function backUpStore(
  path: string,
  target: string,
  { onProgress, pagesAtOnce = 5000 }: BackUpOptions = {},
): Promise<number | StoreAbsence> {
  const opened = openForReading(path)
  if (typeof opened === 'string') return opened
  using source = opened
  // A read transaction, because otherwise each write by another process would restart the copy.
  source.exec('BEGIN')
  const calls = callsIn(source)
  await backup(source, target, {
    rate: pagesAtOnce,
    progress: ({ totalPages, remainingPages }) => onProgress?.(1 - remainingPages / totalPages),
  })
  using copy = new DatabaseSync(target)
  const [finding] = damageIn(copy, 'quick_check')
  if (finding !== undefined) throw new StoreError('damaged', `the copy is damaged: ${finding}`)
  const copied = callsIn(copy)
  if (copied !== calls) throw new StoreError('damaged', `the copy has ${copied} of ${calls} calls`)
  return calls
}

function callsIn(database: DatabaseSync): number {
  return Number(database.prepare('SELECT count(*) AS n FROM calls').get()?.['n'])
}
