import type { DatabaseSync } from 'node:sqlite'
import { firstIdAt } from '../../call/call-id.ts'
import { RowStatements } from '../sqlite/row-statements.ts'
import { inReadTransaction } from '../sqlite/transaction.ts'
import { CallCells, summedColumnList } from './summed-calls.ts'
import { addSumRow, sumRowColumns } from './sum-rows.ts'
import { groupings } from './groupings.ts'
import { CallSums } from './call-sums.ts'
import { cellsOf, SumCells, textOf, textOfSums, unreadable } from './sum-cells.ts'
import { SumKeys } from './sum-keys.ts'
import { hourMs } from './time-plan.ts'
import { foldedUntil, hoursPerDay, unsummedDays, unsummedHours } from './unsummed.ts'

/** Compares sums of hours with their calls, and sums of days with those of hours. Only reads. */
export class SumCheck {
  readonly #database: DatabaseSync
  readonly #statements: RowStatements
  readonly #keys: SumKeys
  readonly #cells: SumCells

  constructor(database: DatabaseSync) {
    this.#database = database
    this.#statements = new RowStatements(database)
    this.#keys = new SumKeys(this.#statements, { isReading: true })
    this.#cells = new SumCells(this.#statements, this.#keys)
  }

  /** Hours with sums or calls, none of which were folded, the oldest first. */
  hours(): readonly number[] {
    const foldedHour = Math.ceil(foldedUntil(this.#statements) / hourMs)
    const next = `SELECT min(id) / ${firstIdAt(hourMs)} FROM calls WHERE id >= ? * ${firstIdAt(hourMs)}`
    const hours = new Set(this.#cellNumbers(60, foldedHour))
    let hour = this.#statements.number(next, foldedHour)
    for (; hour !== null; hour = this.#statements.number(next, hour + 1)) hours.add(hour)
    return [...hours].sort((a, b) => a - b)
  }

  /** Days that have sums, the oldest first. */
  days(): readonly number[] {
    const days = new Set(this.#cellNumbers(1440, 0))
    for (const hour of this.#cellNumbers(60, 0)) days.add(Math.floor(hour / hoursPerDay))
    return [...days].sort((a, b) => a - b)
  }

  /** True if the sums of an hour differ from its calls, apart from those that are known to be missing. */
  isHourWrong(hour: number): boolean {
    return inReadTransaction(this.#database, () => {
      const [{ seq } = { seq: Number.MAX_SAFE_INTEGER }] = unsummedHours(this.#statements, hour, hour + 1)
      if (seq === 0) return false
      const calls = new CallCells()
      const sql = `SELECT ${summedColumnList()} FROM calls NOT INDEXED WHERE id >= ? AND id < ? AND seq <= ?`
      const ids = [firstIdAt(hour * hourMs), firstIdAt((hour + 1) * hourMs)]
      for (const call of this.#statements.all(sql, ...ids, seq)) calls.add(call)
      const expected = new Map<string, string>()
      for (const [cell, parts] of cellsOf(calls.all(), this.#keys)) {
        const sums = new CallSums()
        for (const part of parts) sums.merge(part)
        expected.set(cell.join(' '), textOfSums(sums.totals, sums))
      }
      return !isSame(this.#storedSums(hour), expected)
    })
  }

  /** True if the sums of a day differ from those of its hours. A day without sums yet is not wrong. */
  isDayWrong(day: number): boolean {
    return inReadTransaction(this.#database, () => {
      if (unsummedDays(this.#statements).has(day)) return false
      const sql = `SELECT ${sumRowColumns}, key_id FROM sums WHERE grouping_id = ? AND minutes = 1440 AND cell_number = ?`
      return groupings.some((grouping) => {
        const expected = new Map<string, string>()
        for (const [key, rows] of this.#cells.hoursOfDay(grouping, day, 0, Number.MAX_SAFE_INTEGER)) {
          const sums = new CallSums()
          const isReadable = rows.every((row) => textOf(row) !== unreadable)
          if (isReadable) for (const row of rows) addSumRow(sums, row)
          expected.set(String(key), isReadable ? textOfSums(sums.totals, sums) : unreadable)
        }
        const stored = this.#statements.all<readonly unknown[]>(sql, grouping.id, day)
        return !isSame(new Map(stored.map((row) => [String(row.at(-1)), textOf(row)])), expected)
      })
    })
  }

  /** The cells of an hour, and of its parts. */
  #storedSums(hour: number): ReadonlyMap<string, string> {
    const sql = `SELECT ${sumRowColumns}, grouping_id, minutes, cell_number, key_id FROM sums
      WHERE grouping_id = ? AND minutes = ? AND cell_number >= ? AND cell_number < ?`
    const stored = new Map<string, string>()
    for (const { id, widths } of groupings) {
      for (const minutes of widths) {
        if (minutes === 1440) continue
        const cells = [(hour * 60) / minutes, ((hour + 1) * 60) / minutes]
        for (const row of this.#statements.all<readonly unknown[]>(sql, id, minutes, ...cells))
          stored.set(row.slice(-4).join(' '), textOf(row))
      }
    }
    return stored
  }

  #cellNumbers(minutes: 60 | 1440, from: number): readonly number[] {
    const sql = `SELECT DISTINCT cell_number FROM sums WHERE grouping_id = 0 AND minutes = ${minutes} AND cell_number >= ?`
    return this.#statements.all<readonly [number]>(sql, from).map(([cellNumber]) => cellNumber)
  }
}

function isSame(first: ReadonlyMap<string, string>, second: ReadonlyMap<string, string>): boolean {
  return first.size === second.size && [...first].every(([name, text]) => second.get(name) === text)
}
