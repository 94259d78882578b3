import { getOrAdd } from '../../lib/get-or-add.ts'
import type { DatabaseSync } from 'node:sqlite'
import { firstIdAt } from '../../call/call-id.ts'
import { RowStatements } from '../sqlite/row-statements.ts'
import { inOneInstant } from '../sqlite/transaction.ts'
import { addCall, CallCells, figureSourceList } from './call-figures.ts'
import { addFigures, figureColumns } from './figure-rows.ts'
import { Figures, sumColumns } from './rollup-figures.ts'
import { type Grouping, groupings, groupingsMadeAt } from './rollup-groupings.ts'
import { RollupKeys } from './rollup-keys.ts'
import { type LevelNumber, levels, quarterMs, quartersOf } from './rollup-spans.ts'
import { type RollupState, rollupState } from './rollup-state.ts'

const quartersPerDay = quartersOf(3)
const idsPerQuarter = firstIdAt(quarterMs)
const quarterly = groupings.filter(({ levels: [finest] }) => finest === 0)
const hourly = groupings.filter(({ levels: [finest] }) => finest === 1)

/** A row of the rollups: {@link figureColumns}, then its slot and its key. */
type StoredRow = readonly unknown[]
const slotAt = sumColumns.length + 1
/** What a cell is made of, by {@link cellOf}. */
type Cells = Map<number, Parts>
type Parts = (Figures | StoredRow)[]

/** How many slots were looked at so far, and which of those since the last time are wrong. */
export interface SlotsLookedAt {
  readonly done: number
  readonly wrong: readonly number[]
}

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
    const { foldedUntil } = this.#state()
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

  /** Looks through quarter hours, the oldest first: which do not have the sums of their calls. */
  wrongQuarters(slots: readonly number[]): Generator<SlotsLookedAt> {
    const areRight = (first: number, past: number): boolean =>
      inOneInstant(this.#database, () => this.#isCounted(quarterly, 0, first, past, this.#state()))
    return lookThrough(slots, this.#quartersOf(1000), areRight)
  }

  /** Looks through days, the oldest first: in which a level does not say what the finer one says, or its calls. */
  wrongDays(days: readonly number[]): Generator<SlotsLookedAt> {
    const atOnce = Math.floor(this.#quartersOf(10_000) / quartersPerDay)
    return lookThrough(days, atOnce, (first, past) =>
      this.#areLevelsRight(first * quartersPerDay, past * quartersPerDay),
    )
  }

  /** In how many quarter hours there are about so many calls. */
  #quartersOf(calls: number): number {
    const [all = 0, first = 0, last = 0] =
      this.#statements.first('SELECT max(seq), min(id), max(id) FROM calls')?.map(Number) ?? []
    return Math.floor((calls * (1 + (last - first) / idsPerQuarter)) / Math.max(1, all))
  }

  #areLevelsRight(first: number, past: number): boolean {
    // Short transactions, so that the log can be emptied in between.
    return levels.every(({ level, quarters, of }) =>
      inOneInstant(this.#database, () => {
        const state = this.#state()
        const { coarseUntil, heldFrom, foldedUntil } = state
        const from = level === 4 ? Math.max(first, heldFrom) : first
        const madeUntil = Math.min(past, Math.floor(coarseUntil / quarters) * quarters)
        const made = groupingsMadeAt(level)
        const stored = (source: LevelNumber): Cells => this.#stored(made, source, from, madeUntil, level)
        if (of !== null && from < madeUntil && !areSame(stored(of), stored(level))) return false
        const countedFrom = Math.max(first, heldFrom, foldedUntil)
        return level !== 1 || countedFrom >= past || this.#isCounted(hourly, 1, countedFrom, past, state)
      }),
    )
  }

  /** Says if a level's sums, of groupings of which it is the finest, are those of the calls. */
  #isCounted(
    of: readonly Grouping[],
    level: LevelNumber,
    first: number,
    past: number,
    { watermark }: RollupState,
  ): boolean {
    const calls = new CallCells()
    const rows = this.#statements.all(
      `SELECT ${figureSourceList()} FROM calls WHERE id >= ? AND id < ? AND +seq <= ?`,
      first * idsPerQuarter,
      past * idsPerQuarter,
      watermark,
    )
    for (const call of rows) addCall(calls.figuresFor(call), call)
    const counted: Cells = new Map()
    for (const { quarter, call, figures } of calls.all()) {
      for (const grouping of of) {
        // A key that exists was there for every call that belongs to it; without one the sums lack the call.
        const key = this.#keys.knownFor(grouping, call)
        if (key !== null) getOrAdd(counted, cellOf(key, quarter, level), () => []).push(figures)
      }
    }
    return areSame(counted, this.#stored(of, level, first, past, level))
  }

  /** The sums of one level, put together as another one has them. */
  #stored(of: readonly Grouping[], level: LevelNumber, first: number, past: number, as: LevelNumber): Cells {
    const width = quartersOf(level)
    // Quarters lie by time, all others by key.
    const tables =
      level === 0
        ? 'rollup_quarters AS r CROSS JOIN rollup_keys AS k ON k.id = r.key_id'
        : `rollup_keys AS k CROSS JOIN rollup_spans AS r ON r.level = ${level} AND r.key_id = k.id`
    const rows = this.#statements.all<StoredRow>(
      `SELECT ${figureColumns}, r.slot, k.id FROM ${tables}
        WHERE r.slot >= ? AND r.slot < ? AND k.grouping_id IN (SELECT value FROM json_each(?))`,
      first / width,
      past / width,
      JSON.stringify(of.map(({ id }) => id)),
    )
    const cells: Cells = new Map()
    for (const row of rows) {
      const [slot, key] = [Number(row[slotAt]), Number(row[slotAt + 1])]
      getOrAdd(cells, cellOf(key, slot * width, as), () => []).push(row)
    }
    return cells
  }

  /** All that `nextSql` finds from a first one on, stepping from each to the next. */
  *#slots(nextSql: string, first: number): Generator<number> {
    const next = (from: number): number | null => this.#statements.number(nextSql, from)
    for (let at = next(first); at !== null; at = next(at + 1)) yield at
  }
}

