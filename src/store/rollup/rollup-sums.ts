import { saturatedNumber } from '../../lib/saturated-number.ts'
import { getOrAdd } from '../../lib/get-or-add.ts'
import type { DatabaseSync } from 'node:sqlite'
import { RowStatements } from '../sqlite/row-statements.ts'
import { addSums, type CallCell, CallCells, type FigureRow, valueIn } from './call-figures.ts'
import { addFigures, addSpreadBytes, figureColumns, isMeasured, spreadBytes } from './figure-rows.ts'
import { Figures, sumColumns } from './rollup-figures.ts'
import { groupings, groupingsMadeAt } from './rollup-groupings.ts'
import { RollupKeys } from './rollup-keys.ts'
import { type LevelNumber, levels, quartersOf } from './rollup-spans.ts'
import { type RollupState, rollupState } from './rollup-state.ts'

const quartersPerHour = quartersOf(1)

/** A cell of the rollups: quarters lie by time, all others by key. */
type Cell = readonly [level: LevelNumber, key: number, slot: number]
type Row = readonly unknown[]

const quarters = sqlOf('rollup_quarters', ['slot', 'key_id'])
const spans = sqlOf('rollup_spans', ['level', 'key_id', 'slot'])

const wholeSql = {
  quarters: `SELECT ${figureColumns}, key_id FROM rollup_quarters WHERE slot = ? AND key_id BETWEEN ? AND ?`,
  spans: `SELECT ${figureColumns}, key_id FROM rollup_spans WHERE level = ? AND key_id = ? AND slot >= ? AND slot < ?`,
}

/** A call of which something is counted otherwise than before. */
export interface CallChange {
  readonly before: FigureRow
  /** Differs in nothing that a grouping or a spread is made of; null if the call goes, which must not have gone well. */
  readonly after: FigureRow | null
}

/** Writes the sums, within a transaction of whoever asks for it. */
export class RollupSums {
  /** Reads how far the rollups have come. */
  readonly state: () => RollupState
  readonly #statements: RowStatements
  readonly #keys: RollupKeys

  constructor(database: DatabaseSync, keyLimit?: number) {
    this.state = rollupState(database)
    this.#statements = new RowStatements(database)
    this.#keys = new RollupKeys(this.#statements, keyLimit)
  }

  /** Adds figures to the cells that are held by now: those of a wider level are made of others when their time is over. */
  add(
    cells: Iterable<CallCell>,
    { coarseUntil, coarseKey }: Pick<RollupState, 'coarseUntil' | 'coarseKey'>,
  ): void {
    const added = new Map<string, { readonly cell: Cell; readonly parts: Figures[] }>()
    for (const { quarter, call, figures } of cells) {
      for (const grouping of groupings) {
        const key = this.#keys.idFor(grouping, call)
        if (key === null) continue
        // Of the hour that is being made, the wider slots of these keys are made already.
        const madeUntil = key <= coarseKey ? coarseUntil + quartersPerHour : coarseUntil
        for (const level of grouping.levels) {
          const width = quartersOf(level)
          const slot = Math.floor(quarter / width)
          if (level !== grouping.levels[0] && (slot + 1) * width > madeUntil) continue
          const cell = [level, key, slot] as const
          getOrAdd(added, cell.join(' '), () => ({ cell, parts: [] })).parts.push(figures)
        }
      }
    }
    // In the order of the tables, so that neighbours are written one after the other.
    const inOrder = [...added.values()].sort((one, other) => inTableOrder(one.cell, other.cell))
    const alone = new Map<Figures, Uint8Array | null>()
    for (const { cell, parts } of inOrder) this.#addTo(cell, parts, alone)
  }

  /** Carries changes of calls over that are in the sums already. */
  change(changes: readonly CallChange[]): void {
    const state = this.state()
    const cells = new CallCells()
    for (const { before, after } of changes) {
      // What is not added up yet will be, as its row is by then.
      if ((valueIn(before, 'seq') ?? 0) > state.watermark) continue
      const figures = cells.figuresFor(before)
      addSums(figures, before, -1)
      if (after !== null) addSums(figures, after, 1)
    }
    this.add(cells.all(), state)
  }

