import { getOrAdd } from '../../lib/get-or-add.ts'
import type { DatabaseSync } from 'node:sqlite'
import { firstIdAt } from '../../call/call-id.ts'
import { RowStatements } from '../sqlite/row-statements.ts'
import { inOneInstant } from '../sqlite/transaction.ts'
import { cellsWithin } from './call-figures.ts'
import { ComparedCells, type Digest, digestOfFigures, digestOfRow } from './compared-cells.ts'
import { figureColumns } from './figure-rows.ts'
import { sumColumns } from './rollup-figures.ts'
import { type Grouping, groupings } from './rollup-groupings.ts'
import { RollupKeys } from './rollup-keys.ts'
import { type LevelNumber, levels, quarterMs, quartersOf } from './rollup-spans.ts'
import { type RollupState, rollupState } from './rollup-state.ts'

const quartersPerHour = quartersOf(1)
const quartersPerDay = quartersOf(3)
const idsPerQuarter = firstIdAt(quarterMs)
/** A row of the rollups: {@link figureColumns}, then its slot and its key. */
const slotAt = sumColumns.length + 1

/** How many days were looked at so far, and what is wrong in those since the last time. */
export interface DaysLookedAt {
  readonly done: number
  /** Quarter hours that do not have the sums of their calls. */
  readonly wrongQuarters: readonly number[]
  /** Days in which a level does not say what the finer one says, or its calls. */
  readonly wrongDays: readonly number[]
}

