import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { startedAtMs } from '../../call/call-id.ts'
import type { CallAnswer, CallQuestion } from '../../call/call-question.ts'
import type { CallFilter } from '../../call/call-filter.ts'
import type { CallJson } from '../../call/call-record.ts'
import type { CallPage, EndedCalls, ServedCount, StoreReader } from '../../call/call-reader.ts'
import type { CallType } from '../../call/call.ts'
import type { IsOver } from '../../call/query-too-slow.ts'
import { CallAggregates } from './call-aggregates.ts'
import { callTypeCodes } from '../../call/call-fields.ts'
import { andSql } from './call-condition.ts'
import { CallList } from './call-list.ts'
import { selectionCondition, selectionOf } from './call-selection.ts'
import { CallWords } from './call-words.ts'
import { publicFieldList, publicFields } from '../sqlite/calls-readable.ts'
import { FigureReader } from './figure-reader.ts'
import { SqliteHistoryReader } from './history-reader.ts'
import { inOneInstant } from '../sqlite/transaction.ts'
import { openForReading, type StoreAbsence } from '../sqlite/open-store.ts'
import { ServedModels } from './served-models.ts'
import { quarterMs } from '../rollup/rollup-spans.ts'

/** A follower that asks for few of many calls goes through them in pieces. */
const followedAtOnce = 50_000

/** What SQLite may keep of the file in memory; it takes only as much as it reads. */
const cacheKib = 96 * 1024

type Row = Readonly<Record<string, unknown>>

/** Opens the recorded calls, or says why there are none to read. */
export function openCallReader(path: string, isOver: IsOver = () => false): StoreReader | StoreAbsence {
  const database = openForReading(path)
  if (typeof database === 'string') return database
  // Questions over months read the same pages of the rollups again and again.
  database.exec(`PRAGMA cache_size = -${cacheKib}`)
  return new SqliteCallReader(database, isOver)
}

class SqliteCallReader implements StoreReader {
  readonly history: SqliteHistoryReader
  readonly #database: DatabaseSync
  readonly #words: CallWords
  readonly #list: CallList
  readonly #aggregates: CallAggregates
  readonly #served: ServedModels
  readonly #statements = new Map<string, StatementSync>()
  /** Askers who share one instant. */
  #askers = 0

  constructor(database: DatabaseSync, isOver: IsOver) {
    this.#database = database
    this.#words = new CallWords(database)
    this.#list = new CallList(database, isOver)
    this.#aggregates = new CallAggregates(new FigureReader(database, isOver), this.#words)
    this.#served = new ServedModels(database, this.#words, isOver)
    this.history = new SqliteHistoryReader(database)
  }

