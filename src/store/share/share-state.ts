import type { DatabaseSync } from 'node:sqlite'
import { openForReading } from '../sqlite/open-store.ts'
import { RowStatements } from '../sqlite/row-statements.ts'
import { inTransaction } from '../sqlite/transaction.ts'

/**
 * The progress between a file and the shared database; members are columns. Numbers of rows are `calls.seq`,
 * but `pulled_seq` and `known_until_seq` are the shared database's.
 */
export interface ShareCursors {
  /** The name of this file in the shared database. */
  readonly replica: string
  /** The last row of this file that the shared database has confirmed. */
  readonly confirmed_seq: number
  /** The last row that it may have confirmed, if its answer was lost. */
  readonly sending_seq: number
  /** All rows up to this one were sent to the shared database or pulled from it. */
  readonly passed_seq: number
  /** All rows of the shared database up to this number are in this file. */
  readonly pulled_seq: number
  /** Rows up to this number of the shared database were in this file, and may be folded. */
  readonly known_until_seq: number
  /** Calls with lower ids are not pulled. */
  readonly from_id: number
  /** Gateways' minutes before this one were sent (minutes since 1970). */
  readonly sent_minute: number
}

/** The cursors in the file, the ranges of pulled rows, and the synced state of the files beside it. */
export class ShareState {
  readonly #statements: RowStatements

  constructor(database: DatabaseSync) {
    this.#statements = new RowStatements(database)
  }

  /** Null until {@link begin}. */
  cursors(): ShareCursors | null {
    const row = this.#statements.database.prepare('SELECT * FROM share_state').get()
    return (row as ShareCursors | undefined) ?? null
  }

  /**
   * Begins as a new replica: all rows will be sent, and none was pulled. Rows of the shared database up to
   * `knownUntilSeq` may be folded in this file.
   */
  begin(replica: string, fromId: number, knownUntilSeq: number): void {
    inTransaction(this.#statements.database, () => {
      this.#statements.run('DELETE FROM share_ranges')
      this.#statements.run('DELETE FROM share_changed')
      const sql = 'REPLACE INTO share_state VALUES (1, ?, 0, 0, 0, 0, ?, ?, 0)'
      this.#statements.run(sql, replica, knownUntilSeq, fromId)
    })
  }

  set(cursors: Partial<Omit<ShareCursors, 'replica'>>): void {
    const columns = Object.keys(cursors).map((name) => `${name} = ?`)
    this.#statements.run(`UPDATE share_state SET ${columns.join(', ')}`, ...Object.values(cursors))
  }

  /** Notes, within the transaction that writes them, that rows were pulled. */
  readonly notePulled = (firstSeq: number, lastSeq: number): void => {
    const growSql = 'UPDATE share_ranges SET last_seq = ? WHERE last_seq = ? RETURNING first_seq'
    if (this.#statements.number(growSql, lastSeq, firstSeq - 1) === null) {
      this.#statements.run('INSERT INTO share_ranges VALUES (?, ?)', firstSeq, lastSeq)
    }
  }

  /** The first range of pulled rows that ends beyond a number. */
  rangeAfter(seq: number): readonly [firstSeq: number, lastSeq: number] | null {
    const sql = 'SELECT first_seq, last_seq FROM share_ranges WHERE last_seq > ? ORDER BY first_seq LIMIT 1'
    return this.#statements.first<readonly [number, number]>(sql, seq) ?? null
  }

  /** Moves `passed_seq`. The last range stays, because later rows may extend it. */
  movePassed(passedSeq: number): void {
    inTransaction(this.#statements.database, () => {
      this.set({ passed_seq: passedSeq })
      this.#statements.run('DELETE FROM share_ranges WHERE last_seq < ?', passedSeq)
    })
  }

  /** The last synced state of a file beside the database; null if there was none. */
  file(name: string): { readonly version: number; readonly hash: string } | null {
    const sql = 'SELECT version, hash FROM share_files WHERE name = ?'
    const row = this.#statements.first<readonly [version: number, hash: string]>(sql, name)
    return row === undefined ? null : { version: row[0], hash: row[1] }
  }

  setFile(name: string, version: number, hash: string): void {
    this.#statements.run('REPLACE INTO share_files VALUES (?, ?, ?)', name, version, hash)
  }

  forgetFile(name: string): void {
    this.#statements.run('DELETE FROM share_files WHERE name = ?', name)
  }

  /** The number of rows to send, and the start of the oldest (ms since the Unix epoch). */
  waiting(): { readonly rows: number; readonly sinceMs: number | null } {
    const { passed_seq: passedSeq = 0 } = this.cursors() ?? {}
    const pulled =
      'SELECT coalesce(sum(last_seq - max(first_seq - 1, ?1)), 0) FROM share_ranges WHERE last_seq > ?1'
    const all = (this.#statements.number('SELECT max(seq) FROM calls') ?? 0) - passedSeq
    const rows = Math.max(0, all - (this.#statements.number(pulled, passedSeq) ?? 0))
    if (rows === 0) return { rows, sinceMs: null }
    const oldest = `SELECT c.id >> 12 FROM calls AS c WHERE c.seq > ? AND NOT EXISTS (
      SELECT 1 FROM share_ranges WHERE c.seq BETWEEN first_seq AND last_seq) ORDER BY c.seq LIMIT 1`
    return { rows, sinceMs: this.#statements.number(oldest, passedSeq) }
  }
}

/** The rows of a file that wait, and its `passedSeq`, which is null until it begins. Null without a readable file. */
export function waitingIn(
  path: string,
): (ReturnType<ShareState['waiting']> & { readonly passedSeq: number | null }) | null {
  const opened = openForReading(path)
  if (typeof opened === 'string') return null
  using database = opened
  const state = new ShareState(database)
  return { ...state.waiting(), passedSeq: state.cursors()?.passed_seq ?? null }
}
