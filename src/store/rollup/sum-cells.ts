import { getOrAdd } from '../../lib/get-or-add.ts'
import type { RowStatements } from '../sqlite/row-statements.ts'
import type { CallCells } from './summed-calls.ts'
import { type CellMinutes, groupings } from './groupings.ts'
import { CallSums, sumColumns, sumRowColumns } from './call-sums.ts'
import type { KeyOf } from './sum-keys.ts'
import { dayOf, hoursPerDay } from './time-plan.ts'
import { noteDay } from './unsummed.ts'

/** A cell of the sums, in the order of the table's key. */
type Cell = readonly [grouping: number, minutes: CellMinutes, cellNumber: number, key: number]

const isCell = 'grouping_id = ? AND minutes = ? AND cell_number = ? AND key_id = ?'
const findSql = `SELECT ${sumRowColumns} FROM sums WHERE ${isCell}`
const putSql = `REPLACE INTO sums (grouping_id, minutes, cell_number, key_id, ${sumRowColumns})
  VALUES (?, ?, ?, ?, ${sumColumns.map(() => '?').join(', ')}, ?)`
const removeDaySql =
  'DELETE FROM sums WHERE grouping_id = ? AND minutes = 1440 AND cell_number = ? AND key_id >= ? AND key_id < ?'
const ofHoursSql = `SELECT key_id, ${sumRowColumns} FROM sums WHERE grouping_id = ? AND minutes = 60
  AND cell_number IN (SELECT value FROM json_each(?)) AND key_id >= ? AND key_id < ?`

const quarterMinutes = 15

/** Reused for each cell. */
const total = new CallSums()

/**
 * Adds calls to the cells of their hours and parts of hours, within the caller's transaction, and notes that
 * their days must be made again.
 */
export function addToCells(statements: RowStatements, keyOf: KeyOf, calls: CallCells): void {
  const days = new Set<number>()
  for (const [cell, parts] of cellsOf(calls, keyOf)) {
    const [, minutes, cellNumber] = cell
    if (minutes === 60) days.add(dayOf(cellNumber))
    total.clear()
    const row = statements.first<readonly unknown[]>(findSql, ...cell)
    if (row !== undefined) total.addRow(row, 0)
    for (const part of parts) total.merge(part)
    statements.run(putSql, ...cell, ...total.row())
  }
  for (const day of days) noteDay(statements, day)
}

/**
 * Computes the cells of a day from those of its hours, within the caller's transaction, for keys from
 * `firstKey` to `pastKey` (exclusive).
 */
export function makeDayCells(
  statements: RowStatements,
  day: number,
  firstKey: number,
  pastKey: number,
): void {
  for (const { id } of groupings) {
    statements.run(removeDaySql, id, day, firstKey, pastKey)
    for (const [key, rows] of hoursOfDay(statements, id, day, firstKey, pastKey)) {
      total.clear()
      for (const row of rows) total.addRow(row, 1)
      statements.run(putSql, id, 1440, day, key, ...total.row())
    }
  }
}

/** The rows of a grouping's hours of a day, by key: the key, then the columns of the sums. */
export function hoursOfDay(
  statements: RowStatements,
  grouping: number,
  day: number,
  firstKey: number = 0,
  pastKey: number = Number.MAX_SAFE_INTEGER,
): ReadonlyMap<number, readonly (readonly unknown[])[]> {
  const hours = Array.from({ length: hoursPerDay }, (_, hour) => day * hoursPerDay + hour)
  const bound = [grouping, JSON.stringify(hours), firstKey, pastKey]
  return Map.groupBy(statements.all<readonly unknown[]>(ofHoursSql, ...bound), ([key]) => Number(key))
}

/** The cells of an hour or less in which calls count, in the order of the table. */
export function cellsOf(calls: CallCells, keyOf: KeyOf): readonly (readonly [Cell, readonly CallSums[]])[] {
  const cells = new Map<string, readonly [Cell, CallSums[]]>()
  for (const { quarterHour, call, sums } of calls.values()) {
    for (const grouping of groupings) {
      const key = keyOf(grouping, call)
      for (const minutes of grouping.widths) {
        if (minutes === 1440) continue
        const cellNumber = Math.floor((quarterHour * quarterMinutes) / minutes)
        const cell = [grouping.id, minutes, cellNumber, key] as const
        getOrAdd(cells, cell.join(' '), (): readonly [Cell, CallSums[]] => [cell, []])[1].push(sums)
      }
    }
  }
  return [...cells.values()].sort(([a], [b]) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2] || a[3] - b[3])
}