  async list(filter: CallFilter, page: CallPage): Promise<readonly CallJson[]> {
    const selection = selectionOf(filter, this.#words)
    if (selection === null) return []
    return inOneInstant(this.#database, () => this.#callsById(this.#list.ids(selection, page)))
  }

  async endedSince(afterSeq: number, filter: CallFilter, limit: number): Promise<EndedCalls> {
    // Read first: rows that are added in between come with the next question.
    const newest = Math.min(await this.lastSeq(), afterSeq + followedAtOnce)
    const selection = selectionOf(filter, this.#words)
    if (selection === null) return { calls: [], lastSeq: Math.max(newest, afterSeq) }
    const condition = selectionCondition(selection)
    const statement = this.#prepared(
      `SELECT c.seq,\n${publicFieldList}\nFROM calls AS c INDEXED BY calls_by_seq
        WHERE c.seq > ? AND c.seq <= ? AND c.id >= ? AND c.id < ?${andSql(condition)} ORDER BY c.seq LIMIT ?`,
    )
    const ids = [selection.fromId, selection.pastId]
    const rows = statement.all(afterSeq, newest, ...ids, ...condition.values, limit)
    const reached = rows.length === limit ? Number(rows.at(-1)?.['seq'] ?? newest) : newest
    return { calls: rows.flatMap(callOf), lastSeq: Math.max(reached, afterSeq) }
  }

  async call(id: number): Promise<CallJson | null> {
    return this.#callsById([id])[0] ?? null
  }

  async aggregate(question: CallQuestion): Promise<CallAnswer> {
    return this.#aggregates.answer(question)
  }

  async choices(): Promise<{ readonly models: readonly string[]; readonly types: readonly CallType[] }> {
    return {
      models: this.#modelIds()
        .map((id) => this.#words.wordOf('models', id))
        .sort(),
      types: (await this.extent()) === null ? [] : (Object.keys(callTypeCodes) as CallType[]).sort(),
    }
  }

  async extent(): Promise<{ readonly firstMs: number; readonly lastMs: number } | null> {
    const row = this.#prepared(
      'SELECT (SELECT min(id) FROM calls) AS first, (SELECT max(id) FROM calls) AS last',
    ).get()
    const foldedUntilMs = await this.foldedUntilMs()
    const earliest = this.#prepared('SELECT min(slot) AS slot FROM rollup_quarters')
    const folded = foldedUntilMs === null ? null : earliest.get()?.['slot']
    const [first, last] = [row?.['first'] ?? null, row?.['last'] ?? null]
    if (first === null && typeof folded !== 'number') return null
    const firstMs = first === null ? Number.POSITIVE_INFINITY : startedAtMs(Number(first))
    const foldedMs = typeof folded === 'number' ? folded * quarterMs : Number.POSITIVE_INFINITY
    const earliestMs = Math.min(firstMs, foldedMs)
    return {
      firstMs: earliestMs,
      lastMs: last === null ? (foldedUntilMs ?? earliestMs) - 1 : startedAtMs(Number(last)),
    }
  }

  async foldedUntilMs(): Promise<number | null> {
    const slot = Number(this.#prepared('SELECT folded_until FROM rollup_state').get()?.['folded_until'])
    return slot === 0 ? null : slot * quarterMs
  }

  async lastSeq(): Promise<number> {
    return Number(this.#prepared('SELECT coalesce(max(seq), 0) AS seq FROM calls').get()?.['seq'])
  }

  async servedModels(fromMs: number, toMs: number, withinMs: number): Promise<ServedCount> {
    return this.#served.between(fromMs, toMs, withinMs)
  }

  async inOneInstant<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    if (this.#askers === 0) this.#database.exec('BEGIN')
    this.#askers++
    try {
      return await ask()
    } finally {
      if (--this.#askers === 0) this.#database.exec('COMMIT')
    }
  }

  close(): void {
    this.#statements.clear()
    if (this.#database.isOpen) this.#database.close()
  }

  /** Steps from one model to the next in the index, rather than through all calls; folded calls are in the rollups. */
  #modelIds(): readonly number[] {
    const rows = this.#prepared(
      `WITH RECURSIVE known (id) AS (
          SELECT min(model_id) FROM calls
          UNION ALL SELECT (SELECT min(model_id) FROM calls WHERE model_id > known.id) FROM known WHERE known.id IS NOT NULL
        )
        SELECT id FROM known WHERE id IS NOT NULL
        UNION SELECT entry_id FROM rollup_keys WHERE grouping_id = 2 AND entry_id >= 0`,
    ).all()
    return rows.map((row) => Number(row['id']))
  }

  #callsById(ids: readonly number[]): readonly CallJson[] {
    const statement = this.#prepared(`SELECT\n${publicFieldList}\nFROM calls AS c WHERE c.id = ?`)
    return ids.flatMap((id) => statement.all(id).flatMap(callOf))
  }

  #prepared(sql: string): StatementSync {
    const known = this.#statements.get(sql)
    if (known !== undefined) return known
    const statement = this.#database.prepare(sql)
    this.#statements.set(sql, statement)
    return statement
  }
}

/** SQLite knows no booleans; `seq` is ours alone. */
function callOf({ seq: _seq, ...row }: Row): readonly CallJson[] {
  const call = { ...row, stream: row['stream'] === 1, failed: row['failed'] === 1 }
  return isCallJson(call) ? [call] : []
}

function isCallJson(row: Row): row is Row & CallJson {
  return publicFields.every((field) => field.name in row)
}
