import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { WordTable } from '../../src/call/fields/call-fields.ts'

const columns = [
  'id',
  'seq',
  'call_type_id',
  'endpoint_id',
  'method_id',
  'stream',
  'model_id',
  'response_model_id',
  'service_tier_id',
  'upstream_id',
  'instance_id',
  'status',
  'outcome_id',
  'failure_code_id',
  'upstream_error_code_id',
  'error_message',
  'finish_reason_id',
  'attempts',
  'client_retry',
  'receive_us',
  'queue_us',
  'retry_wait_us',
  'connect_us',
  'ttfb_us',
  'ttft_us',
  'ttfo_us',
  'duration_us',
  'overhead_us',
  'tpot_us',
  'chunks',
  'gap_p50_us',
  'gap_p95_us',
  'gap_max_us',
  'stalls',
  'input_tokens',
  'output_tokens',
  'cached_input_tokens',
  'cache_write_tokens',
  'cache_write_1h_tokens',
  'reasoning_tokens',
  'total_tokens',
  'usage_source_id',
  'request_bytes',
  'response_bytes',
  'search_units',
  'upstream_request_id',
  'client_id',
  'key_fingerprint',
  'user_agent_id',
  'session_id',
  'cost_nano_usd',
  'price_source_id',
  'price_key_id',
  'tags_id',
] as const

type Column = (typeof columns)[number]
type Value = number | string | null

/** The index of each column in a {@link CallRow}. */
export const at: Readonly<Record<Column, number>> = Object.fromEntries(
  columns.map((name, place) => [name, place]),
) as Record<Column, number>

/** A row of `calls`, by {@link at}. */
export type CallRow = Value[]

export function emptyRow(): CallRow {
  return columns.map(() => null)
}

/** An INSERT of the columns that are not null in a kind of calls. */
interface Shape {
  readonly places: readonly number[]
  readonly insert: StatementSync
  readonly values: Value[]
}

/** Adds rows as fast as SQLite takes them: no conflicts, no copies, one statement per set of columns. */
export class CallRows {
  readonly #database: DatabaseSync
  readonly #shapes = new Map<number, Shape>()

  constructor(database: DatabaseSync) {
    this.#database = database
  }

  add(row: CallRow): void {
    // A double holds integers of 53 bits, one for each column behind the id, which is never null.
    let low = 0
    let high = 0
    for (let i = 1; i < 28; i++) if (row[i] !== null) low |= 1 << (i - 1)
    for (let i = 28; i < row.length; i++) if (row[i] !== null) high |= 1 << (i - 28)
    const key = high * 2 ** 27 + low
    let shape = this.#shapes.get(key)
    if (shape === undefined) {
      shape = this.#shapeOf(row)
      this.#shapes.set(key, shape)
    }
    const { places, values } = shape
    for (let i = 0; i < places.length; i++) values[i] = row[places[i]!]!
    shape.insert.run(...values)
  }

  #shapeOf(row: CallRow): Shape {
    const places = row.flatMap((value, place) => (value === null ? [] : [place]))
    const names = places.map((place) => columns[place]!)
    const sql = `INSERT INTO calls (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`
    return { places, insert: this.#database.prepare(sql), values: places.map(() => null) }
  }
}

interface Words {
  readonly ids: Map<string, number>
  readonly insert: StatementSync
}

/** The entries of the tables of words, made where they are missing. */
export class WordIds {
  readonly #database: DatabaseSync
  readonly #tables = new Map<WordTable, Words>()

  constructor(database: DatabaseSync) {
    this.#database = database
  }

  idOf(table: WordTable, text: string): number {
    const known = this.#words(table).ids.get(text)
    if (known !== undefined) return known
    const id = this.added(table, text)
    this.#words(table).ids.set(text, id)
    return id
  }

  /** The id of a set of tags, which also has rows in the tables of tags. */
  idOfTags(tags: readonly string[]): number {
    const text = tags.join(',')
    const known = this.#words('tag_sets').ids.get(text)
    if (known !== undefined) return known
    const setId = this.idOf('tag_sets', text)
    for (const tag of tags) {
      this.#database.prepare('INSERT INTO tags (text) VALUES (?) ON CONFLICT DO NOTHING').run(tag)
      this.#database.prepare('INSERT INTO tags_in_sets SELECT id, ? FROM tags WHERE text = ?').run(setId, tag)
    }
    return setId
  }

  /** Of a word that is there for the first time. */
  added(table: WordTable, text: string): number {
    return Number(this.#words(table).insert.run(text).lastInsertRowid)
  }

  #words(table: WordTable): Words {
    let words = this.#tables.get(table)
    if (words === undefined) {
      words = { ids: new Map(), insert: this.#database.prepare(`INSERT INTO ${table} (text) VALUES (?)`) }
      this.#tables.set(table, words)
    }
    return words
  }
}
