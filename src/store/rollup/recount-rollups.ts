import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { firstIdAt, startedAtMs } from '../../call/call-id.ts'
import { addCall, entryOf, type FigureRow, figureSourceList, valueIn } from './call-figures.ts'
import { areSame, cellAt, type Cells } from './check-rollups.ts'
import { Figures } from './rollup-figures.ts'
import { type Grouping, groupings, halvesGroupingId } from './rollup-groupings.ts'
import { RollupKeys } from './rollup-keys.ts'
import { halfLevel, quarterMs, quartersOf } from './rollup-spans.ts'
import { addFigures, figureColumns, RollupTable } from './rollup-table.ts'

const quartersPerHour = quartersOf(1)
const hourLevel = 1
const quartersPerDay = quartersOf(3)
/** The levels that are made from others of the spans. */
const widerLevels = [
  { level: 2, finer: hourLevel },
  { level: 3, finer: 2 },
] as const

interface State {
  readonly watermark: number
  readonly coarseUntil: number
  readonly coarseKey: number
  readonly foldedUntil: number
}

/** Calls of one quarter, or hour, that a grouping files under one key. */
interface Counted {
  readonly grouping: Grouping
  readonly callType: number
  readonly entry: number
  readonly outcome: number
  readonly quarter: number
  readonly figures: Figures
}

/**
 * Counts calls again and puts right what the rollups say of them, an hour at a time. What is right is only read; what is
 * wrong is put right in one transaction, which counts the calls that were added since as well. Whoever asks finds the old sums
 * or the new ones, and a process that is killed leaves what it had done. Quarters that were folded are never
 * changed: there are no calls to count them from.
 */
export class RecountRollups {
  readonly #database: DatabaseSync
  readonly #state: StatementSync
  readonly #calls: StatementSync
  readonly #storedQuarter: StatementSync
  readonly #storedSpan: StatementSync
  /** Halves are held for few keys: the others need not be looked for. */
  readonly #storedHalf: StatementSync
  readonly #deleteQuarter: StatementSync
  readonly #deleteSpan: StatementSync
  readonly #groupingOfKey: StatementSync
  readonly #quarters: RollupTable
  readonly #spans: RollupTable
  readonly #keys: RollupKeys
  readonly #groupings = new Map<number, number>()

