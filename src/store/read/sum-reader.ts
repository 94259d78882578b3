import type { DatabaseSync } from 'node:sqlite'
import { firstFailedOutcome } from '../../call/fields/call-fields.ts'
import { firstIdAt, startedAtMs } from '../../call/call-id.ts'
import { type CallDimension, type CallQuestion, tagOf } from '../../call/call-question.ts'
import { getOrAdd } from '../../lib/get-or-add.ts'
import { FoldedRangeError, type IsOver, QueryTooSlowError } from '../../call/no-answer.ts'
import { andSql, bothConditions, type CallCondition, conditionOf, type IdFilter } from './call-condition.ts'
import { addCall, type SummedCall, summedColumnList, valueIn } from '../rollup/summed-calls.ts'
import type { CallSelection } from './call-selection.ts'
import { CallDictionary } from './call-dictionary.ts'
import { type SumGroup, SumsByGroup } from './sums-by-group.ts'
import { idSlices, idsWithCalls } from './id-slices.ts'
import {
  dimensionFields,
  type Grouping,
  groupingFor,
  otherId,
  type SumDimension,
} from '../rollup/groupings.ts'
import { planOf, hourMs, minuteMs, type Span } from '../rollup/time-plan.ts'
import { sumColumns } from '../rollup/call-sums.ts'
import { lackedBy, readMarks, splitByAge, type SumMarks } from '../rollup/unsummed.ts'
import { RowStatements } from '../sqlite/row-statements.ts'
import { inReadTransaction } from '../sqlite/transaction.ts'
import { keysPassing } from './sum-filter.ts'

/** A question about many calls, in the numbers of the tables. */
export interface SumQuestion extends Pick<
  CallQuestion,
  'edgesMs' | 'dimension' | 'isSumsOnly' | 'timesFailed'
> {
  readonly filter: IdFilter
  /** A condition that the sums cannot answer, so that calls are read one by one. */
  readonly rowCondition?: CallCondition
  readonly index?: CallSelection['index'] | 'calls_failed'
  /** Most values, those with the most calls; all others count as `otherId`, because there can be as many as calls. */
  readonly top?: number
}

/** Rows between two checks of the deadline; a row takes up to 20 µs. */
const rowsPerCheck = 256
/** Roughly the most rows of sums that one statement reads. */
const rowsAtOnce = 5000
/** Most numbers after a recent mark: to look at as many calls takes some 50 ms. */
const recentNumbers = 20_000
/** Largest share of all keys that are looked up one by one. */
const fewKeys = 1 / 40

const askedSql =
  'WITH RECURSIVE asked (cell_number) AS (VALUES (?1) UNION ALL SELECT cell_number + 1 FROM asked WHERE cell_number + 1 < ?2)'
const totalColumns = sumColumns.map((name) => `total(s.${name})`).join(', ')

/** Ways to find calls: in an index, by their time, or by their number. */
const sources = {
  calls_by_session: 'INDEXED BY calls_by_session',
  calls_by_tags: 'INDEXED BY calls_by_tags',
  calls_failed: 'INDEXED BY calls_failed',
  by_time: 'NOT INDEXED',
  by_seq: 'INDEXED BY calls_by_seq',
}
const isFailed = `c.outcome_id >= ${firstFailedOutcome}`

type TimeRange = readonly [fromMs: number, toMs: number]

/** The calls to count one by one, and where to add them. */
interface Counting {
  readonly question: SumQuestion
  readonly groups: SumsByGroup
  readonly groupValueOf: (row: SummedCall) => number | null
  /** True if a call of the range counts. Without it, all do. */
  readonly counts?: (row: SummedCall) => boolean
}

/** Answers questions about sums and percentiles from the sums, and from the calls that they lack. */
export class SumReader {
  readonly #isOver: IsOver
  readonly #statements: RowStatements
  readonly #words: CallDictionary
  #counted = 0

  constructor(database: DatabaseSync, isOver: IsOver = () => false) {
    this.#statements = new RowStatements(database)
    this.#words = new CallDictionary(database)
    this.#isOver = isOver
  }

