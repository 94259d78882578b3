import { estimatedTokens } from '../../call/budget-tokens.ts'
import { idsPerMs, startedAtMs } from '../../call/call-id.ts'
import { storedFields, type WordTable } from '../../call/fields/call-fields.ts'
import { getOrAdd } from '../../lib/get-or-add.ts'
import type { Outbox } from '../../store/share/outbox.ts'
import { callOf, type StoredValues } from '../../store/share/stored-values.ts'
import { addRowsSql } from './add-rows-sql.ts'
import { numberArray, type SharedDatabase, textArray } from './shared-database.ts'
import type { SharedDictionary } from './shared-dictionary.ts'

const rowsPerBatch = 1000
/** Most local numbers of words whose shared numbers are in memory. */
const mostWords = 100_000
const failureAt = 1 + storedFields.findIndex(({ record }) => record === 'failureCode')

/** The two sides: this file, and the shared database, in which the file has a number. */
export interface SendingSides {
  readonly outbox: Outbox
  readonly shared: SharedDatabase
  readonly words: SharedDictionary
  readonly storeId: number
}

/**
 * Sends rows of this file to the shared database, each batch in one statement. A batch is sent at least once;
 * because of the ids, each row is added exactly once.
 */
export class RowSender {
  readonly #sides: SendingSides
  readonly #sharedIds = new Map<string, number>()
  readonly #months = new Set<string>()
  readonly #warn: (message: string) => void

  constructor(sides: SendingSides, warn: (message: string) => void) {
    this.#sides = sides
    this.#warn = warn
  }

  /** Sends the next rows. Resolves with their number; 0 if none wait. */
  async sendSome(): Promise<number> {
    const { state } = this.#sides.outbox
    const batch = this.#sides.outbox.next(rowsPerBatch)
    if (batch !== null) {
      const { toSeq } = batch
      // If the answer is lost, the shared database has either the old or the new position.
      state.set({ sending_seq: toSeq })
      const conflicts = await this.#send(batch.rows, false, toSeq)
      if (conflicts.length > 0) {
        await this.#renumber(batch.rows, conflicts, toSeq)
      }
      state.set({ confirmed_seq: toSeq })
      state.movePassed(toSeq)
      return batch.rows.length
    }
    const changed = this.#sides.outbox.changed(rowsPerBatch)
    if (changed.length === 0) return 0
    await this.#send(
      changed.map(({ values }) => values),
      true,
      state.cursors()?.confirmed_seq ?? 0,
    )
    this.#sides.outbox.forgetChanged(changed)
    return changed.length
  }

  /** Sends rows. Resolves with the ids that other calls have. */
  async #send(rows: readonly StoredValues[], areChanged: boolean, toSeq: number): Promise<readonly number[]> {
    await this.#addMonths(rows)
    await this.#learnWords(rows)
    const filled = storedFields
      .map((field, index) => ({ ...field, index: index + 1 }))
      .filter(({ index }) => rows.some((row) => row[index] !== null))
    const columns = filled.map(({ index, table, kind }) => {
      if (kind === 'text') return textArray(rows.map((row) => row[index] ?? null))
      if (table === undefined) return numberArray(rows.map((row) => row[index] ?? null))
      return numberArray(rows.map((row) => this.#sharedId(table, row[index] ?? null)))
    })
    const ids = rows.map(([id = null]) => id)
    const estimates = rows.map((row) =>
      estimatedTokens({ ...callOf(row), failureCode: this.#failureCode(row) }),
    )
    const [low, high] = [Math.min(...ids.map(Number)), Math.max(...ids.map(Number))]
    const sql = addRowsSql(filled, areChanged)
    const values = [
      this.#sides.storeId,
      toSeq,
      low,
      high,
      numberArray(ids),
      numberArray(estimates),
      ...columns,
    ]
    const conflicts = await this.#sides.shared.queryWide(sql, values)
    return conflicts.map(([id]) => Number(id))
  }

  /**
   * Gives calls other ids. Two files may have given the same id to two calls. The call that is sent later
   * gets another id of the same millisecond, in both databases.
   */
  async #renumber(rows: readonly StoredValues[], ids: readonly number[], toSeq: number): Promise<void> {
    this.#warn(`${ids.length} calls have the ids of others' calls and get new ones of the same millisecond`)
    const isOther = new Set(ids)
    let left = rows.filter(([id]) => isOther.has(Number(id)))
    for (let tries = 1; left.length > 0 && tries < idsPerMs; tries++) {
      const renumbered = left.map((row): StoredValues => {
        const now = Number(row[0])
        const next = startedAtMs(now) * idsPerMs + ((now + 1) % idsPerMs)
        return this.#sides.outbox.renumber(now, next) ? row.with(0, next) : row
      })
      const still = new Set(await this.#send(renumbered, false, toSeq))
      left = renumbered.filter(([id]) => still.has(Number(id)))
    }
  }

  async #addMonths(rows: readonly StoredValues[]): Promise<void> {
    for (const [id] of rows) {
      const month = `${new Date(startedAtMs(Number(id))).toISOString().slice(0, 7)}-01`
      if (this.#months.has(month)) continue
      await this.#sides.shared.query('SELECT tokenweir.add_month($1)', [month])
      this.#months.add(month)
    }
  }

  async #learnWords(rows: readonly StoredValues[]): Promise<void> {
    if (this.#sharedIds.size > mostWords) this.#sharedIds.clear()
    const unknown = new Map<string, string>()
    for (const row of rows) {
      for (const [index, { table }] of storedFields.entries()) {
        const id = row[index + 1] ?? null
        if (table === undefined || typeof id !== 'number') continue
        const key = keyOf(table, id)
        if (!this.#sharedIds.has(key)) getOrAdd(unknown, key, () => this.#sides.outbox.wordOf(table, id))
      }
    }
    if (unknown.size === 0) return
    const ids = await this.#sides.words.idsOf(unknown.values())
    for (const [key, text] of unknown) this.#sharedIds.set(key, ids.get(text) ?? 0)
  }

  #sharedId(table: WordTable, id: number | string | null): number | null {
    return typeof id === 'number' ? (this.#sharedIds.get(keyOf(table, id)) ?? null) : null
  }

  #failureCode(row: StoredValues): string | null {
    const id = row[failureAt]
    return typeof id === 'number' ? this.#sides.outbox.wordOf('labels', id) : null
  }
}

function keyOf(table: WordTable, id: number): string {
  return `${table} ${id}`
}
