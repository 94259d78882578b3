import { getOrAdd } from '../../lib/get-or-add.ts'
import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import { firstIdAt } from '../../call/call-id.ts'
import { RowStatements } from '../sqlite/row-statements.ts'
import { inOneInstant } from '../sqlite/transaction.ts'
import { addCall, CallCells, type FigureRow, figureSourceList } from './call-figures.ts'
import { addFigures, figureColumns, spreadBytes } from './figure-rows.ts'
import { Figures, measureNames } from './rollup-figures.ts'
import { type Grouping, groupings } from './rollup-groupings.ts'
import { RollupKeys } from './rollup-keys.ts'
import { type LevelNumber, levels, quarterMs, quartersOf } from './rollup-spans.ts'
import { type RollupState, rollupState } from './rollup-state.ts'

const quartersPerDay = quartersOf(3)
const idsPerQuarter = firstIdAt(quarterMs)
const quarterly = groupings.filter(({ levels: [finest] }) => finest === 0)
const hourly = groupings.filter(({ levels: [finest] }) => finest === 1)

/** Figures by the key that they belong to. */
type Cells = Map<number, Figures>

/** Compares the rollups with the calls that they are made of, and their levels with one another. */
export class RollupCheck {
  readonly #database: DatabaseSync
  readonly #state: () => RollupState
  readonly #keys: RollupKeys
  readonly #statements: RowStatements

  constructor(database: DatabaseSync) {
    this.#database = database
    this.#state = rollupState(database)
    this.#statements = new RowStatements(database)
    this.#keys = new RollupKeys(this.#statements)
  }

  /** Quarter hours of which there are sums or calls, and whose calls are all there to be counted, the oldest first. */
  countable(): readonly number[] {
    const { foldedUntil, isVoid } = this.#state()
    if (isVoid) return []
    const sums = this.#slots('SELECT min(slot) FROM rollup_quarters WHERE slot >= ?', foldedUntil)
    const calls = this.#slots(
      `SELECT min(id) / ${idsPerQuarter} FROM calls WHERE id >= ? * ${idsPerQuarter}`,
      foldedUntil,
    )
    return [...new Set([...sums, ...calls])].sort((a, b) => a - b)
  }

  /** Days of which there are quarter hours, or that the widest level holds, folded ones as well; the oldest first. */
  days(): readonly number[] {
    const quarters = this.#slots(
      `SELECT min(slot) / ${quartersPerDay} FROM rollup_quarters WHERE slot >= ? * ${quartersPerDay}`,
      0,
    )
    const spans = this.#database.prepare('SELECT DISTINCT slot FROM rollup_spans WHERE level = 3').all()
    const { coarseUntil } = this.#state()
    return [...new Set([...quarters, ...spans.map(({ slot }) => Number(slot))])]
      .filter((day) => day * quartersPerDay < coarseUntil)
      .sort((a, b) => a - b)
  }

  /** Says if the sums of a quarter hour are those of its calls. */
  isQuarterRight(slot: number): boolean {
    return inOneInstant(this.#database, () => {
      const state = this.#state()
      const counted = this.#counted(quarterly, slot, slot + 1, state)
      return state.isVoid || areSame(counted, this.#stored(quarterly, 0, slot, slot + 1))
    })
  }

  /** Says if every level says of a day, as far as it is made, what the finer one says: or its calls, without a finer one. */
  isDayRight(day: number): boolean {
    return levels.every(({ level, quarters, of }) => {
      if (of === null) return true
      const first = day * quartersPerDay
      const starts = Array.from({ length: quartersPerDay / quarters }, (_, index) => first + index * quarters)
      // Short transactions, so that the log can be emptied in between.
      return starts.every((start) =>
        inOneInstant(this.#database, () => this.#isSlotRight(level, of, start, start + quarters)),
      )
    })
  }

  #isSlotRight(level: LevelNumber, of: LevelNumber, first: number, past: number): boolean {
    const state = this.#state()
    const { coarseUntil, heldFrom, foldedUntil } = state
    const made = groupings.filter(
      ({ levels: [finest, ...wider] }) => finest !== level && wider.includes(level),
    )
    const isMade = past <= coarseUntil && (level !== 4 || first >= heldFrom)
    if (isMade && !areSame(this.#stored(made, of, first, past), this.#stored(made, level, first, past)))
      return false
    if (level !== 1 || state.isVoid || first < Math.max(heldFrom, foldedUntil)) return true
    return areSame(this.#counted(hourly, first, past, state), this.#stored(hourly, 1, first, past))
  }

  /** The sums that the calls themselves make. */
  #counted(of: readonly Grouping[], first: number, past: number, { watermark }: RollupState): Cells {
    const calls = new CallCells()
    const rows = this.#rows(
      `SELECT ${figureSourceList()} FROM calls WHERE id >= ? AND id < ? AND +seq <= ?`,
      first * idsPerQuarter,
      past * idsPerQuarter,
      watermark,
    )
    for (const call of rows as Iterable<FigureRow>) addCall(calls.figuresFor(call), call)
    const counted: Cells = new Map()
    for (const { call, figures } of calls.all()) {
      for (const grouping of of) {
        // A key that exists was there for every call that belongs to it; without one the sums lack the call.
        const key = this.#keys.knownFor(grouping, call)
        if (key !== null) cellAt(counted, key).merge(figures)
      }
    }
    return counted
  }

  #stored(of: readonly Grouping[], level: LevelNumber, first: number, past: number): Cells {
    const ids = JSON.stringify(of.map(({ id }) => id))
    const width = quartersOf(level)
    const table = level === 0 ? 'rollup_quarters ON' : `rollup_spans ON level = ${level} AND`
    const rows = this.#rows(
      `SELECT ${figureColumns}, key_id FROM rollup_keys AS k
        JOIN ${table} key_id = k.id AND slot >= ? AND slot < ?
        WHERE k.grouping_id IN (SELECT value FROM json_each(?))`,
      first / width,
      past / width,
      ids,
    )
    const cells: Cells = new Map()
    for (const row of rows) addFigures(cellAt(cells, Number(row.at(-1))), row)
    return cells
  }

  /** All that `nextSql` finds from a first one on, stepping from each to the next. */
  *#slots(nextSql: string, first: number): Generator<number> {
    const next = (from: number): number | null => this.#statements.number(nextSql, from)
    for (let at = next(first); at !== null; at = next(at + 1)) yield at
  }

  #rows(sql: string, ...values: readonly SQLInputValue[]): Iterable<readonly unknown[]> {
    return this.#statements.get(sql).iterate(...values) as Iterable<unknown> as Iterable<readonly unknown[]>
  }
}

function cellAt(cells: Cells, key: number): Figures {
  return getOrAdd(cells, key, () => new Figures())
}

/** Both hold the same sums under the same keys; the sums of inverses may differ by how they were rounded. */
function areSame(one: Cells, other: Cells): boolean {
  return (
    one.size === other.size &&
    [...one].every(([key, figures]) => {
      const found = other.get(key)
      return (
        found?.sums.every((sum, index) => sum === figures.sums[index]) === true &&
        spreadsOf(figures).equals(spreadsOf(found))
      )
    })
  )
}

function spreadsOf(figures: Figures): Buffer {
  for (const measure of measureNames) figures.spreads[measure].inverseSum = 0
  return Buffer.from(spreadBytes(figures) ?? [])
}
