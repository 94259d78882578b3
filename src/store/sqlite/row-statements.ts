import type { DatabaseSync, StatementSync } from 'node:sqlite'

/** Statements whose rows are arrays, each prepared once. */
export class RowStatements {
  readonly #database: DatabaseSync
  readonly #bySql = new Map<string, StatementSync>()

  constructor(database: DatabaseSync) {
    this.#database = database
  }

  get(sql: string): StatementSync {
    const known = this.#bySql.get(sql)
    if (known !== undefined) return known
    const statement = this.#database.prepare(sql)
    statement.setReturnArrays(true)
    this.#bySql.set(sql, statement)
    return statement
  }
}
