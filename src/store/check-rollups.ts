import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { firstIdAt } from '../call/call-id.ts'
import { addCall, type FigureRow, figureSources, valueIn } from './call-figures.ts'
import { Figures, measureColumns } from './rollup-figures.ts'
import { type Grouping, groupings, noEntryId, anyId, otherEntryId } from './rollup-groupings.ts'
import { coarseLevels, quarterMs } from './rollup-spans.ts'
import { addFigures, figureColumns } from './rollup-table.ts'

const entrySources = {
  model: 'model_id',
  client: 'client_id',
  endpoint: 'endpoint_id',
  status: 'status',
  failure_code: 'failure_code_id',
} as const

type Cells = ReadonlyMap<number, Figures>

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
      `SELECT ${figureSources.join(', ')} FROM calls WHERE id >= ? AND id < ?
        AND +seq <= (SELECT watermark_seq FROM rollup_state)`,
    )
    this.#quarters = rows(`SELECT ${figureColumns}, key_id FROM rollup_quarters WHERE slot >= ? AND slot < ?`)
    this.#spans = rows(
      `SELECT ${figureColumns}, rollup_spans.key_id FROM rollup_keys AS k
        JOIN rollup_spans ON level = ? AND rollup_spans.key_id = k.id AND slot = ?`,
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
    return this.#inOneSnapshot(() => {
      const counted = new Map<number, Figures>()
      const [fromId, pastId] = [firstIdAt(slot * quarterMs), firstIdAt((slot + 1) * quarterMs)]
      for (const call of this.#calls.iterate(fromId, pastId) as Iterable<unknown> as Iterable<FigureRow>) {
        for (const grouping of groupings) {
          const key = this.#keyOf(grouping, call)
          // No key has it: it is missing in the rollups, and no number stands for it.
          if (key !== undefined) addCall(cellAt(counted, key ?? noEntryId), call)
        }
      }
      return areSame(counted, cellsOf(this.#quarters.iterate(slot, slot + 1)))
    })
  }

  /** Whether every level says of a day what its quarter hours say. */
  isDayRight(day: number): boolean {
    return coarseLevels.every(({ level, quarters }) =>
      Array.from({ length: 96 / quarters }, (_, index) => (day * 96) / quarters + index).every((slot) =>
        this.#inOneSnapshot(() =>
          areSame(
            cellsOf(this.#quarters.iterate(slot * quarters, (slot + 1) * quarters)),
            cellsOf(this.#spans.iterate(level, slot)),
          ),
        ),
      ),
    )
  }

  /** The key of a call; `undefined` where the grouping leaves it out, `null` where no key has it. */
  #keyOf({ id, byType, byOutcome, entry }: Grouping, call: FigureRow): number | null | undefined {
    const callType = byType ? (valueIn(call, 'call_type_id') ?? 0) : anyId
    const outcome = byOutcome ? (valueIn(call, 'outcome_id') ?? 0) : anyId
    const own = entry === null ? anyId : (valueIn(call, entrySources[entry]) ?? noEntryId)
    if (entry === 'failure_code' && own === noEntryId) return undefined
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

function slotsOf(statement: StatementSync): readonly number[] {
  return statement.all().map((row) => Number(row['slot']))
}

function cellsOf(rows: Iterable<unknown>): Cells {
  const cells = new Map<number, Figures>()
  for (const row of rows as Iterable<readonly unknown[]>) addFigures(cellAt(cells, Number(row.at(-1))), row)
  return cells
}

function cellAt(cells: Map<number, Figures>, key: number): Figures {
  const known = cells.get(key)
  if (known !== undefined) return known
  const figures = new Figures()
  cells.set(key, figures)
  return figures
}

function areSame(one: Cells, other: Cells): boolean {
  if (one.size !== other.size) return false
  return [...one].every(([key, figures]) => {
    const found = other.get(key)
    return found !== undefined && isSame(figures, found)
  })
}

function isSame(one: Figures, other: Figures): boolean {
  return (
    one.sums.every((sum, index) => sum === other.sums[index]) &&
    measureColumns.every((measure) => {
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