/** Looks at slots, in rising order, so many at once, and yields after each look. */
function* lookThrough(
  slots: readonly number[],
  atOnce: number,
  areRight: (first: number, past: number) => boolean,
): Generator<SlotsLookedAt> {
  for (let done = 0; done < slots.length;) {
    const some = slots.slice(done, done + Math.max(1, atOnce))
    done += some.length
    yield { done, wrong: wrongOf(some, areRight) }
  }
}

/** Those that lie together are looked at together, and one by one if any of them is wrong. */
function wrongOf(
  slots: readonly number[],
  areRight: (first: number, past: number) => boolean,
): readonly number[] {
  const [from = 0, to = 0] = [slots[0], slots.at(-1)]
  if (to - from < slots.length && areRight(from, to + 1)) return []
  return slots.length === 1 ? slots : slots.filter((slot) => !areRight(slot, slot + 1))
}

/** A key and a slot as one number. */
function cellOf(key: number, quarter: number, level: LevelNumber): number {
  return key * slotLimit + Math.floor(quarter / quartersOf(level))
}

/** Quarters since 1970 stay below until the year 2448. */
const slotLimit = 2 ** 24

/** Both hold the same sums under the same keys. */
function areSame(one: Cells, other: Cells): boolean {
  if (one.size !== other.size) return false
  for (const [cell, parts] of one) {
    const others = other.get(cell)
    if (others === undefined) return false
    if (!isSameRow(parts, others) && !wholeOf(parts, first).equals(wholeOf(others, second))) return false
  }
  return true
}

/** Says if both are a single row that needs not be unpacked to be the same. */
function isSameRow([one, ...rest]: Parts, [other, ...others]: Parts): boolean {
  if (rest.length + others.length > 0 || !Array.isArray(one) || !Array.isArray(other)) return false
  for (let at = 0; at < sumColumns.length; at++) if (one[at] !== other[at]) return false
  const [spreads, otherSpreads] = [one[sumColumns.length], other[sumColumns.length]]
  if (spreads === null || otherSpreads === null) return spreads === otherSpreads
  return Buffer.compare(spreads, otherSpreads) === 0
}

/** Used again for each cell. */
const [first, second] = [new Figures(), new Figures()]

function wholeOf(parts: Parts, whole: Figures): Figures {
  whole.clear()
  for (const part of parts) {
    if (part instanceof Figures) whole.merge(part)
    else addFigures(whole, part)
  }
  return whole
}
