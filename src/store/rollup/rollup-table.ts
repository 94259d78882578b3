import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { Figures, sumColumns } from './rollup-figures.ts'
import type { LevelNumber } from './rollup-spans.ts'
import { addSpreadBytes, isMeasured, spreadBytes } from './spread-bytes.ts'

/** The columns of figures in both tables of rollups, in the order of {@link addFigures}. */
export const figureColumns: string = [...sumColumns, 'spreads'].join(', ')

/** A cell of the rollups. */
export type Place = readonly [level: LevelNumber, key: number, slot: number]

interface Statements {
  readonly find: StatementSync
  readonly put: StatementSync
  readonly remove: StatementSync
}

type Row = readonly unknown[]

/** The cells of the rollups: quarters lie by time, all others by key. */
export class RollupTable {
  readonly #quarters: Statements
  readonly #spans: Statements

  constructor(database: DatabaseSync) {
    this.#quarters = statementsOf(database, 'rollup_quarters', ['slot', 'key_id'])
    this.#spans = statementsOf(database, 'rollup_spans', ['level', 'key_id', 'slot'])
  }

  /** Adds figures to a cell, which is made if there is none, and goes when no call is left in it. */
  add(place: Place, parts: readonly Figures[]): void {
    const [{ find, put, remove }, key] = this.#at(place)
    const row = find.get(...key) as unknown as Row | undefined
    const sums = sumColumns.map((_, at) => {
      let sum = row === undefined ? 0 : Number(row[at])
      for (const part of parts) sum += part.sums[at] ?? 0
      return sum
    })
    if ((sums[0] ?? 0) <= 0) {
      remove.run(...key)
      return
    }
    const packed = row?.[sumColumns.length]
    put.run(...key, ...sums, withParts(packed instanceof Uint8Array ? packed : null, parts))
  }

  /** Makes a cell of the `first` to `past` (exclusive) slots of a key at a finer level; none if these are empty. */
  make(place: Place, finer: LevelNumber, first: number, past: number): void {
    const whole = new Figures()
    for (let slot = first; slot < past; slot++) {
      const [{ find }, key] = this.#at([finer, place[1], slot])
      const row = find.get(...key) as unknown as Row | undefined
      if (row !== undefined) addFigures(whole, row)
    }
    if (whole.sum('calls') === 0) return
    const [{ put }, key] = this.#at(place)
    put.run(...key, ...whole.sums, spreadBytes(whole))
  }

  #at(place: Place): readonly [Statements, readonly number[]] {
    const [level, key, slot] = place
    return level === 0 ? [this.#quarters, [slot, key]] : [this.#spans, place]
  }
}

function statementsOf(
  database: DatabaseSync,
  table: 'rollup_quarters' | 'rollup_spans',
  key: readonly string[],
): Statements {
  const isKey = key.map((column) => `${column} = ?`).join(' AND ')
  const values = [...key, ...sumColumns, 'spreads'].map(() => '?').join(', ')
  const find = database.prepare(`SELECT ${figureColumns} FROM ${table} WHERE ${isKey}`)
  find.setReturnArrays(true)
  return {
    find,
    put: database.prepare(`REPLACE INTO ${table} (${key.join(', ')}, ${figureColumns}) VALUES (${values})`),
    remove: database.prepare(`DELETE FROM ${table} WHERE ${isKey}`),
  }
}

/** Spreads that get nothing more stay as they are packed. */
function withParts(packed: Uint8Array | null, parts: readonly Figures[]): Uint8Array | null {
  const measured = parts.filter(isMeasured)
  const [first, ...others] = measured
  if (first === undefined) return packed
  if (packed === null && others.length === 0) return spreadBytes(first)
  const whole = new Figures()
  if (packed !== null) addSpreadBytes(whole, packed)
  for (const part of measured) whole.merge(part)
  return spreadBytes(whole)
}

/** Adds a row of {@link figureColumns}. */
export function addFigures(figures: Figures, row: Row): void {
  for (let i = 0; i < figures.sums.length; i++) figures.sums[i] = (figures.sums[i] ?? 0) + Number(row[i])
  const spreads = row[sumColumns.length]
  if (spreads instanceof Uint8Array) addSpreadBytes(figures, spreads)
}