  constructor(database: DatabaseSync) {
    const rows = (sql: string): StatementSync => {
      const statement = database.prepare(sql)
      statement.setReturnArrays(true)
      return statement
    }
    this.#database = database
    this.#state = database.prepare('SELECT * FROM rollup_state')
    this.#calls = rows(
      `SELECT ${figureSourceList()} FROM calls WHERE id >= ? AND id < ? AND +seq > ? AND +seq <= ?`,
    )
    this.#storedQuarter = rows(`SELECT ${figureColumns}, key_id FROM rollup_quarters WHERE slot = ?`)
    const spans = `SELECT ${figureColumns}, rollup_spans.key_id FROM rollup_keys AS k
      JOIN rollup_spans ON level = ? AND rollup_spans.key_id = k.id AND slot = ?`
    this.#storedSpan = rows(spans)
    this.#storedHalf = rows(`${spans} WHERE k.grouping_id = ${halvesGroupingId}`)
    this.#deleteQuarter = database.prepare('DELETE FROM rollup_quarters WHERE slot = ?')
    this.#deleteSpan = database.prepare(
      'DELETE FROM rollup_spans WHERE level = ? AND key_id = ? AND slot = ?',
    )
    this.#groupingOfKey = database.prepare('SELECT grouping_id FROM rollup_keys WHERE id = ?')
    this.#quarters = new RollupTable(database, 'rollup_quarters', ['slot', 'key_id'])
    this.#spans = new RollupTable(database, 'rollup_spans', ['level', 'key_id', 'slot'])
    this.#keys = new RollupKeys(database)
  }

  /** Days of UTC since 1970 for which there are calls or sums, the oldest first. */
  days(): readonly number[] {
    const nextSlot = this.#database.prepare('SELECT min(slot) AS at FROM rollup_quarters WHERE slot >= ?')
    const nextCall = this.#database.prepare('SELECT min(id) AS at FROM calls WHERE id >= ?')
    const found = new Set(
      this.#database
        .prepare('SELECT DISTINCT slot FROM rollup_spans WHERE level = 3')
        .all()
        .map((row) => Number(row['slot'])),
    )
    const follow = (next: (day: number) => number | null): void => {
      for (let day = next(0); day !== null; day = next(day + 1)) found.add(day)
    }
    follow((day) => {
      const slot = nextSlot.get(day * quartersPerDay)?.['at'] ?? null
      return slot === null ? null : Math.floor(Number(slot) / quartersPerDay)
    })
    follow((day) => {
      const id = nextCall.get(firstIdAt(day * quartersPerDay * quarterMs))?.['at'] ?? null
      return id === null ? null : Math.floor(startedAtMs(Number(id)) / quarterMs / quartersPerDay)
    })
    return [...found].toSorted((a, b) => a - b)
  }

  /** Puts an hour since 1970 right, with its quarters and halves; `false` where nothing was wrong. */
  hour(hour: number): boolean {
    const first = hour * quartersPerHour
    const known = this.#within('BEGIN', () => {
      const state = this.#stateNow()
      if (first < state.foldedUntil) {
        return this.#isFoldedHourRight(hour, state)
          ? null
          : { watermark: 0, counted: new Map<string, Counted>() }
      }
      const counted = new Map<string, Counted>()
      this.#count(counted, hour, 0, state.watermark)
      return this.#isHourRight(hour, counted, state) ? null : { watermark: state.watermark, counted }
    })
    if (known === null) return false
    this.#within('BEGIN IMMEDIATE', () => {
      const state = this.#stateNow()
      if (first >= state.foldedUntil) {
        this.#count(known.counted, hour, known.watermark, state.watermark)
        const cells = this.#cellsOf(known.counted, (one) => this.#keyOf(one))
        this.#replaceQuarters(first, cells)
        this.#replaceHour(hour, this.#hourOf(hour, cells, state), null)
      } else {
        const cells = this.#storedQuarters(first)
        this.#replaceHour(hour, this.#hourOf(hour, cells, state), groupingsByHours)
      }
    })
    return true
  }

  /** Puts a slot of the levels above the hour right, by those below it; `false` where nothing was wrong. */
  wider(day: number): boolean {
    let wasWrong = false
    for (const { level, finer } of widerLevels) {
      const slots = quartersPerDay / quartersOf(level)
      for (let slot = day * slots; slot < (day + 1) * slots; slot++) {
        const isRight = this.#within('BEGIN', () =>
          areSame(this.#widerOf(level, finer, slot), this.#storedSpans(level, slot)),
        )
        if (isRight) continue
        wasWrong = true
        this.#within('BEGIN IMMEDIATE', () =>
          this.#replaceSpan(level, slot, this.#widerOf(level, finer, slot), null),
        )
      }
    }
    return wasWrong
  }

  /** Says that what was held from some quarter on is now held of all that is not folded. */
  finish(): void {
    this.#within('BEGIN IMMEDIATE', () =>
      this.#database.exec('UPDATE rollup_state SET held_from = min(held_from, (folded_until + 3) / 4 * 4)'),
    )
  }

  #stateNow(): State {
    const row = this.#state.get()
    return {
      watermark: Number(row?.['watermark_seq']),
      coarseUntil: Number(row?.['coarse_until']),
      coarseKey: Number(row?.['coarse_key']),
      foldedUntil: Number(row?.['folded_until']),
    }
  }

  #count(counted: Map<string, Counted>, hour: number, afterSeq: number, lastSeq: number): void {
    const startMs = hour * quartersPerHour * quarterMs
    const ids = [firstIdAt(startMs), firstIdAt(startMs + quartersPerHour * quarterMs)]
    const rows = this.#calls.iterate(...ids, afterSeq, lastSeq) as Iterable<unknown> as Iterable<FigureRow>
    for (const call of rows) {
      const quarter = Math.floor(startedAtMs(valueIn(call, 'id') ?? 0) / quarterMs)
      const callType = valueIn(call, 'call_type_id') ?? 0
      const outcome = valueIn(call, 'outcome_id') ?? 0
      for (const grouping of groupings) {
        const entry = entryOf(call, grouping)
        if (entry === undefined) continue
        const name = `${grouping.id} ${quarter} ${entry} ${grouping.byType ? callType : ''} ${grouping.byOutcome ? outcome : ''}`
        let one = counted.get(name)
        if (one === undefined) {
          one = { grouping, callType, entry, outcome, quarter, figures: new Figures() }
          counted.set(name, one)
        }
        addCall(one.figures, call)
      }
    }
  }

  #keyOf({ grouping, callType, entry, outcome }: Counted): number {
    return this.#keys.idOf(grouping, callType, entry, outcome)
  }

  #cellsOf(counted: ReadonlyMap<string, Counted>, keyOf: (one: Counted) => number): QuarterCells {
    const cells = new Map<number, Map<number, Figures>>()
    for (const one of counted.values()) {
      const quarter = cells.get(one.quarter) ?? new Map<number, Figures>()
      cells.set(one.quarter, quarter)
      cellAt(quarter, keyOf(one)).merge(one.figures)
    }
    return cells
  }

  /** What the levels that an hour makes say: by level and slot. Of keys that are not made yet, nothing but what is held by hours. */
  #hourOf(hour: number, cells: QuarterCells, state: State): ReadonlyMap<string, Cells> {
    const end = (hour + 1) * quartersPerHour
    const found = new Map<string, Map<number, Figures>>()
    const add = (level: number, slot: number, key: number, figures: Figures): void => {
      const name = `${level} ${slot}`
      const span = found.get(name) ?? new Map<number, Figures>()
      found.set(name, span)
      cellAt(span, key).merge(figures)
    }
    for (const [quarter, own] of cells) {
      for (const [key, figures] of own) {
        const grouping = this.#groupingOf(key)
        const isMade =
          end <= state.coarseUntil || (end === state.coarseUntil + quartersPerHour && key <= state.coarseKey)
        if (isMade || groupingsByHours.has(grouping)) add(hourLevel, hour, key, figures)
        if (isMade && grouping === halvesGroupingId) {
          add(halfLevel.level, Math.floor(quarter / halfLevel.quarters), key, figures)
        }
      }
    }
    return found
  }

  #isHourRight(hour: number, counted: ReadonlyMap<string, Counted>, state: State): boolean {
    // A call whose key is missing is missing in the sums.
    const cells = this.#cellsOf(
      counted,
      (one) => this.#keys.known(one.grouping, one.callType, one.entry, one.outcome) ?? 0,
    )
    const first = hour * quartersPerHour
    const stored = this.#storedQuarters(first)
    for (let quarter = first; quarter < first + quartersPerHour; quarter++) {
      const own = new Map(cells.get(quarter))
      for (const key of own.keys()) if (groupingsByHours.has(this.#groupingOf(key))) own.delete(key)
      if (!areSame(own, stored.get(quarter) ?? new Map())) return false
    }
    return this.#areSpansRight(hour, this.#hourOf(hour, cells, state), null)
  }

  #isFoldedHourRight(hour: number, state: State): boolean {
    const cells = this.#storedQuarters(hour * quartersPerHour)
    return this.#areSpansRight(hour, this.#hourOf(hour, cells, state), groupingsByHours)
  }

  #areSpansRight(
    hour: number,
    wanted: ReadonlyMap<string, Cells>,
    except: ReadonlySet<number> | null,
  ): boolean {
    return spansOfHour(hour).every(([level, slot]) => {
      const stored = new Map(this.#storedSpans(level, slot))
      if (except !== null)
        for (const key of stored.keys()) if (except.has(this.#groupingOf(key))) stored.delete(key)
      return areSame(wanted.get(`${level} ${slot}`) ?? new Map(), stored)
    })
  }

  #replaceQuarters(first: number, cells: QuarterCells): void {
    for (let quarter = first; quarter < first + quartersPerHour; quarter++) {
      this.#deleteQuarter.run(quarter)
      for (const [key, figures] of cells.get(quarter) ?? []) {
        if (!groupingsByHours.has(this.#groupingOf(key))) this.#quarters.put([quarter, key], figures)
      }
    }
  }

  #replaceHour(hour: number, wanted: ReadonlyMap<string, Cells>, except: ReadonlySet<number> | null): void {
    for (const [level, slot] of spansOfHour(hour)) {
      this.#replaceSpan(level, slot, wanted.get(`${level} ${slot}`) ?? new Map(), except)
    }
  }

  #replaceSpan(level: number, slot: number, wanted: Cells, except: ReadonlySet<number> | null): void {
    for (const key of this.#storedSpans(level, slot).keys()) {
      const isKept = except?.has(this.#groupingOf(key)) === true
      if (!isKept && !wanted.has(key)) this.#deleteSpan.run(level, key, slot)
    }
    for (const [key, figures] of wanted) this.#spans.put([level, key, slot], figures)
  }

  /** A wider slot as the finer ones add up to it, of the keys for which it is made already. */
  #widerOf(level: number, finer: number, slot: number): Cells {
    const { coarseUntil, coarseKey } = this.#stateNow()
    const quarters = quartersOf(level)
    const end = (slot + 1) * quarters
    const parts = quarters / quartersOf(finer)
    const sums = new Map<number, Figures>()
    for (let part = slot * parts; part < (slot + 1) * parts; part++) {
      for (const [key, figures] of this.#storedSpans(finer, part)) cellAt(sums, key).merge(figures)
    }
    const isMade = (key: number): boolean =>
      end <= coarseUntil || (end === coarseUntil + quartersPerHour && key <= coarseKey)
    for (const key of sums.keys()) if (!isMade(key)) sums.delete(key)
    return sums
  }

  #storedQuarters(first: number): QuarterCells {
    const cells = new Map<number, Map<number, Figures>>()
    for (let quarter = first; quarter < first + quartersPerHour; quarter++) {
      cells.set(quarter, cellsIn(this.#storedQuarter.iterate(quarter)))
    }
    return cells
  }

  #storedSpans(level: number, slot: number): Cells {
    return cellsIn((level === halfLevel.level ? this.#storedHalf : this.#storedSpan).iterate(level, slot))
  }

  #groupingOf(key: number): number {
    const known = this.#groupings.get(key)
    if (known !== undefined) return known
    const found = this.#groupingOfKey.get(key)?.['grouping_id']
    if (found === undefined) return -1
    this.#groupings.set(key, Number(found))
    return Number(found)
  }

  #within<T>(begin: string, work: () => T): T {
    this.#database.exec(begin)
    try {
      const result = work()
      this.#database.exec('COMMIT')
      return result
    } catch (error) {
      this.#keys.forget()
      this.#groupings.clear()
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK')
      throw error
    }
  }
}

/** Cells of the quarters since 1970; what is held by hours alone is in that of each call. */
type QuarterCells = ReadonlyMap<number, Cells>

/** Groupings of which nothing narrower than hours is held. */
const groupingsByHours: ReadonlySet<number> = new Set(
  groupings.filter(({ second }) => second !== undefined).map(({ id }) => id),
)

/** The hour and its halves. */
function spansOfHour(hour: number): readonly (readonly [level: number, slot: number])[] {
  const halves = quartersPerHour / halfLevel.quarters
  return [
    [hourLevel, hour],
    ...Array.from({ length: halves }, (_, index) => [halfLevel.level, hour * halves + index] as const),
  ]
}

function cellsIn(rows: Iterable<unknown>): Map<number, Figures> {
  const cells = new Map<number, Figures>()
  for (const row of rows as Iterable<readonly unknown[]>) addFigures(cellAt(cells, Number(row.at(-1))), row)
  return cells
}
