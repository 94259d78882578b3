import { isDeepStrictEqual } from 'node:util'
import type { DatabaseSync } from 'node:sqlite'
import { firstIdAt } from '../../call/call-id.ts'
import { RowStatements } from '../sqlite/row-statements.ts'
import { inReadTransaction } from '../sqlite/transaction.ts'
import { type CallCells, collectCall, summedColumnList } from './summed-calls.ts'
import { cellsOfHour, type CellRange, groupings } from './groupings.ts'
import { CallSums, sumRowColumns } from './call-sums.ts'
import { cellsOf, hoursOfDay } from './sum-cells.ts'
import { type KeyOf, sumKeys } from './sum-keys.ts'
import { hourMs } from './time-plan.ts'
import { foldedUntil, unsummedDays, unsummedHours } from './unsummed.ts'

/** Compares sums of hours with their calls, and sums of days with those of hours. Only reads. */
export class SumCheck {
  readonly #statements: RowStatements
  readonly #keyOf: KeyOf

  constructor(database: DatabaseSync) {
    this.#statements = new RowStatements(database)
    this.#keyOf = sumKeys(this.#statements, 0)
  }

  /** Hours with sums or calls, none of which were folded, the oldest first. */
  hours(): readonly number[] {
    const foldedHour = Math.ceil(foldedUntil(this.#statements) / hourMs)
    const summed =
      'SELECT DISTINCT cell_number FROM sums WHERE grouping_id = 0 AND minutes = 60 AND cell_number >= ?'
    const next = `SELECT min(id) / ${firstIdAt(hourMs)} FROM calls WHERE id >= ? * ${firstIdAt(hourMs)}`
    const hours = new Set(this.#cellNumbers(summed, foldedHour))
    let hour = this.#statements.number(next, foldedHour)
    for (; hour !== null; hour = this.#statements.number(next, hour + 1)) hours.add(hour)
    return [...hours].sort((a, b) => a - b)
  }

  /** Days that have sums, the oldest first. */
  days(): readonly number[] {
    return this.#cellNumbers(
      'SELECT DISTINCT cell_number * minutes / 1440 FROM sums WHERE grouping_id = 0 AND minutes >= 60 ORDER BY 1',
    )
  }

  /** True if the sums of an hour differ from its calls, apart from those that are known to be missing. */
  isHourWrong(hour: number): boolean {
    return inReadTransaction(this.#statements.database, () => {
      const [{ seq } = { seq: Number.MAX_SAFE_INTEGER }] = unsummedHours(this.#statements, hour, hour + 1)
      const calls: CallCells = new Map()
      const sql = `SELECT ${summedColumnList()} FROM calls NOT INDEXED WHERE id >= ? AND id < ? AND seq <= ?`
      const ids = [firstIdAt(hour * hourMs), firstIdAt((hour + 1) * hourMs)]
      for (const call of this.#statements.all(sql, ...ids, seq)) collectCall(calls, call)
      const expected = new Map<string, unknown>()
      for (const [cell, parts] of cellsOf(calls, this.#keyOf)) expected.set(cell.join(' '), comparable(parts))
      return !isDeepStrictEqual(this.#stored(cellsOfHour(hour)), expected)
    })
  }

  /** True if the sums of a day differ from those of its hours. A day without sums yet is not wrong. */
  isDayWrong(day: number): boolean {
    return inReadTransaction(this.#statements.database, () => {
      if (unsummedDays(this.#statements).has(day)) return false
      return groupings.some(({ id }) => {
        const expected = new Map<string, unknown>()
        for (const [key, rows] of hoursOfDay(this.#statements, id, day))
          expected.set([id, 1440, day, key].join(' '), comparable(rows.map((row) => sumsIn(row, 1))))
        return !isDeepStrictEqual(this.#stored([[id, 1440, day, day + 1]]), expected)
      })
    })
  }

  /** The sums of cells, for comparing, by cell. */
  #stored(ranges: readonly CellRange[]): ReadonlyMap<string, unknown> {
    const sql = `SELECT grouping_id, minutes, cell_number, key_id, ${sumRowColumns} FROM sums
      WHERE grouping_id = ? AND minutes = ? AND cell_number >= ? AND cell_number < ?`
    const rows = ranges.flatMap((range) => this.#statements.all<readonly unknown[]>(sql, ...range))
    return new Map(rows.map((row) => [row.slice(0, 4).join(' '), comparable([sumsIn(row, 4)])]))
  }

  #cellNumbers(sql: string, ...values: readonly number[]): readonly number[] {
    return this.#statements.all<readonly [number]>(sql, ...values).map(([cellNumber]) => cellNumber)
  }
}

/** The sums of a row that begins at the index `at`. */
function sumsIn(row: readonly unknown[], at: number): CallSums {
  const sums = new CallSums()
  sums.addRow(row, at)
  return sums
}

/**
 * All of these sums together, for comparing: without the sum of inverses, which may differ by rounding. `null` if
 * the bytes of a row are no distributions.
 */
function comparable(parts: readonly CallSums[]): unknown {
  const total = new CallSums()
  try {
    for (const part of parts) total.merge(part)
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
  for (const distribution of Object.values(total.distributions)) distribution.inverseSum = 0
  return total.row()
}
