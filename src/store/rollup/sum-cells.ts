import { getOrAdd } from '../../lib/get-or-add.ts'
import { saturatedNumber } from '../../lib/saturated-number.ts'
import type { RowStatements } from '../sqlite/row-statements.ts'
import type { CallCell } from './summed-calls.ts'
import { addSumRow, addDistributionBytes, sumRowColumns, distributionBytes } from './sum-rows.ts'
import { type CellMinutes, type Grouping, groupings } from './groupings.ts'
import { CallSums, sumColumns } from './call-sums.ts'
import type { SumKeys } from './sum-keys.ts'
import { hoursPerDay } from './unsummed.ts'

/** A cell of the sums, in the order of the table's key. */
type Cell = readonly [grouping: number, minutes: CellMinutes, cellNumber: number, key: number]

const isCell = 'grouping_id = ? AND minutes = ? AND cell_number = ? AND key_id = ?'
const findSql = `SELECT ${sumRowColumns} FROM sums WHERE ${isCell}`
const putSql = `REPLACE INTO sums (grouping_id, minutes, cell_number, key_id, ${sumRowColumns})
  VALUES (?, ?, ?, ?, ${sumColumns.map(() => '?').join(', ')}, ?)`
const ofHourSql = `SELECT ${sumRowColumns}, key_id FROM sums
  WHERE grouping_id = ? AND minutes = 60 AND cell_number = ? AND key_id >= ? AND key_id < ?`

const quarterMinutes = 15

/** Reused for each cell. */
const total = new CallSums()

/** Writes cells, within the caller's transaction. */
export class SumCells {
  readonly #statements: RowStatements
  readonly #keys: SumKeys

  constructor(statements: RowStatements, keys: SumKeys) {
    this.#statements = statements
    this.#keys = keys
  }

  /** Adds calls to the cells of their hours and parts of hours. Returns these hours. */
  add(calls: Iterable<CallCell>): ReadonlySet<number> {
    const hours = new Set<number>()
    for (const [cell, parts] of cellsOf(calls, this.#keys)) {
      if (cell[1] === 60) hours.add(cell[2])
      total.clear()
      const row = this.#statements.first<readonly unknown[]>(findSql, ...cell)
      if (row !== undefined) addSumRow(total, row)
      for (const part of parts) total.merge(part)
      this.#put(cell, total.totals, distributionBytes(total))
    }
    return hours
  }

  removeHour(hour: number): void {
    const remove =
      'DELETE FROM sums WHERE grouping_id = ? AND minutes = ? AND cell_number >= ? AND cell_number < ?'
    for (const { id, widths } of groupings) {
      for (const minutes of widths) {
        if (minutes === 1440) continue
        const perHour = 60 / minutes
        this.#statements.run(remove, id, minutes, hour * perHour, (hour + 1) * perHour)
      }
    }
  }

  /** Computes the cells of a day from those of its hours, for keys from `firstKey` to `pastKey` (exclusive). */
  makeDay(grouping: Grouping, day: number, firstKey: number, pastKey: number): void {
    this.#statements.run(
      'DELETE FROM sums WHERE grouping_id = ? AND minutes = 1440 AND cell_number = ? AND key_id >= ? AND key_id < ?',
      grouping.id,
      day,
      firstKey,
      pastKey,
    )
    for (const [key, rows] of this.hoursOfDay(grouping, day, firstKey, pastKey)) {
      const [row] = rows
      const cell = [grouping.id, 1440, day, key] as const
      if (row !== undefined && rows.length === 1) {
        const distributions = row[sumColumns.length]
        this.#put(
          cell,
          row.slice(0, sumColumns.length).map(Number),
          isBytes(distributions) ? distributions : null,
        )
        continue
      }
      total.clear()
      for (const hourRow of rows) addSumRow(total, hourRow)
      this.#put(cell, total.totals, distributionBytes(total))
    }
  }

  /** The rows of the hours of a day, by key. */
  hoursOfDay(
    { id }: Grouping,
    day: number,
    firstKey: number,
    pastKey: number,
  ): ReadonlyMap<number, readonly (readonly unknown[])[]> {
    const byKey = new Map<number, (readonly unknown[])[]>()
    for (let hour = day * hoursPerDay; hour < (day + 1) * hoursPerDay; hour++) {
      for (const row of this.#statements.all<readonly unknown[]>(ofHourSql, id, hour, firstKey, pastKey))
        getOrAdd(byKey, Number(row.at(-1)), () => []).push(row)
    }
    return byKey
  }

  #put(cell: Cell, sums: Iterable<number>, distributions: Uint8Array | null): void {
    this.#statements.run(putSql, ...cell, ...Array.from(sums, saturatedNumber), distributions)
  }
}

/** The cells of an hour or less in which calls count, in the order of the table. */
export function cellsOf(
  calls: Iterable<CallCell>,
  keys: Pick<SumKeys, 'idFor'>,
): readonly (readonly [Cell, readonly CallSums[]])[] {
  const cells = new Map<string, readonly [Cell, CallSums[]]>()
  for (const { quarterHour, call, sums } of calls) {
    for (const grouping of groupings) {
      const key = keys.idFor(grouping, call)
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

function isBytes(value: unknown): value is Uint8Array {
  return value instanceof Uint8Array
}

export const unreadable = 'unreadable'

/** A row of {@link sumRowColumns} as text, for comparing: equal rows have equal texts. */
export function textOf(row: readonly unknown[]): string {
  const sums = new CallSums()
  const distributions = row[sumColumns.length]
  const totals = row.slice(0, sumColumns.length).map((sum) => saturatedNumber(Number(sum)))
  if (isBytes(distributions)) {
    try {
      addDistributionBytes(sums, distributions)
    } catch (error) {
      if (error instanceof RangeError) return unreadable
      throw error
    }
  }
  return textOfSums(totals, sums)
}

/** Sums as text, without the sum of inverses, which may differ by rounding. */
export function textOfSums(totals: Iterable<number>, sums: CallSums): string {
  for (const distribution of Object.values(sums.distributions)) distribution.inverseSum = 0
  const bytes = distributionBytes(sums)
  return `${Array.from(totals, saturatedNumber).join(' ')} ${bytes === null ? '' : Buffer.from(bytes).toString('base64')}`
}
