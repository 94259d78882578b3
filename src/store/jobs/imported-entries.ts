import type { DatabaseSync } from 'node:sqlite'
import { textHash } from '../../lib/text-hash.ts'
import { RowStatements } from '../sqlite/row-statements.ts'
import { inReadTransaction } from '../sqlite/transaction.ts'

/**
 * The source entries that were imported. The key of an entry is a hash of its content and its ordinal among
 * equal entries of its file. So equal entries become separate calls, and importing the same file again adds
 * nothing.
 */
export class ImportedEntries {
  readonly #statements: RowStatements

  constructor(database: DatabaseSync) {
    this.#statements = new RowStatements(database)
    // A temporary table, because a source may have millions of entries. SQLite deletes it with the
    // connection.
    database.exec('CREATE TEMP TABLE entries_read (entry INTEGER PRIMARY KEY, times INTEGER NOT NULL) STRICT')
  }

  /**
   * The entries with keys that include the ordinal among equal entries, counted from the beginning of the
   * file. Call it once for each batch, in the order of the file.
   */
  keyed<Entry extends { readonly key: bigint }>(entries: readonly Entry[]): readonly Entry[] {
    // A single transaction, because one for each entry would take as long as reading the entry.
    return inReadTransaction(this.#statements.database, () =>
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

  /** Notes an imported entry. Call it in the transaction that adds the entry's call. */
  add(key: bigint): void {
    this.#statements.run('INSERT INTO imported_entries VALUES (?) ON CONFLICT DO NOTHING', key)
  }
}
