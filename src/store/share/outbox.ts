import type { DatabaseSync } from 'node:sqlite'
import { storedFields } from '../../call/fields/call-fields.ts'
import { RowStatements } from '../sqlite/row-statements.ts'
import { inTransaction } from '../sqlite/transaction.ts'
import { ShareState } from './share-state.ts'
import type { StoredValues } from './stored-values.ts'

/** Rows to send. */
export interface OutgoingRows {
  readonly rows: readonly StoredValues[]
  /** Once these rows are sent, all of this file's own rows up to this number are. */
  readonly toSeq: number
}

/** A call whose cost has changed since it was sent, with the number of changes, because it may change again meanwhile. */
export interface ChangedCall {
  readonly values: StoredValues
  readonly times: number
}

/** A gateway's minute: figures in the order of {@link minuteColumns}. */
export type MinuteRow = readonly [minute: number, instance: string, ...figures: number[]]
/** An event of a gateway: milliseconds since the Unix epoch, instance, kind and detail. */
export type EventRow = readonly [atMs: number, instance: string, kind: string, detail: string | null]

/** The columns of a minute's figures, which only grow. */
export const minuteColumns = ['active_max', 'queued_max', 'at_limit_ms', 'admitted', 'dropped'] as const

const fieldColumns = storedFields.map(({ column, table }) =>
  table === undefined ? `c.${column}` : `(SELECT text FROM ${table} WHERE id = c.${column})`,
)
const rowColumns = ['c.id', ...fieldColumns].join(', ')

/** The rows of a file that the shared database does not have yet. */
export class Outbox {
  readonly state: ShareState
  readonly #statements: RowStatements

  constructor(database: DatabaseSync) {
    this.#statements = new RowStatements(database)
    this.state = new ShareState(database)
  }

  /** The next rows beyond `passed_seq` that were not pulled; null if there are none. */
  next(limit: number): OutgoingRows | null {
    for (;;) {
      const { passed_seq: passedSeq = 0 } = this.state.cursors() ?? {}
      const range = this.state.rangeAfter(passedSeq)
      const sql = `SELECT c.seq, ${rowColumns} FROM calls AS c WHERE c.seq > ? AND c.seq < ? ORDER BY c.seq LIMIT ?`
      const before = range?.[0] ?? Number.MAX_SAFE_INTEGER
      const rows = this.#statements.all<readonly [number, ...StoredValues]>(sql, passedSeq, before, limit)
      const toSeq = rows.at(-1)?.[0]
      if (toSeq !== undefined) return { rows: rows.map(([, ...values]) => values), toSeq }
      if (range === null) return null
      this.state.movePassed(range[1])
    }
  }

  /** Calls whose cost has changed since they were sent. */
  changed(limit: number): readonly ChangedCall[] {
    const sql = `SELECT s.times, ${rowColumns} FROM share_changed AS s JOIN calls AS c ON c.id = s.call_id LIMIT ?`
    return this.#statements
      .all<readonly [number, ...StoredValues]>(sql, limit)
      .map(([times, ...values]) => ({ times, values }))
  }

  forgetChanged(changed: readonly ChangedCall[]): void {
    inTransaction(this.#statements.database, () => {
      const sql = 'DELETE FROM share_changed WHERE call_id = ? AND times = ?'
      for (const { values, times } of changed) this.#statements.run(sql, Number(values[0]), times)
    })
  }

  /**
   * Gives a call a new id of the same millisecond, because a call of another store has its id. The call must
   * then be sent again. False if the new id is in use.
   */
  renumber(id: number, newId: number): boolean {
    return inTransaction(this.#statements.database, () => {
      if (this.#statements.number('SELECT 1 FROM calls WHERE id = ?', newId) !== null) return false
      for (const [table, column] of [
        ['calls', 'id'],
        ['share_changed', 'call_id'],
      ]) {
        this.#statements.run(`UPDATE ${table} SET ${column} = ? WHERE ${column} = ?`, newId, id)
      }
      return true
    })
  }

  /** The number of calls by instance. */
  callsByInstance(): ReadonlyMap<string, number> {
    const sql = `SELECT i.text, n.calls FROM (SELECT instance_id, count(*) AS calls FROM calls GROUP BY instance_id) AS n
      JOIN instances AS i ON i.id = n.instance_id`
    return new Map(this.#statements.all<readonly [string, number]>(sql))
  }

  /** Minutes of all instances from one minute on, the oldest first. */
  minutes(fromMinute: number, limit: number): readonly MinuteRow[] {
    const sql = `SELECT m.minute, i.text, ${minuteColumns.join(', ')}
      FROM gateway_minutes AS m JOIN instances AS i ON i.id = m.instance_id
      WHERE m.minute >= ? ORDER BY m.minute, m.instance_id LIMIT ?`
    return this.#statements.all<MinuteRow>(sql, fromMinute, limit)
  }

  /** Events since an instant, the oldest first. */
  events(fromMs: number): readonly EventRow[] {
    const sql = `SELECT e.at_ms, i.text, e.kind, e.detail FROM gateway_events AS e
      JOIN instances AS i ON i.id = e.instance_id WHERE e.at_ms >= ? ORDER BY e.at_ms`
    return this.#statements.all<EventRow>(sql, fromMs)
  }
}
