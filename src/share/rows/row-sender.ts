import { estimatedTokens } from '../../call/budget-tokens.ts'
import { idsPerMs, startedAtMs } from '../../call/call-id.ts'
import { storedFields } from '../../call/fields/call-fields.ts'
import type { Outbox } from '../../store/share/outbox.ts'
import { callOf, type StoredValues } from '../../store/share/stored-values.ts'
import { addRowsSql } from './add-rows-sql.ts'
import { numberArray, type SharedDatabase, textArray } from './shared-database.ts'
import type { SharedDictionary } from './shared-dictionary.ts'

const rowsPerBatch = 1000
/** Each field with its place in a row. */
const fields = storedFields.map((field, at) => ({ field, index: at + 1 }))
const wordFields = fields.filter(({ field }) => field.table !== undefined)

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
export function rowSender(sides: SendingSides, warn: (message: string) => void): () => Promise<number> {
  const months = new Set<string>()
  return sendSome

  /** Sends the next rows. Resolves with their number; 0 if none wait. */
  async function sendSome(): Promise<number> {
    const { state } = sides.outbox
    const batch = sides.outbox.next(rowsPerBatch)
    if (batch !== null) {
      const { toSeq } = batch
      // If the answer is lost, the shared database has either the old or the new position.
      state.set({ sending_seq: toSeq })
      const conflicts = await send(batch.rows, false, toSeq)
      if (conflicts.length > 0) {
        await renumber(batch.rows, conflicts, toSeq)
      }
      state.set({ confirmed_seq: toSeq })
      state.movePassed(toSeq)
      return batch.rows.length
    }
    const changed = sides.outbox.changed(rowsPerBatch)
    if (changed.length === 0) return 0
    await send(
      changed.map(({ values }) => values),
      true,
      state.cursors()?.confirmed_seq ?? 0,
    )
    sides.outbox.forgetChanged(changed)
    return changed.length
  }

  /** Sends rows. Resolves with the ids that other calls have. */
  async function send(
    rows: readonly StoredValues[],
    areChanged: boolean,
    toSeq: number,
  ): Promise<readonly number[]> {
    await addMonths(rows)
    const words = rows.flatMap((row) => wordFields.flatMap(({ index }) => row[index] ?? [])).map(String)
    const wordIds = await sides.words.idsOf(words)
    const filled = fields.filter(({ index }) => rows.some((row) => row[index] !== null))
    const columns = filled.map(({ index, field: { table, kind } }) => {
      const values = rows.map((row) => row[index] ?? null)
      if (kind === 'text') return textArray(values)
      if (table === undefined) return numberArray(values)
      return numberArray(
        values.map((word) => (typeof word === 'string' ? (wordIds.get(word) ?? null) : null)),
      )
    })
    const ids = rows.map(([id = null]) => id)
    const estimates = rows.map((row) => estimatedTokens(callOf(row)))
    const [low, high] = [Math.min(...ids.map(Number)), Math.max(...ids.map(Number))]
    const sql = addRowsSql(
      filled.map(({ field }) => field),
      areChanged,
    )
    const values = [sides.storeId, toSeq, low, high, numberArray(ids), numberArray(estimates), ...columns]
    const conflicts = await sides.shared.query(sql, values)
    return conflicts.map(([id]) => Number(id))
  }

  /**
   * Gives calls other ids. Two files may have given the same id to two calls. The call that is sent later
   * gets another id of the same millisecond, in both databases.
   */
  async function renumber(
    rows: readonly StoredValues[],
    ids: readonly number[],
    toSeq: number,
  ): Promise<void> {
    warn(`${ids.length} calls have the ids of others' calls and get new ones of the same millisecond`)
    const isOther = new Set(ids)
    let unsent = rows.filter(([id]) => isOther.has(Number(id)))
    for (let tries = 1; unsent.length > 0 && tries < idsPerMs; tries++) {
      const renumbered = unsent.map((row): StoredValues => {
        const now = Number(row[0])
        const next = startedAtMs(now) * idsPerMs + ((now + 1) % idsPerMs)
        return sides.outbox.renumber(now, next) ? row.with(0, next) : row
      })
      const still = new Set(await send(renumbered, false, toSeq))
      unsent = renumbered.filter(([id]) => still.has(Number(id)))
    }
  }

  async function addMonths(rows: readonly StoredValues[]): Promise<void> {
    for (const [id] of rows) {
      const month = `${new Date(startedAtMs(Number(id))).toISOString().slice(0, 7)}-01`
      if (months.has(month)) continue
      await sides.shared.query('SELECT tokenweir.add_month($1)', [month])
      months.add(month)
    }
  }
}
