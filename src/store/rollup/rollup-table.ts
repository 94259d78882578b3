import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { Figures, sumColumns } from './rollup-figures.ts'
import { addSpreadBytes, spreadBytes } from './spread-bytes.ts'

/** The columns of figures in both tables of rollups, in the order of {@link figuresOf}. */
export const figureColumns: string = [...sumColumns, 'spreads'].join(', ')

/** The cells of one table of rollups, found by its primary key. */
export class RollupTable {
  readonly #find: StatementSync
  readonly #put: StatementSync

  constructor(database: DatabaseSync, table: 'rollup_quarters' | 'rollup_spans', key: readonly string[]) {
    const isKey = key.map((column) => `${column} = ?`).join(' AND ')
    this.#find = database.prepare(`SELECT ${figureColumns} FROM ${table} WHERE ${isKey}`)
    this.#find.setReturnArrays(true)
    const places = [...key, ...sumColumns, 'spreads'].map(() => '?').join(', ')
    this.#put = database.prepare(
      `REPLACE INTO ${table} (${key.join(', ')}, ${figureColumns}) VALUES (${places})`,
    )
  }

  /** Adds figures to a cell, which is made where there is none. */
  add(key: readonly number[], parts: readonly Figures[]): void {
    const row = this.#find.get(...key) as unknown as readonly unknown[] | undefined
    const [first, ...others] = parts
    if (first !== undefined && row === undefined && others.length === 0) {
      this.put(key, first)
      return
    }
    const whole = new Figures()
    if (row !== undefined) addFigures(whole, row)
    for (const part of parts) whole.merge(part)
    this.put(key, whole)
  }

  /** Adds a cell, where there is one, to figures. */
  addTo(figures: Figures, key: readonly number[]): void {
    const row = this.#find.get(...key) as unknown as readonly unknown[] | undefined
    if (row !== undefined) addFigures(figures, row)
  }

  /** Makes figures the whole of a cell. */
  put(key: readonly number[], figures: Figures): void {
    this.#put.run(...key, ...figures.sums, spreadBytes(figures))
  }
}

/** Adds a row of {@link figureColumns}. */
export function addFigures(figures: Figures, row: readonly unknown[]): void {
  for (let i = 0; i < figures.sums.length; i++) figures.sums[i] = (figures.sums[i] ?? 0) + Number(row[i])
  const spreads = row[sumColumns.length]
  if (spreads instanceof Uint8Array) addSpreadBytes(figures, spreads)
}
