import type { DatabaseSync } from 'node:sqlite'
import { firstIdAt } from '../../call/call-id.ts'

/** What compressing would do. */
export interface CompressEstimate {
  readonly foldedCalls: number
  /** About so many bytes of the file would go. */
  readonly freedBytes: number
}

/** How many calls began before an instant. Reads each of them. */
export function callsBefore(database: DatabaseSync, instantMs: number): number {
  return Number(
    database.prepare('SELECT count(*) AS calls FROM calls WHERE id < ?').get(firstIdAt(instantMs))?.['calls'],
  )
}

/** What would go if all calls before `untilMs` were folded: their share of what calls and their indexes take. */
export function estimateOf(database: DatabaseSync, untilMs: number): CompressEstimate {
  const pragma = (name: 'page_count' | 'page_size' | 'freelist_count'): number =>
    Number(database.prepare(`PRAGMA ${name}`).get()?.[name])
  const foldedCalls = callsBefore(database, untilMs)
  const calls = Number(database.prepare('SELECT count(*) AS calls FROM calls').get()?.['calls'])
  const free = pragma('freelist_count') * pragma('page_size')
  const used = pragma('page_count') * pragma('page_size') - free
  const callBytes = Math.max(0, used - otherBytes(database))
  const share = calls === 0 ? 0 : foldedCalls / calls
  return { foldedCalls, freedBytes: Math.round(callBytes * share) + free }
}

/** What everything but calls and their indexes takes: less to look through than they are. */
function otherBytes(database: DatabaseSync): number {
  const names = database
    .prepare("SELECT name FROM sqlite_schema WHERE rootpage > 0 AND tbl_name <> 'calls'")
    .all()
    .map((row) => String(row['name']))
  const bytesOf = database.prepare('SELECT pgsize AS bytes FROM dbstat WHERE aggregate = 1 AND name = ?')
  return names.reduce((sum, name) => sum + Number(bytesOf.get(name)?.['bytes'] ?? 0), 0)
}
