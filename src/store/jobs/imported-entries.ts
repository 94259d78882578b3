import type { DatabaseSync } from 'node:sqlite'
import { textHash } from '../../lib/text-hash.ts'
import { RowStatements } from '../sqlite/row-statements.ts'
import { inReadTransaction } from '../sqlite/transaction.ts'

/**
 * Which entries of which sources became calls. An entry is known by all that it says and by its ordinal among equal
 * ones of its file, so that equal entries are as many calls, and the same file adds nothing a second time.
 */
export class ImportedEntries {
  readonly #database: DatabaseSync
  readonly #statements: RowStatements

  constructor(database: DatabaseSync) {
    this.#database = database
    this.#statements = new RowStatements(database)
    // In a file of SQLite's own, which goes with the connection: a source may have millions of entries.
    database.exec('CREATE TEMP TABLE entries_read (entry INTEGER PRIMARY KEY, times INTEGER NOT NULL) STRICT')
  }

  /** The same entries, each with a key in which its ordinal among equal ones is, counted from the beginning of the file. */
  keyed<Entry extends { readonly key: bigint }>(entries: readonly Entry[]): readonly Entry[] {
    // In one transaction, as a transaction for each takes as long as reading the entry.
    return inReadTransaction(this.#database, () =>
      entries.map((entry) => ({ ...entry, key: this.#next(entry.key) })),
    )
  }

  #next(entry: bigint): bigint {
    const sql = `INSERT INTO entries_read VALUES (?, 1)
      ON CONFLICT (entry) DO UPDATE SET times = times + 1 RETURNING times`
    const times = this.#statements.number(sql, entry) ?? 1
    if (times === 1) return entry
    return textHash(`${entry} ${times}`)
  }

  has(key: bigint): boolean {
    return this.#statements.number('SELECT 1 FROM imported_entries WHERE hash = ?', key) !== null
  }

  /** Call it in the transaction that adds the entry's call. */
  add(key: bigint): void {
    this.#statements.run('INSERT INTO imported_entries VALUES (?) ON CONFLICT DO NOTHING', key)
  }
}
