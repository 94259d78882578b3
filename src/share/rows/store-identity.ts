import { randomUUID } from 'node:crypto'
import { firstIdAt } from '../../call/call-id.ts'
import type { ShareState } from '../../store/share/share-state.ts'
import type { SharedDatabase } from './shared-database.ts'

const dayMs = 24 * 3_600_000

/**
 * Compares the history of a file and the shared database, and resolves with the file's number there. Both
 * store how far the file has sent. If that differs, one of the two was restored from a copy, or is another
 * database.
 */
export async function identifyStore(
  database: SharedDatabase,
  state: ShareState,
  wallTimeMs: number,
  { shareDays, warn }: { readonly shareDays: number | null; readonly warn: (message: string) => void },
): Promise<number> {
  const cursors = state.cursors()
  const row = cursors === null ? undefined : await rowOf(database, cursors.replica)
  if (cursors !== null && row !== undefined) {
    // Batches whose answers were lost are sent again, which changes nothing.
    if (row.sent >= cursors.confirmed_seq && row.sent <= cursors.sending_seq) return row.id
    if (row.sent < cursors.confirmed_seq) {
      warn(
        `the shared database was restored to an older state: the rows of this file that it lost are sent again`,
      )
      state.set({
        confirmed_seq: row.sent,
        sending_seq: row.sent,
        passed_seq: Math.min(cursors.passed_seq, row.sent),
        sent_minute: 0,
      })
      return row.id
    }
    warn(
      'this database file was restored to an older state: its rows are compared with the shared database again',
    )
  } else if (cursors !== null) warn('the shared database does not know this file: all of its rows are sent')
  const name = randomUUID()
  await database.query('INSERT INTO tokenweir.stores (name) VALUES ($1)', [name])
  const firstId = shareDays === null ? 0 : firstIdAt(Math.floor(wallTimeMs - shareDays * dayMs))
  // A file may have folded rows that it once pulled, which must not be added again. A file that has never
  // pulled has no such rows.
  state.begin(name, cursors?.from_id ?? firstId, cursors === null ? 0 : Number.MAX_SAFE_INTEGER)
  return (await rowOf(database, name))?.id ?? 0
}

async function rowOf(
  database: SharedDatabase,
  name: string,
): Promise<{ readonly id: number; readonly sent: number } | undefined> {
  const [row] = await database.query('SELECT id, sent FROM tokenweir.stores WHERE name = $1', [name])
  return row === undefined ? undefined : { id: Number(row[0]), sent: Number(row[1]) }
}
