import type { DatabaseSync } from 'node:sqlite'
import { storedFields } from '../../call/fields/call-fields.ts'
import { firstIdAt } from '../../call/call-id.ts'
import { costColumns, type CostEdit, costWriter, type StoredCost } from '../jobs/cost-writer.ts'
import { summedColumnList } from '../rollup/summed-calls.ts'
import { foldedUntil } from '../rollup/unsummed.ts'
import { RowStatements } from '../sqlite/row-statements.ts'
import { inTransaction } from '../sqlite/transaction.ts'
import { CallWriter, type WriteResult } from '../write/call-writer.ts'
import { BatchEncoder, Dictionary } from '../write/record-batch.ts'
import { type EventRow, minuteColumns, type MinuteRow } from './outbox.ts'
import { ShareState } from './share-state.ts'
import { callOf, type StoredValues } from './stored-values.ts'

/** A row of the shared database, with its words as texts. */
export interface PulledRow {
  readonly values: StoredValues
  /** The row's number in the shared database. */
  readonly seq: number
  /** The row's first number: differs from `seq` if the call was unfinished before, or had another cost. */
  readonly firstSeq: number
}

/** The places of {@link costColumns} in a pulled row. */
const costIndexes = costColumns.map((name) => 1 + storedFields.findIndex(({ column }) => column === name))
const addMinute = `INSERT INTO gateway_minutes VALUES (?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (minute, instance_id)
  DO UPDATE SET ${minuteColumns.map((name) => `${name} = max(${name}, excluded.${name})`).join(', ')}`

/** Writes other gateways' rows into this file as if they were recorded here. Idempotent. */
export class Inbox {
  readonly state: ShareState
  readonly #statements: RowStatements
  readonly #encoder = new BatchEncoder()
  readonly #words = new Dictionary()
  readonly #writer: CallWriter
  readonly #writeCosts: (edits: readonly CostEdit[]) => void

  constructor(database: DatabaseSync) {
    this.#statements = new RowStatements(database)
    this.state = new ShareState(database)
    this.#writer = new CallWriter(database, this.#words, null, null, this.state.notePulled)
    this.#writeCosts = costWriter(database)
  }

  /** Writes rows in the order of their numbers, without calls that were folded here. */
  write(rows: readonly PulledRow[]): WriteResult {
    const { pulled_seq: pulledSeq = 0, known_until_seq: knownUntilSeq = 0 } = this.state.cursors() ?? {}
    const foldedId = firstIdAt(foldedUntil(this.#statements))
    const isHere = 'SELECT 1 FROM calls WHERE id = ?'
    const usableRows = rows.filter(({ values: [id], seq, firstSeq }) => {
      // A changed call may have changed before this file first pulled it.
      const wasHere = firstSeq <= knownUntilSeq || (firstSeq === seq && seq <= pulledSeq)
      const mayBeFolded = Number(id) < foldedId && wasHere
      return !mayBeFolded || this.#statements.number(isHere, Number(id)) !== null
    })
    const batch = this.#encoder.encode(usableRows.map(({ values }) => callOf(values)))
    this.#words.accept(batch)
    const result = this.#writer.write(batch)
    this.#takeCosts(usableRows.filter(({ seq, firstSeq }) => seq !== firstSeq))
    return result
  }

  writeHistory(minutes: readonly MinuteRow[], events: readonly EventRow[]): void {
    if (minutes.length + events.length === 0) return
    inTransaction(this.#statements.database, () => {
      for (const [minute, instance, ...figures] of minutes) {
        this.#statements.run(addMinute, minute, this.#statements.wordId('instances', instance), ...figures)
      }
      const addEvent = 'INSERT INTO gateway_events VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING'
      for (const [atMs, instance, ...what] of events) {
        this.#statements.run(addEvent, atMs, this.#statements.wordId('instances', instance), ...what)
      }
    })
  }

  /**
   * Copies the costs of other gateways' calls, as re-pricing does, except where this file has a later change that is not sent
   * yet.
   */
  #takeCosts(rows: readonly PulledRow[]): void {
    if (rows.length === 0) return
    const source = `SELECT ${summedColumnList()}, ${costColumns.join(', ')} FROM calls
      WHERE id = ? AND NOT EXISTS (SELECT 1 FROM share_changed WHERE call_id = calls.id)`
    inTransaction(this.#statements.database, () => {
      const edits: CostEdit[] = []
      for (const { values } of rows) {
        const row = this.#statements.first(source, Number(values[0]))
        if (row === undefined) continue
        const cost = costIndexes.map((index) => {
          const value = values[index] ?? null
          return typeof value === 'string' ? this.#statements.wordId('labels', value) : value
        })
        const call = row.slice(0, -cost.length)
        if (cost.some((value, at) => value !== row[call.length + at]))
          edits.push({ call, cost: cost as unknown as StoredCost })
      }
      this.#writeCosts(edits)
      for (const { call } of edits) {
        this.#statements.run('DELETE FROM share_changed WHERE call_id = ?', call[1] ?? null)
      }
    })
  }
}
