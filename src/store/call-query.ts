import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import { firstIdAt } from '../call/call-id.ts'
import type { CallFilter, CallJson, CallPage, CallReader, EndedCalls } from '../call/call-reader.ts'
import { callTypeCodes, outcomeCodes } from './call-codes.ts'
import { failedSql, publicFieldList, publicFields } from './calls-readable.ts'
import { openForReading, type StoreAbsence } from './open-store.ts'

type Row = Readonly<Record<string, unknown>>

/** A filter in SQL: its text follows from which fields are set, so that few statements serve all questions. */
interface Where {
  readonly conditions: readonly string[]
  readonly values: readonly SQLInputValue[]
}

/** Opens the recorded calls, or says why there are none to read. */
export function openCallReader(path: string): CallReader | StoreAbsence {
  const database = openForReading(path)
  return typeof database === 'string' ? database : new SqliteCallReader(database)
}

class SqliteCallReader implements CallReader {
  readonly #database: DatabaseSync
  readonly #statements = new Map<string, StatementSync>()

  constructor(database: DatabaseSync) {
    this.#database = database
  }

  list(filter: CallFilter, page: CallPage): readonly CallJson[] {
    const where = whereOf(filter)
    const before = page.beforeId === undefined ? [] : [page.beforeId]
    const conditions = before.length === 0 ? where.conditions : [...where.conditions, 'c.id < ?']
    const statement = this.#prepared(
      `SELECT\n${publicFieldList}\n${from(conditions)} ORDER BY c.id DESC LIMIT ?`,
    )
    return callsOf(statement.all(...where.values, ...before, page.limit))
  }

  endedSince(afterSeq: number, filter: CallFilter, limit: number): EndedCalls {
    // Read first: rows that are added in between come with the next question.
    const newest = this.lastSeq()
    const where = whereOf(filter)
    const conditions = ['c.seq > ?', 'c.seq <= ?', ...where.conditions]
    const statement = this.#prepared(
      `SELECT c.seq,\n${publicFieldList}\n${from(conditions)} ORDER BY c.seq LIMIT ?`,
    )
    const rows = statement.all(afterSeq, newest, ...where.values, limit)
    const reached = rows.length === limit ? Number(rows.at(-1)?.['seq'] ?? newest) : newest
    return { calls: callsOf(rows), lastSeq: Math.max(reached, afterSeq) }
  }

  lastSeq(): number {
    return Number(this.#prepared('SELECT coalesce(max(seq), 0) AS seq FROM calls').get()?.['seq'])
  }

  close(): void {
    this.#statements.clear()
    if (this.#database.isOpen) this.#database.close()
  }

  #prepared(sql: string): StatementSync {
    const known = this.#statements.get(sql)
    if (known !== undefined) return known
    const statement = this.#database.prepare(sql)
    this.#statements.set(sql, statement)
    return statement
  }
}

function from(conditions: readonly string[]): string {
  return `FROM calls AS c${conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`}`
}

function whereOf(filter: CallFilter): Where {
  const conditions: string[] = []
  const values: SQLInputValue[] = []
  const add = (condition: string, value: SQLInputValue): void => {
    conditions.push(condition)
    values.push(value)
  }
  if (filter.fromMs !== undefined) add('c.id >= ?', firstIdAt(Math.ceil(filter.fromMs)))
  if (filter.toMs !== undefined) add('c.id < ?', firstIdAt(Math.ceil(filter.toMs)))
  if (filter.models !== undefined) {
    const known = 'SELECT id FROM models WHERE text IN (SELECT value FROM json_each(?))'
    add(`c.model_id IN (${known})`, JSON.stringify(filter.models))
  }
  if (filter.callTypes !== undefined) {
    const codes = filter.callTypes.map((type) => callTypeCodes[type])
    add('c.call_type_id IN (SELECT value FROM json_each(?))', JSON.stringify(codes))
  }
  if (filter.outcomes !== undefined) {
    const codes = filter.outcomes.map((outcome) => outcomeCodes[outcome])
    add('c.outcome_id IN (SELECT value FROM json_each(?))', JSON.stringify(codes))
  }
  if (filter.failedOnly === true) conditions.push(failedSql)
  return { conditions, values }
}

function callsOf(rows: readonly Row[]): readonly CallJson[] {
  return rows.map(withBooleans).filter(isCallJson)
}

/** SQLite knows no booleans; `seq` is ours alone. */
function withBooleans({ seq: _seq, ...row }: Row): Row {
  return { ...row, stream: row['stream'] === 1, failed: row['failed'] === 1 }
}

function isCallJson(row: Row): row is Row & CallJson {
  return publicFields.every((field) => field.name in row)
}
