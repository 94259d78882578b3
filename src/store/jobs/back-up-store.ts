import { backup, DatabaseSync } from 'node:sqlite'
import { openForReading, type StoreAbsence } from '../sqlite/open-store.ts'
import { StoreError } from '../sqlite/store-error.ts'
import { damageIn } from './check-store.ts'

interface BackUpOptions {
  /** Told the share that is copied, 0 to 1, between two steps. */
  readonly onProgress?: (share: number) => void
  /** Pages of 4 kB that a step copies. */
  readonly pagesAtOnce?: number
}

/**
 * Copies the database at `path`, as it is at this instant, to the empty file `target`, and makes sure that the copy is sound and
 * has all calls. Whoever writes to the database goes on meanwhile. Answers the number of calls; rejects with {@link StoreError} if the copy is not as it should be, and with what SQLite throws.
 */
export async function backUpStore(
  path: string,
  target: string,
  { onProgress, pagesAtOnce = 5000 }: BackUpOptions = {},
): Promise<number | StoreAbsence> {
  const opened = openForReading(path)
  if (typeof opened === 'string') return opened
  using source = opened
  // One instant for all of it: else each write by another process would have the copy begin anew.
  source.exec('BEGIN')
  const calls = callsIn(source)
  await backup(source, target, {
    rate: pagesAtOnce,
    progress: ({ totalPages, remainingPages }) => onProgress?.(1 - remainingPages / totalPages),
  })
  using copy = new DatabaseSync(target)
  const [finding] = damageIn(copy, 'quick_check')
  if (finding !== undefined) throw new StoreError('damaged', `the copy is not sound: ${finding}`)
  const copied = callsIn(copy)
  if (copied !== calls) throw new StoreError('damaged', `the copy has ${copied} of ${calls} calls`)
  return calls
}

function callsIn(database: DatabaseSync): number {
  return Number(database.prepare('SELECT count(*) AS n FROM calls').get()?.['n'])
}
