import { DatabaseSync } from 'node:sqlite'
import { eventually } from './eventually.ts'

/** The ids of calls that a kill would leave a trace of; none where there is no database yet. */
export function openCallIds(databaseFile: string): readonly number[] {
  try {
    using database = new DatabaseSync(databaseFile, { readOnly: true, timeout: 5000 })
    const rows = database.prepare('SELECT id FROM open_calls ORDER BY id').all()
    return rows.map(({ id }) => Number(id))
  } catch {
    return []
  }
}

/** Resolves once a kill of the gateway would leave a trace of so many calls. */
export function untilNoted(databaseFile: string, count: number): Promise<void> {
  return eventually(`${count} open calls`, () => openCallIds(databaseFile).length === count)
}
