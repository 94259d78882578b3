import { getOrAdd } from '../../lib/get-or-add.ts'
import type { DatabaseSync } from 'node:sqlite'
import type { WordTable } from '../../call/fields/call-fields.ts'
import { tagKey } from '../../call/call-question.ts'
import { RowStatements } from '../sqlite/row-statements.ts'

/** Most words in memory, because each session adds a word. */
const mostTexts = 50_000

/** The words behind the numbers in a row, and back. Words never change, so a word that was read stays valid. */
export class CallDictionary {
  readonly #statements: RowStatements
  readonly #texts = new Map<string, string>()

  constructor(database: DatabaseSync) {
    this.#statements = new RowStatements(database)
  }

  /** The numbers of the known words. */
  idsOf(table: WordTable | 'tags', words: readonly string[]): ReadonlySet<number> {
    const sql = `SELECT id FROM ${table} WHERE text IN (SELECT value FROM json_each(?))`
    const rows = this.#statements.all<readonly [number]>(sql, JSON.stringify(words))
    return new Set(rows.map(([id]) => id))
  }

  /** The sets that have one of these tags; `null` if there are more than `most`. */
  setsOf(tags: ReadonlySet<number>, most: number): ReadonlySet<number> | null {
    const sql = 'SELECT set_id FROM tags_in_sets WHERE tag_id IN (SELECT value FROM json_each(?)) LIMIT ?'
    const rows = this.#statements.all<readonly [number]>(sql, JSON.stringify([...tags]), most + 1)
    return rows.length > most ? null : new Set(rows.map(([id]) => id))
  }

  /** The tag of a key that a set has, the first of several; `null` if it has none. */
  tagIn(set: number | null, key: string): number | null {
    const tags = this.wordOf('tag_sets', set)?.split(',') ?? []
    const tag = tags.find((text) => tagKey(text) === key)
    const [id = null] = tag === undefined ? [] : this.idsOf('tags', [tag])
    return id
  }

  /** The lowest and the highest id of a trace's calls; null if it has none. */
  callsOfTrace(traceId: string): readonly [first: number, last: number] | null {
    const sql = 'SELECT min(id), max(id) FROM calls WHERE trace_id = ?'
    const [first, last] = this.#statements.first<readonly [number | null, number | null]>(sql, traceId) ?? []
    return typeof first === 'number' && typeof last === 'number' ? [first, last] : null
  }

  /** The word with a number; null for null. */
  wordOf(table: WordTable | 'tags', id: number | null): string | null {
    if (id === null) return null
    if (this.#texts.size > mostTexts) this.#texts.clear()
    return getOrAdd(this.#texts, `${table} ${id}`, () => {
      const sql = `SELECT text FROM ${table} WHERE id = ?`
      return this.#statements.first<readonly [string]>(sql, id)?.[0] ?? ''
    })
  }
}
