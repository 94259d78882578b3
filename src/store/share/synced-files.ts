import type { DatabaseSync } from 'node:sqlite'
import { RowStatements } from '../sqlite/row-statements.ts'

/** What was synced last of the files beside a database. */
export class SyncedFiles {
  readonly #statements: RowStatements

  constructor(database: DatabaseSync) {
    this.#statements = new RowStatements(database)
  }

  of(name: string): { readonly version: number; readonly hash: string } | null {
    const sql = 'SELECT version, hash FROM share_files WHERE name = ?'
    const [version, hash] = this.#statements.first<readonly [number, string]>(sql, name) ?? []
    return version === undefined || hash === undefined ? null : { version, hash }
  }

  set(name: string, version: number, hash: string): void {
    this.#statements.run('REPLACE INTO share_files VALUES (?, ?, ?)', name, version, hash)
  }

  forget(name: string): void {
    this.#statements.run('DELETE FROM share_files WHERE name = ?', name)
  }
}