  /** Answers questions in one read transaction. Throws `QueryTooSlowError`, and `FoldedRangeError` if folded calls would be needed. */
  ask(questions: readonly SumQuestion[]): readonly (readonly SumGroup[])[] {
    return inReadTransaction(this.#statements.database, () => {
      const marks = readMarks(this.#statements)
      return questions.map((question) => {
        const grouping = groupingOf(question)
        const groups = grouping === null ? null : this.#bySums(question, grouping, marks)
        return groups ?? this.#byCalls(question, marks)
      })
    })
  }

  /** Reads the calls alone. */
  #byCalls(question: SumQuestion, { foldedMs }: SumMarks): readonly SumGroup[] {
    const { edgesMs, dimension, index } = question
    const range = rangeOf(edgesMs)
    if (range[0] < foldedMs) throw new FoldedRangeError(foldedMs)
    const groups = new SumsByGroup(edgesMs)
    const valueOf = this.#fieldValue(dimension)
    const topValues = this.#topValues(question, range)
    const groupValueOf = (row: SummedCall): number | null => {
      const value = valueOf(row)
      return topValues === null || topValues.has(value) ? value : otherId
    }
    this.#addCalls(index ?? 'by_time', range, { question, groups, groupValueOf })
    return groups.all()
  }

  /** Reads the sums, and the calls that they lack. `null` if calls count under other names than asked. */
  #bySums(question: SumQuestion, grouping: Grouping, marks: SumMarks): readonly SumGroup[] | null {
    const { foldedMs, hours, days } = marks
    const cellMs = (grouping.widths.at(-1) ?? 60) * minuteMs
    const edgesMs = wholeCells(question.edgesMs, cellMs, marks)
    const { spans, rest } = planOf(
      edgesMs,
      grouping.widths,
      (minutes, cell) => minutes !== 1440 || !days.has(cell),
    )
    if (rest.some(([fromMs]) => fromMs < foldedMs)) throw new FoldedRangeError(foldedMs)
    const groups = new SumsByGroup(edgesMs)
    const keys = this.#keysFor(grouping, question)
    for (const span of spans) this.#addSpan(question, grouping, span, keys, groups)
    if (keys.haveOthers && groups.all().some(({ value }) => value === otherId)) return null
    const counting = { question, groups, groupValueOf: this.#fieldValue(question.dimension) }
    const isLacking = lackedBy(hours)
    for (const part of rest)
      this.#addCalls('by_time', part, { ...counting, counts: (row) => !isLacking(row) })
    this.#addLacking(rangeOf(edgesMs), marks, counting)
    return groups.all()
  }

  /** Counts the calls that the cells of hours lack. */
  #addLacking([fromMs, toMs]: TimeRange, { hours, lastSeq }: SumMarks, counting: Counting): void {
    const asked = hours.filter(({ hour }) => (hour + 1) * hourMs > fromMs && hour * hourMs < toMs)
    const { recent, old, leastSeq } = splitByAge({ hours: asked, lastSeq }, recentNumbers)
    if (recent.length > 0)
      this.#addCalls('by_seq', [fromMs, toMs], { ...counting, counts: lackedBy(recent) }, leastSeq)
    for (const { hour, seq } of old) {
      const part = [Math.max(fromMs, hour * hourMs), Math.min(toMs, (hour + 1) * hourMs)] as const
      this.#addCalls('by_time', part, counting, seq)
    }
  }

  #addSpan(
    { dimension, isSumsOnly }: SumQuestion,
    { id }: Grouping,
    { minutes, first, past }: Span,
    { values, all, haveOthers }: Keys,
    groups: SumsByGroup,
  ): void {
    const isFew = values.size < all * fewKeys
    const json = values.size === all ? null : JSON.stringify([...values.keys()])
    const ofGrouping = `s.grouping_id = ${id} AND s.minutes = ${minutes}`
    const cells = isFew
      ? `FROM asked CROSS JOIN json_each(?3) AS k CROSS JOIN sums AS s
         WHERE ${ofGrouping} AND s.cell_number = asked.cell_number AND s.key_id = k.value`
      : `FROM sums AS s WHERE ${ofGrouping} AND s.cell_number >= ?1 AND s.cell_number < ?2
         AND (?3 IS NULL OR s.key_id IN (SELECT value FROM json_each(?3)))`
    const distributions = isSumsOnly === true ? 'NULL' : 's.distributions'
    // Reading rows takes longer than adding them in SQLite.
    const columns =
      dimension !== null || isFew || haveOthers
        ? [`s.cell_number, s.key_id, ${distributions}, ${sumColumns.join(', ')} ${cells}`]
        : [
            `s.cell_number, max(s.key_id), NULL, ${totalColumns} ${cells} GROUP BY s.cell_number`,
            `s.cell_number, s.key_id, ${distributions} ${cells} AND ${distributions} IS NOT NULL`,
          ]
    // A piece has few rows, however many keys there are.
    const rowsPerCell = isFew ? values.size : Math.max(1, minutes === 1440 ? all / 2 : all / 10)
    const cellsPerPiece = Math.max(1, Math.floor(rowsAtOnce / rowsPerCell))
    for (let from = first; from < past; from += cellsPerPiece) {
      const to = Math.min(past, from + cellsPerPiece)
      for (const column of columns) {
        if (this.#isOver()) throw new QueryTooSlowError()
        const sql = `${askedSql} SELECT ${column}`
        for (const row of this.#statements.all<readonly unknown[]>(sql, from, to, json)) {
          const value = values.get(Number(row[1])) ?? null
          groups.at(Number(row[0]) * minutes * minuteMs, value).addRow(row, 2)
        }
      }
    }
  }

  /** Counts calls with numbers beyond `seq` one by one. */
  #addCalls(kind: keyof typeof sources, range: TimeRange, counting: Counting, seq: number = 0): void {
    const { question, groups, groupValueOf, counts = () => true } = counting
    const ids = [firstIdAt(range[0]), firstIdAt(range[1])] as const
    const slices =
      kind === 'by_seq'
        ? [ids]
        : idSlices(...idsWithCalls(this.#statements, ...ids), { isOver: this.#isOver })
    const condition = wholeCondition(question)
    const sql = `SELECT ${summedColumnList('c')} FROM calls AS c ${sources[kind]} WHERE c.seq > ? AND c.id >= ? AND c.id < ?
      ${kind === 'calls_failed' ? `AND ${isFailed}` : ''}${andSql(condition)}`
    for (const slice of slices) {
      for (const row of this.#statements.all(sql, seq, ...slice, ...condition.values)) {
        if (++this.#counted % rowsPerCheck === 0 && this.#isOver()) throw new QueryTooSlowError()
        if (!counts(row)) continue
        const value = groupValueOf(row)
        if (value === null && question.dimension === 'failure_code') continue
        addCall(groups.at(startedAtMs(valueIn(row, 'id') ?? 0), value), row, question.timesFailed)
      }
    }
  }

  #fieldValue(dimension: CallDimension | null): (row: SummedCall) => number | null {
    if (dimension === null) return () => null
    const [column, ofColumn] = [columnOf(dimension), this.#ofColumn(dimension)]
    return (row) => ofColumn(valueIn(row, column))
  }

  /** Returns a function from a column's value to that of a dimension: of a set of tags, the tag with the key. */
  #ofColumn(dimension: CallDimension): (value: number | null) => number | null {
    const key = tagOf(dimension)
    if (key === null) return (value) => value
    const tags = new Map<number, number | null>()
    return (value) => (value === null ? null : getOrAdd(tags, value, () => this.#words.tagIn(value, key)))
  }

  /** The `top` values of the dimension with the most calls, and `null`. Without a limit, `null` alone. */
  #topValues(question: SumQuestion, [fromMs, toMs]: TimeRange): ReadonlySet<number | null> | null {
    const { dimension, top } = question
    if (dimension === null || top === undefined) return null
    const column = columnOf(dimension)
    const ofColumn = this.#ofColumn(dimension)
    const condition = wholeCondition(question)
    const index = question.index ?? (column === 'session_id' ? 'calls_in_sessions' : null)
    const sql = `SELECT c.${column}, count(*) FROM calls AS c ${index === null ? 'NOT INDEXED' : `INDEXED BY ${index}`}
      WHERE c.id >= ? AND c.id < ? AND c.${column} IS NOT NULL${andSql(condition)} GROUP BY 1`
    const calls = new Map<number | null, number>()
    const ids = idsWithCalls(this.#statements, firstIdAt(fromMs), firstIdAt(toMs))
    for (const slice of idSlices(...ids, { isOver: this.#isOver })) {
      const bound = [...slice, ...condition.values]
      for (const [stored, count] of this.#statements.all<readonly [number, number]>(sql, ...bound)) {
        const value = ofColumn(stored)
        calls.set(value, (calls.get(value) ?? 0) + count)
      }
    }
    calls.delete(null)
    const ranked = [...calls].sort(([, some], [, others]) => others - some).slice(0, top)
    return new Set(ranked.map(([value]) => value)).add(null)
  }

  #keysFor(grouping: Grouping, { filter, dimension }: SumQuestion): Keys {
    const by = dimension === null ? null : (sumDimensionOf(dimension) as SumDimension)
    const ofColumn = dimension === null ? () => null : this.#ofColumn(dimension)
    const values = new Map<number, number | null>()
    for (const { id, value: stored } of keysPassing(this.#statements, grouping, filter, by)) {
      const value = stored === otherId ? otherId : ofColumn(stored)
      if (value !== null || dimension !== 'failure_code') values.set(id, value)
    }
    const all = this.#statements.number('SELECT count(*) FROM sum_keys WHERE grouping_id = ?', grouping.id)
    return { values, haveOthers: [...values.values()].includes(otherId), all: all ?? 0 }
  }
}

/** The keys of calls that may count. */
interface Keys {
  /** The dimension's value of each key; `otherId` for further names, of which some may count. */
  readonly values: ReadonlyMap<number, number | null>
  readonly haveOthers: boolean
  /** The number of the grouping's keys. */
  readonly all: number
}

type ValueColumn = Parameters<typeof valueIn>[1]

function sumDimensionOf(dimension: CallDimension): SumDimension | 'session' {
  return tagOf(dimension) === null ? (dimension as SumDimension | 'session') : 'tags'
}

function columnOf(dimension: CallDimension): ValueColumn {
  return dimensionFields[sumDimensionOf(dimension)].column as ValueColumn
}

function wholeCondition({ filter, rowCondition }: SumQuestion): CallCondition {
  const ofIds = conditionOf(filter)
  return rowCondition === undefined ? ofIds : bothConditions(ofIds, rowCondition)
}

/** The first grouping that has all asked fields; `null` without one. */
function groupingOf({ filter, dimension, rowCondition, timesFailed }: SumQuestion): Grouping | null {
  if (timesFailed === true || (rowCondition !== undefined && rowCondition.conditions.length > 0)) return null
  const fields = new Set<string>(Object.keys(filter))
  if (dimension !== null) fields.add(sumDimensionOf(dimension))
  return groupingFor(fields)
}

function rangeOf(edgesMs: readonly number[]): TimeRange {
  return [edgesMs[0] ?? 0, edgesMs.at(-1) ?? 0]
}

/**
 * Moves edges that would cut cells without need: before `foldedMs` to the start of the cell, because only the
 * cells of folded calls are known, and the last one to the end of its cell if no call is beyond it. A last
 * bucket within one cell is then empty. Throws `FoldedRangeError` if two other edges become equal.
 */
function wholeCells(
  edgesMs: readonly number[],
  cellMs: number,
  { foldedMs, newestId }: SumMarks,
): readonly number[] {
  const edges = edgesMs.map((edge, index) => {
    if (edge < foldedMs) return Math.floor(edge / cellMs) * cellMs
    const isOpen = index === edgesMs.length - 1 && newestId < firstIdAt(edge)
    return isOpen ? Math.ceil(edge / cellMs) * cellMs : edge
  })
  const last = Math.max(1, edges.length - 2)
  if (edges.some((edge, index) => index < last && edge === edges[index + 1]))
    throw new FoldedRangeError(foldedMs)
  return edges
}
