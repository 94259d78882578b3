import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import type { WordTable } from '../../call/call-fields.ts'

/** The words behind the numbers in a row, and back. Words are never changed, so what was read once stays good. */
export class CallWords {
  readonly #database: DatabaseSync
  readonly #texts = new Map<string, string>()
  readonly #statements = new Map<string, StatementSync>()

  constructor(database: DatabaseSync) {
    this.#database = database
  }

  /** The numbers of those words that are known at all. */
  idsOf(table: WordTable, words: readonly string[]): ReadonlySet<number> {
    const sql = `SELECT id FROM ${table} WHERE text IN (SELECT value FROM json_each(?))`
    return new Set(this.#all(sql, JSON.stringify(words)).map((row) => Number(row['id'])))
  }

  wordOf(table: WordTable, id: number): string {
    const name = `${table} ${id}`
    const known = this.#texts.get(name)
    if (known !== undefined) return known
    const [row] = this.#all(`SELECT text FROM ${table} WHERE id = ?`, id)
    const found = row?.['text']
    const text = typeof found === 'string' ? found : ''
    this.#texts.set(name, text)
    return text
  }

  #all(sql: string, value: SQLInputValue): readonly Readonly<Record<string, unknown>>[] {
    let statement = this.#statements.get(sql)
    if (statement === undefined) {
      statement = this.#database.prepare(sql)
      this.#statements.set(sql, statement)
    }
    return statement.all(value)
  }
}
