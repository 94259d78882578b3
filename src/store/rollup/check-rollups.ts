import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { firstIdAt } from '../../call/call-id.ts'
import { addCall, entryOf, type FigureRow, figureSourceList, valueIn } from './call-figures.ts'
import { Figures, measureNames } from './rollup-figures.ts'
import {
  type Grouping,
  groupings,
  halvesGroupingId,
  noEntryId,
  anyId,
  otherEntryId,
} from './rollup-groupings.ts'
import { coarseLevels, halfLevel, quarterMs, quartersOf } from './rollup-spans.ts'
import { addFigures, figureColumns } from './rollup-table.ts'

const quarterly = groupings.filter(({ second }) => second === undefined)
const hourly = groupings.filter(({ second }) => second !== undefined)
const halved = groupings.filter(({ id }) => id === halvesGroupingId)
const hourLevel = 1
const quartersPerDay = 96

/** Figures by the key that they belong to. */
export type Cells = ReadonlyMap<number, Figures>

/** Compares the rollups with the calls that they are made of, and their levels with one another. */
export class RollupCheck {
  readonly #database: DatabaseSync
  readonly #calls: StatementSync
  readonly #quarters: StatementSync
  readonly #spans: StatementSync
  readonly #key: StatementSync

  constructor(database: DatabaseSync) {
    const rows = (sql: string): StatementSync => {
      const statement = database.prepare(sql)
      statement.setReturnArrays(true)
      return statement
    }
    this.#database = database
    this.#calls = rows(
      `SELECT ${figureSourceList()} FROM calls WHERE id >= ? AND id < ?
        AND +seq <= (SELECT watermark_seq FROM rollup_state)`,
    )
    const isOf = 'k.grouping_id IN (SELECT value FROM json_each(?))'
    this.#quarters = rows(
      `SELECT ${figureColumns}, key_id FROM rollup_quarters JOIN rollup_keys AS k ON k.id = key_id
        WHERE slot >= ? AND slot < ? AND ${isOf}`,
    )
    this.#spans = rows(
      `SELECT ${figureColumns}, rollup_spans.key_id FROM rollup_keys AS k
        JOIN rollup_spans ON level = ? AND rollup_spans.key_id = k.id AND slot >= ? AND slot < ? WHERE ${isOf}`,
    )
    this.#key = database.prepare(
      'SELECT id FROM rollup_keys WHERE grouping_id = ? AND call_type_id = ? AND entry_id = ? AND outcome_id = ?',
    )
  }

  /** Quarter hours whose calls are all there to be counted again, the oldest first. */
  countable(): readonly number[] {
    const sql = `SELECT DISTINCT slot FROM rollup_quarters
      WHERE slot >= (SELECT folded_until FROM rollup_state) ORDER BY slot`
    return slotsOf(this.#database.prepare(sql))
  }

  /** Days that the widest level holds in full, the oldest first, folded ones as well. */
  wholeDays(): readonly number[] {
    const sql = `SELECT DISTINCT slot FROM rollup_spans
      WHERE level = 3 AND (slot + 1) * 96 <= (SELECT coarse_until FROM rollup_state) ORDER BY slot`
    return slotsOf(this.#database.prepare(sql))
  }

  /** Whether the sums of a quarter hour are those of its calls. */
  isQuarterRight(slot: number): boolean {
    return this.#inOneSnapshot(() =>
      areSame(this.#counted(quarterly, slot, slot + 1), this.#ofQuarters(quarterly, slot, slot + 1)),
    )
  }

  /** Whether every level says of a day what its quarter hours say, or its calls where there are no quarter hours. */
  isDayRight(day: number): boolean {
    const first = day * quartersPerDay
    const { heldFrom, foldedUntil } = this.#marks()
    const slotsAre = (level: number, isRight: (from: number, past: number) => boolean): boolean => {
      const quarters = quartersOf(level)
      const starts = Array.from({ length: quartersPerDay / quarters }, (_, index) => first + index * quarters)
      return starts.every((start) => this.#inOneSnapshot(() => isRight(start, start + quarters)))
    }
    return (
      coarseLevels.every(({ level }) =>
        slotsAre(level, (from, past) =>
          areSame(this.#ofQuarters(quarterly, from, past), this.#ofSpans(quarterly, level, from, past)),
        ),
      ) &&
      coarseLevels.every(({ level }) =>
        slotsAre(level, (from, past) =>
          areSame(this.#ofSpans(hourly, hourLevel, from, past), this.#ofSpans(hourly, level, from, past)),
        ),
      ) &&
      slotsAre(hourLevel, (from, past) =>
        from < Math.max(heldFrom, foldedUntil)
          ? true
          : areSame(this.#counted(hourly, from, past), this.#ofSpans(hourly, hourLevel, from, past)),
      ) &&
      slotsAre(halfLevel.level, (from, past) =>
        from < heldFrom
          ? true
          : areSame(this.#ofQuarters(halved, from, past), this.#ofSpans(halved, halfLevel.level, from, past)),
      )
    )
  }

  #marks(): { readonly heldFrom: number; readonly foldedUntil: number } {
    const row = this.#database.prepare('SELECT held_from, folded_until FROM rollup_state').get()
    return { heldFrom: Number(row?.['held_from']), foldedUntil: Number(row?.['folded_until']) }
  }

  /** What the calls themselves say. */
  #counted(of: readonly Grouping[], firstQuarter: number, pastQuarter: number): Cells {
    const counted = new Map<number, Figures>()
    const ids = [firstIdAt(firstQuarter * quarterMs), firstIdAt(pastQuarter * quarterMs)]
    for (const call of this.#calls.iterate(...ids) as Iterable<unknown> as Iterable<FigureRow>) {
      for (const grouping of of) {
        const key = this.#keyOf(grouping, call)
        // No key has it: it is missing in the rollups, and no number stands for it.
        if (key !== undefined) addCall(cellAt(counted, key ?? noEntryId), call)
      }
    }
    return counted
  }

  #ofQuarters(of: readonly Grouping[], firstQuarter: number, pastQuarter: number): Cells {
    return cellsOf(this.#quarters.iterate(firstQuarter, pastQuarter, idsOf(of)))
  }

  #ofSpans(of: readonly Grouping[], level: number, firstQuarter: number, pastQuarter: number): Cells {
    const quarters = quartersOf(level)
    return cellsOf(this.#spans.iterate(level, firstQuarter / quarters, pastQuarter / quarters, idsOf(of)))
  }

  /** The key of a call; `undefined` where the grouping leaves it out, `null` where no key has it. */
  #keyOf(grouping: Grouping, call: FigureRow): number | null | undefined {
    const { id, byType, byOutcome, entry } = grouping
    const callType = byType ? (valueIn(call, 'call_type_id') ?? 0) : anyId
    const outcome = byOutcome ? (valueIn(call, 'outcome_id') ?? 0) : anyId
    const own = entryOf(call, grouping)
    if (own === undefined) return undefined
    // A key that exists was there for every call that belongs to it; those without one are put together.
    for (const entryId of entry === null ? [own] : [own, otherEntryId]) {
      const key = this.#key.get(id, callType, entryId, outcome)?.['id']
      if (key !== undefined) return Number(key)
    }
    return null
  }

  /** Short ones, so that the log can be emptied in between. */
  #inOneSnapshot<T>(work: () => T): T {
    this.#database.exec('BEGIN')
    try {
      return work()
    } finally {
      this.#database.exec('COMMIT')
    }
  }
}

function idsOf(of: readonly Grouping[]): string {
  return JSON.stringify(of.map(({ id }) => id))
}

function slotsOf(statement: StatementSync): readonly number[] {
  return statement.all().map((row) => Number(row['slot']))
}

function cellsOf(rows: Iterable<unknown>): Cells {
  const cells = new Map<number, Figures>()
  for (const row of rows as Iterable<readonly unknown[]>) addFigures(cellAt(cells, Number(row.at(-1))), row)
  return cells
}

/** The figures of a key, which are made where there are none. */
export function cellAt(cells: Map<number, Figures>, key: number): Figures {
  const known = cells.get(key)
  if (known !== undefined) return known
  const figures = new Figures()
  cells.set(key, figures)
  return figures
}

/** Whether both hold the same sums under the same keys; the sums of inverses may differ by how they were rounded. */
export function areSame(one: Cells, other: Cells): boolean {
  if (one.size !== other.size) return false
  return [...one].every(([key, figures]) => {
    const found = other.get(key)
    return found !== undefined && isSame(figures, found)
  })
}

function isSame(one: Figures, other: Figures): boolean {
  return (
    one.sums.every((sum, index) => sum === other.sums[index]) &&
    measureNames.every((measure) => {
      const [a, b] = [one.spreads[measure], other.spreads[measure]]
      const quantiles = [0.1, 0.5, 0.99]
      return (
        a.count === b.count &&
        (a.count === 0 || (a.sum === b.sum && a.min === b.min && a.max === b.max)) &&
        quantiles.every((at) => a.histogram.percentile(at) === b.histogram.percentile(at))
      )
    })
  )
}
