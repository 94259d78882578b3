import { getOrAdd } from '../../lib/get-or-add.ts'
import type { DatabaseSync } from 'node:sqlite'
import type { WordTable } from '../../call/call-fields.ts'
import { RowStatements } from '../sqlite/row-statements.ts'

/** The words behind the numbers in a row, and back. Words are never changed, so what was read once stays good. */
export class CallWords {
  readonly #statements: RowStatements
  readonly #texts = new Map<string, string>()

  constructor(database: DatabaseSync) {
    this.#statements = new RowStatements(database)
  }

  /** The numbers of those words that are known at all. */
  idsOf(table: WordTable, words: readonly string[]): ReadonlySet<number> {
    const sql = `SELECT id FROM ${table} WHERE text IN (SELECT value FROM json_each(?))`
    const rows = this.#statements.all<readonly [number]>(sql, JSON.stringify(words))
    return new Set(rows.map(([id]) => id))
  }

  /** The lowest and the highest id of a trace's calls; null if it has none. */
  callsOfTrace(traceId: string): readonly [first: number, last: number] | null {
    const sql = 'SELECT min(id), max(id) FROM calls WHERE trace_id = ?'
    const [first, last] = this.#statements.first<readonly [number | null, number | null]>(sql, traceId) ?? []
    return typeof first === 'number' && typeof last === 'number' ? [first, last] : null
  }

  /** Null for null. */
  wordOf(table: WordTable, id: number | null): string | null {
    if (id === null) return null
    return getOrAdd(this.#texts, `${table} ${id}`, () => {
      const sql = `SELECT text FROM ${table} WHERE id = ?`
      return this.#statements.first<readonly [string]>(sql, id)?.[0] ?? ''
    })
  }
}
