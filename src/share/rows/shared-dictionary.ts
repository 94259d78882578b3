import { type SharedDatabase, textArray } from './shared-database.ts'

/** Most words in memory. */
const mostWords = 50_000

/** The words of the shared database and their numbers there. */
export class SharedDictionary {
  readonly #database: SharedDatabase
  readonly #ids = new Map<string, number>()
  readonly #texts = new Map<number, string>()

  constructor(database: SharedDatabase) {
    this.#database = database
  }

  /** The numbers of words. New words are added. */
  async idsOf(texts: Iterable<string>): Promise<ReadonlyMap<string, number>> {
    // Sorted, because two gateways that add the same words in different orders would deadlock.
    const sortedTexts = [...new Set(texts)].sort()
    if (this.#ids.size > mostWords) this.#ids.clear()
    const find = 'SELECT id, text FROM tokenweir.words WHERE text = ANY($1::text[])'
    const add = 'INSERT INTO tokenweir.words (text) SELECT unnest($1::text[]) ON CONFLICT DO NOTHING'
    for (const sql of [find, add, find]) {
      const unknown = sortedTexts.filter((text) => !this.#ids.has(storable(text)))
      if (unknown.length === 0) break
      const rows = await this.#database.query(sql, [textArray(unknown)])
      for (const [id, text] of rows) this.#ids.set(String(text), Number(id))
    }
    return new Map(sortedTexts.map((text) => [text, this.#ids.get(storable(text)) ?? 0]))
  }

  /** Loads the words of these numbers for {@link textOf}. */
  async load(ids: Iterable<number>): Promise<void> {
    if (this.#texts.size > mostWords) this.#texts.clear()
    const unknown = [...new Set(ids)].filter((id) => !this.#texts.has(id))
    if (unknown.length === 0) return
    const sql = 'SELECT id, text FROM tokenweir.words WHERE id = ANY($1::int[])'
    for (const [id, text] of await this.#database.query(sql, [unknown])) {
      this.#texts.set(Number(id), String(text))
    }
  }

  textOf(id: number): string {
    return this.#texts.get(id) ?? ''
  }
}

/** The text as PostgreSQL stores it. */
function storable(text: string): string {
  return text.replaceAll('\0', '').toWellFormed()
}