/** Compares the rollups with the calls that they are made of, and their levels with one another. */
export class RollupCheck {
  readonly #database: DatabaseSync
  readonly #state: () => RollupState
  readonly #keys: RollupKeys
  readonly #statements: RowStatements
  /** By the number of a key. */
  readonly #groupings = new Map<number, Grouping | undefined>()
  readonly #cells: Readonly<Record<LevelNumber, ComparedCells>> = {
    0: new ComparedCells(),
    1: new ComparedCells(),
    2: new ComparedCells(),
    3: new ComparedCells(),
    4: new ComparedCells(),
  }

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
    return inOrder([...sums, ...calls])
  }

  /** Days of which there are quarter hours or calls, or that the widest level holds, folded ones as well; the oldest first. */
  days(): readonly number[] {
    const quarters = this.#slots(
      `SELECT min(slot) / ${quartersPerDay} FROM rollup_quarters WHERE slot >= ? * ${quartersPerDay}`,
      0,
    )
    const spans = this.#statements.all<readonly number[]>(
      'SELECT DISTINCT slot FROM rollup_spans WHERE level = 3',
    )
    const idsPerDay = quartersPerDay * idsPerQuarter
    const calls = this.#slots(`SELECT min(id) / ${idsPerDay} FROM calls WHERE id >= ? * ${idsPerDay}`, 0)
    return inOrder([...quarters, ...calls, ...spans.map(([slot = 0]) => slot)])
  }

  /** Which of some quarter hours do not have the sums of their calls. */
  wrongQuarters(slots: readonly number[]): readonly number[] {
    return slots.flatMap((slot) => this.#look(slot, slot + 1).wrongQuarters)
  }

  /** Looks through days, the oldest first. */
  *look(days: readonly number[]): Generator<DaysLookedAt> {
    const atOnce = Math.max(1, Math.floor(this.#quartersOf(10_000) / quartersPerDay))
    for (let done = 0; done < days.length;) {
      const first = days[done] ?? 0
      let past = first + 1
      for (done += 1; past < first + atOnce && days[done] === past; done++) past += 1
      yield { done, ...this.#look(first * quartersPerDay, past * quartersPerDay) }
    }
  }

  /** In how many quarter hours there are about so many calls. */
  #quartersOf(calls: number): number {
    const [all = 0, first = 0, last = 0] =
      this.#statements.first('SELECT max(seq), min(id), max(id) FROM calls')?.map(Number) ?? []
    return Math.floor((calls * (1 + (last - first) / idsPerQuarter)) / Math.max(1, all))
  }

  /** Looks at the levels that have whole slots from one quarter to another, in one instant. */
  #look(first: number, past: number): Omit<DaysLookedAt, 'done'> {
    const looked = levels.filter(({ quarters }) => first % quarters === 0 && past % quarters === 0)
    for (const { level } of looked) this.#cells[level].clear()
    inOneInstant(this.#database, () => {
      const state = this.#state()
      const add = this.#adding(first, past, state)
      this.#count(Math.max(first, state.foldedUntil), past, state, looked.length > 1, add)
      for (const { level, quarters: width } of looked) {
        for (const row of this.#rows(level, first / width, past / width)) {
          const [slot, key] = [Number(row[slotAt]), Number(row[slotAt + 1])]
          const grouping = this.#groupingOf(key)
          if (grouping === undefined || !grouping.levels.includes(level)) continue
          const digest = digestOfRow(row)
          add('held', grouping, level, key, slot * width, digest)
          for (const wider of looked)
            if (
              wider.of === level &&
              wider.level !== grouping.levels[0] &&
              grouping.levels.includes(wider.level)
            )
              add('due', grouping, wider.level, key, slot * width, digest)
        }
      }
    })
    const wrongIn = (level: LevelNumber): readonly number[] =>
      [...this.#cells[level].wrong()].map((cell) => first + (cell % (past - first)))
    const wider = looked.filter(({ level }) => level !== 0).flatMap(({ level }) => wrongIn(level))
    return {
      wrongQuarters: inOrder(wrongIn(0)),
      wrongDays: inOrder(wider.map((quarter) => Math.floor(quarter / quartersPerDay))),
    }
  }

  /** Adds to the cell of a level in which a quarter lies, if that is one that must be right. */
  #adding(first: number, past: number, { coarseUntil, foldedUntil }: RollupState): AddDigest {
    return (side, { levels: [finest] }, level, key, quarter, digest) => {
      const width = quartersOf(level)
      const start = quarter - (quarter % width)
      if (level !== finest ? start + width > coarseUntil : start < foldedUntil) return
      this.#cells[level].add((key + 1) * (past - first) + start - first, side, digest)
    }
  }

  /** What the finest levels should hold, counted an hour at a time. */
  #count(from: number, past: number, { watermark }: RollupState, withHourly: boolean, add: AddDigest): void {
    for (let hour = from; hour < past; hour += quartersPerHour) {
      const span = [hour, Math.min(past, hour + quartersPerHour)] as const
      for (const { quarter, call, figures } of cellsWithin(this.#statements, span, watermark)) {
        const digest = digestOfFigures(figures)
        for (const grouping of groupings) {
          const [finest = 0] = grouping.levels
          if (finest !== 0 && !withHourly) continue
          // A key that exists was there for every call that belongs to it; without one the sums lack the call.
          const key = this.#keys.knownFor(grouping, call)
          if (key !== null) add('due', grouping, finest, key, quarter, digest)
        }
      }
    }
  }

  #rows(level: LevelNumber, first: number, past: number): readonly (readonly unknown[])[] {
    // Quarters lie by time, all others by key.
    const tables =
      level === 0
        ? 'rollup_quarters AS r'
        : `rollup_keys AS k CROSS JOIN rollup_spans AS r ON r.level = ${level} AND r.key_id = k.id`
    return this.#statements.all<readonly unknown[]>(
      `SELECT ${figureColumns}, r.slot, r.key_id FROM ${tables} WHERE r.slot >= ? AND r.slot < ?`,
      first,
      past,
    )
  }

  #groupingOf(key: number): Grouping | undefined {
    return getOrAdd(this.#groupings, key, () => {
      const groupingId = this.#statements.number('SELECT grouping_id FROM rollup_keys WHERE id = ?', key)
      return groupings.find(({ id }) => id === groupingId)
    })
  }

  /** All that `nextSql` finds from a first one on, stepping from each to the next. */
  *#slots(nextSql: string, first: number): Generator<number> {
    const next = (from: number): number | null => this.#statements.number(nextSql, from)
    for (let at = next(first); at !== null; at = next(at + 1)) yield at
  }
}

type AddDigest = (
  side: 'held' | 'due',
  grouping: Grouping,
  level: LevelNumber,
  key: number,
  quarter: number,
  digest: Digest,
) => void

/** Each once. */
function inOrder(numbers: readonly number[]): readonly number[] {
  return [...new Set(numbers)].sort((a, b) => a - b)
}