  /** Makes the wider slots of keys, in rising order, that end within the hour that ends at a quarter, of finer ones; none of empty ones. */
  complete(keys: readonly (readonly [id: number, groupingId: number])[], hourEnd: number): void {
    for (const { level, quarters: width, of } of levels) {
      if (of === null) continue
      const parts = width / quartersOf(of)
      const made = new Set(groupingsMadeAt(level).map(({ id }) => id))
      const wider = keys.filter(([, groupingId]) => made.has(groupingId)).map(([id]) => id)
      for (let end = hourEnd - quartersPerHour + 1; end <= hourEnd; end++) {
        if (end % width !== 0 || wider.length === 0) continue
        const slot = end / width - 1
        for (const [key, rows] of this.#rowsOf(wider, of, slot * parts, (slot + 1) * parts))
          this.#put([level, key, slot], ...wholeOf(rows))
      }
    }
  }

  /** The rows of some slots of a level, by key. */
  #rowsOf(
    keys: readonly number[],
    level: LevelNumber,
    first: number,
    past: number,
  ): ReadonlyMap<number, readonly Row[]> {
    const found = new Map<number, Row[]>()
    const addRows = (sql: string, ...values: readonly number[]): void => {
      for (const row of this.#statements.all<Row>(sql, ...values))
        getOrAdd(found, Number(row.at(-1)), () => []).push(row)
    }
    if (level === 0) {
      // A slot holds few of all keys, and they lie together.
      const asked = new Set(keys)
      for (let slot = first; slot < past; slot++)
        addRows(wholeSql.quarters, slot, keys[0] ?? 0, keys.at(-1) ?? 0)
      for (const key of found.keys()) if (!asked.has(key)) found.delete(key)
    } else for (const key of keys) addRows(wholeSql.spans, level, key, first, past)
    return found
  }

  /** Adds figures to a cell, which is made if there is none, and goes when no call is left in it. */
  #addTo(cell: Cell, parts: readonly Figures[], alone: Map<Figures, Uint8Array | null>): void {
    const row = this.#find(cell)
    const sums = sumColumns.map((_, at) => {
      let sum = row === undefined ? 0 : Number(row[at])
      for (const part of parts) sum += part.sums[at] ?? 0
      return sum
    })
    if ((sums[0] ?? 0) <= 0) {
      const [{ remove }, key] = placeOf(cell)
      this.#statements.run(remove, ...key)
      return
    }
    const packed = row?.[sumColumns.length]
    this.#put(cell, sums, withParts(packed instanceof Uint8Array ? packed : null, parts, alone))
  }

  #find(cell: Cell): Row | undefined {
    const [{ find }, key] = placeOf(cell)
    return this.#statements.first<Row>(find, ...key)
  }

  #put(cell: Cell, sums: readonly number[], spreads: Uint8Array | null): void {
    const [{ put }, key] = placeOf(cell)
    this.#statements.run(put, ...key, ...sums.map(saturatedNumber), spreads)
  }
}

function sqlOf(
  table: 'rollup_quarters' | 'rollup_spans',
  key: readonly string[],
): Record<'find' | 'put' | 'remove', string> {
  const isKey = key.map((column) => `${column} = ?`).join(' AND ')
  const values = [...key, ...sumColumns, 'spreads'].map(() => '?').join(', ')
  return {
    find: `SELECT ${figureColumns} FROM ${table} WHERE ${isKey}`,
    put: `REPLACE INTO ${table} (${key.join(', ')}, ${figureColumns}) VALUES (${values})`,
    remove: `DELETE FROM ${table} WHERE ${isKey}`,
  }
}

/** The statements for a cell, and its key in their order. */
function placeOf(cell: Cell): readonly [typeof quarters, readonly number[]] {
  const [level, key, slot] = cell
  return level === 0 ? [quarters, [slot, key]] : [spans, cell]
}

/** The sums and spreads of several rows; of a single one they stay as they are packed. */
function wholeOf(rows: readonly Row[]): readonly [sums: readonly number[], spreads: Uint8Array | null] {
  const [row] = rows
  if (rows.length === 1 && row !== undefined) {
    const spreads = row[sumColumns.length]
    return [row.slice(0, sumColumns.length).map(Number), spreads instanceof Uint8Array ? spreads : null]
  }
  whole.clear()
  for (const each of rows) addFigures(whole, each)
  return [[...whole.sums], spreadBytes(whole)]
}

/** Used again for each cell. */
const whole = new Figures()

function inTableOrder(a: Cell, b: Cell): number {
  return a[0] - b[0] || (a[0] === 0 ? a[2] - b[2] || a[1] - b[1] : a[1] - b[1] || a[2] - b[2])
}

/** Spreads that get nothing more stay as they are packed; those of a single part are packed once for all its cells. */
function withParts(
  packed: Uint8Array | null,
  parts: readonly Figures[],
  alone: Map<Figures, Uint8Array | null>,
): Uint8Array | null {
  const measured = parts.filter(isMeasured)
  const [first, ...others] = measured
  if (first === undefined) return packed
  if (packed === null && others.length === 0) return getOrAdd(alone, first, () => spreadBytes(first))
  whole.clear()
  if (packed !== null) addSpreadBytes(whole, packed)
  for (const part of measured) whole.merge(part)
  return spreadBytes(whole)
}
