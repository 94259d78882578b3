import type { DatabaseSync } from 'node:sqlite'
import { firstFailedOutcome } from '../../call/fields/call-fields.ts'
import { firstIdAt, startedAtMs } from '../../call/call-id.ts'
import { type CallDimension, type CallQuestion, isUnbounded, tagOf } from '../../call/call-question.ts'
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
  namedDimensions,
  otherId,
  type SumDimension,
} from '../rollup/groupings.ts'
import { planOf, hourMs, hourOf, type Span } from '../rollup/time-plan.ts'
import { sumColumns } from '../rollup/call-sums.ts'
import { foldedUntil, unsummedDays, unsummedHours } from '../rollup/unsummed.ts'
import { RowStatements } from '../sqlite/row-statements.ts'
import { inReadTransaction } from '../sqlite/transaction.ts'
import { type FoundKey, keysPassing } from './sum-filter.ts'

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

const minuteMs = 60_000
/** Most calls beyond the sums that are read by number. With more, the calls of each hour are read by time. */
const longTail = 20_000
/** Rows between two checks of the deadline; a row takes up to 20 µs. */
const rowsPerCheck = 256
/** Roughly the most rows of sums that one statement reads. */
const rowsAtOnce = 5000
/** Largest share of all keys that are looked up one by one. */
const fewKeys = 1 / 40

const askedSql =
  'WITH RECURSIVE asked (cell_number) AS (VALUES (?1) UNION ALL SELECT cell_number + 1 FROM asked WHERE cell_number + 1 < ?2)'
const totalColumns = sumColumns.map((name) => `total(s.${name})`).join(', ')

const selectCalls = `SELECT ${summedColumnList('c')} FROM calls AS c`
/** All calls of an index, of a time, or beyond a number. */
const callsSql = {
  calls_by_session: `${selectCalls} INDEXED BY calls_by_session WHERE ?1 IS NOT NULL`,
  calls_by_tags: `${selectCalls} INDEXED BY calls_by_tags WHERE ?1 IS NOT NULL`,
  calls_failed: `${selectCalls} INDEXED BY calls_failed WHERE ?1 IS NOT NULL AND c.outcome_id >= ${firstFailedOutcome}`,
  by_time: `${selectCalls} NOT INDEXED WHERE ?1 IS NOT NULL`,
  by_seq: `${selectCalls} INDEXED BY calls_by_seq WHERE c.seq > ?1`,
}

type TimeRange = readonly [fromMs: number, toMs: number]

/** The calls that the sums lack. */
interface Marks {
  readonly foldedMs: number
  /** By hour, the number of the last call that its cells hold. */
  readonly seqOf: ReadonlyMap<number, number>
  readonly days: ReadonlyMap<number, number>
}

/** The calls to count one by one, and where to add them. */
interface Counting {
  readonly question: SumQuestion
  readonly groups: SumsByGroup
  readonly groupValueOf: (row: SummedCall) => number | null
  /** True if a call of the range counts. */
  readonly counts: (row: SummedCall) => boolean
}

/** Answers questions about sums and percentiles from the sums, and from the calls that they lack. */
export class SumReader {
  readonly #database: DatabaseSync
  readonly #isOver: IsOver
  readonly #statements: RowStatements
  readonly #words: CallDictionary
  #counted = 0

  constructor(database: DatabaseSync, isOver: IsOver = () => false) {
    this.#database = database
    this.#statements = new RowStatements(database)
    this.#words = new CallDictionary(database)
    this.#isOver = isOver
  }

  /** Answers questions in one read transaction. Throws `QueryTooSlowError`, and `FoldedRangeError` if folded calls would be needed. */
  ask(questions: readonly SumQuestion[]): readonly (readonly SumGroup[])[] {
    return inReadTransaction(this.#database, () => {
      const marks: Marks = {
        foldedMs: foldedUntil(this.#statements),
        seqOf: new Map(unsummedHours(this.#statements).map(({ hour, seq }) => [hour, seq])),
        days: unsummedDays(this.#statements),
      }
      return questions.map((question) => this.#ask(question, marks))
    })
  }

  #ask(question: SumQuestion, marks: Marks): readonly SumGroup[] {
    const grouping = groupingOf(question)
    const keys = grouping === null ? null : this.#keysFor(grouping, question)
    return grouping === null || keys === null
      ? this.#byCalls(question, marks)
      : this.#bySums(question, grouping, keys, marks)
  }

  /** Reads the calls alone. */
  #byCalls(question: SumQuestion, { foldedMs }: Marks): readonly SumGroup[] {
    const range = rangeOf(question.edgesMs)
    if (range[0] < foldedMs) throw new FoldedRangeError(foldedMs)
    const groups = new SumsByGroup(question.edgesMs)
    const groupValueOf = this.#values(question, range)
    this.#addCalls(question.index ?? 'by_time', range, { question, groups, groupValueOf, counts: () => true })
    return groups.all()
  }

  #bySums(question: SumQuestion, grouping: Grouping, keys: Keys, marks: Marks): readonly SumGroup[] {
    const { foldedMs, seqOf, days } = marks
    const cellMs = (grouping.widths.at(-1) ?? 60) * minuteMs
    const edgesMs = this.#openEnd(unfoldedEdges(question.edgesMs, foldedMs, cellMs), cellMs)
    const { spans, rest } = planOf(edgesMs, grouping.widths, (minutes, cell) =>
      minutes === 1440 ? !days.has(cell) : seqOf.get(Math.floor((cell * minutes) / 60)) !== 0,
    )
    if (rest.some(([fromMs]) => fromMs < foldedMs)) throw new FoldedRangeError(foldedMs)
    if (keys.mixed.length > 0 && this.#areUsed(grouping, keys.mixed, spans))
      return this.#byCalls(question, marks)
    const groups = new SumsByGroup(edgesMs)
    for (const span of spans) this.#addSpan(question, grouping, span, keys, groups)
    const lackingSeq = (row: SummedCall): number => seqOf.get(hourOf(valueIn(row, 'id') ?? 0)) ?? 0
    const isLacking = (row: SummedCall): boolean => {
      const seq = lackingSeq(row)
      return seq > 0 && (valueIn(row, 'seq') ?? 0) > seq
    }
    const counting = { question, groups, groupValueOf: this.#fieldValue(question.dimension) }
    for (const part of rest)
      this.#addCalls('by_time', part, { ...counting, counts: (row) => !isLacking(row) })
    this.#addLacking(rangeOf(edgesMs), seqOf, { ...counting, counts: isLacking })
    return groups.all()
  }

  /** Moves the last edge to the end of its cell if no call is beyond it. The newest cell is then read from the sums. */
  #openEnd(edgesMs: readonly number[], cellMs: number): readonly number[] {
    const lastMs = edgesMs.at(-1) ?? 0
    const newest = this.#statements.number('SELECT max(id) FROM calls') ?? 0
    return newest >= firstIdAt(lastMs)
      ? edgesMs
      : [...edgesMs.slice(0, -1), Math.ceil(lastMs / cellMs) * cellMs]
  }

  /** Counts the calls that the cells of hours lack. */
  #addLacking([fromMs, toMs]: TimeRange, seqOf: Marks['seqOf'], counting: Counting): void {
    const hours = [...seqOf].filter(
      ([hour, seq]) => seq > 0 && (hour + 1) * hourMs > fromMs && hour * hourMs < toMs,
    )
    if (hours.length === 0) return
    const least = hours.reduce((lowest, [, seq]) => Math.min(lowest, seq), Number.MAX_SAFE_INTEGER)
    const last = this.#statements.number('SELECT max(seq) FROM calls') ?? 0
    if (last - least <= longTail) this.#addCalls('by_seq', [fromMs, toMs], counting, least)
    else
      for (const [hour] of hours) {
        const part = [Math.max(fromMs, hour * hourMs), Math.min(toMs, (hour + 1) * hourMs)] as const
        this.#addCalls('by_time', part, counting)
      }
  }

  #addSpan(
    { dimension, isSumsOnly }: SumQuestion,
    { id }: Grouping,
    { minutes, first, past }: Span,
    { values, all }: Keys,
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
      dimension !== null || isFew
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
      for (const row of columns.flatMap((name) => this.#rows(`${askedSql} SELECT ${name}`, from, to, json))) {
        const [cellNumber, key] = row
        const value = values.get(Number(key)) ?? null
        groups.at(Number(cellNumber) * minutes * minuteMs, value).addRow(row)
      }
    }
  }

  #rows(sql: string, ...values: readonly (number | string | null)[]): readonly (readonly unknown[])[] {
    if (this.#isOver()) throw new QueryTooSlowError()
    return this.#statements.all<readonly unknown[]>(sql, ...values)
  }

  /** Counts calls one by one. */
  #addCalls(kind: keyof typeof callsSql, range: TimeRange, counting: Counting, seq: number = 0): void {
    const { question, groups, groupValueOf, counts } = counting
    const ids = [firstIdAt(range[0]), firstIdAt(range[1])] as const
    const slices =
      kind === 'by_seq'
        ? [ids]
        : idSlices(...idsWithCalls(this.#statements, ...ids), { isOver: this.#isOver })
    const condition = wholeCondition(question)
    const sql = `${callsSql[kind]} AND c.id >= ? AND c.id < ?${andSql(condition)}`
    for (const slice of slices) {
      for (const row of this.#statements.all(sql, seq, ...slice, ...condition.values)) {
        if (++this.#counted % rowsPerCheck === 0 && this.#isOver()) throw new QueryTooSlowError()
        if (!counts(row)) continue
        const value = groupValueOf(row)
        if (value === null && question.dimension === 'failure_code') continue
        addCall(groups.at(startedAtMs(valueIn(row, 'id') ?? 0), value).counted, row, question.timesFailed)
      }
    }
  }

  /**
   * Returns a function for the dimension's value under which a call counts: `otherId` beyond the `top` values
   * with the most calls.
   */
  #values(question: SumQuestion, range: TimeRange): (row: SummedCall) => number | null {
    const { dimension, top } = question
    const valueOf = this.#fieldValue(dimension)
    if (dimension === null || (top === undefined && !isUnbounded(dimension))) return valueOf
    const calls = this.#callsOf(columnOf(dimension), question, range, this.#ofColumn(dimension))
    const ranked = [...calls].sort(([, some], [, others]) => others - some).slice(0, top)
    const namedValues = new Set<number | null>(ranked.map(([value]) => value)).add(null)
    return (row) => {
      const value = valueOf(row)
      return namedValues.has(value) ? value : otherId
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

  /** The number of calls of each value of a dimension. */
  #callsOf(
    column: ValueColumn,
    question: SumQuestion,
    [fromMs, toMs]: TimeRange,
    ofColumn: (stored: number) => number | null,
  ): ReadonlyMap<number, number> {
    const condition = wholeCondition(question)
    const index = question.index ?? (column === 'session_id' ? 'calls_in_sessions' : null)
    const sql = `SELECT c.${column}, count(*) FROM calls AS c ${index === null ? 'NOT INDEXED' : `INDEXED BY ${index}`}
      WHERE c.id >= ? AND c.id < ? AND c.${column} IS NOT NULL${andSql(condition)} GROUP BY 1`
    const calls = new Map<number, number>()
    const ids = idsWithCalls(this.#statements, firstIdAt(fromMs), firstIdAt(toMs))
    for (const slice of idSlices(...ids, { isOver: this.#isOver })) {
      const bound = [...slice, ...condition.values]
      for (const [stored, count] of this.#statements.all<readonly [number, number]>(sql, ...bound)) {
        const value = ofColumn(stored)
        if (value !== null) calls.set(value, (calls.get(value) ?? 0) + count)
      }
    }
    return calls
  }

  #keysFor(grouping: Grouping, { filter, dimension }: SumQuestion): Keys {
    const by = dimension === null ? null : sumDimensionOf(dimension)
    const keys = keysPassing(this.#statements, grouping, filter, by)
    const isNamed = [by, ...Object.keys(filter)].some((name) =>
      namedDimensions.includes(name as SumDimension),
    )
    const ofColumn = dimension === null ? () => null : this.#ofColumn(dimension)
    const values = new Map<number, number | null>()
    for (const { id, value: stored, isOther } of keys) {
      if (isOther && isNamed) continue
      const value = ofColumn(stored)
      if (value !== null || dimension !== 'failure_code') values.set(id, value)
    }
    const mixed = isNamed ? keys.filter(({ isOther }) => isOther).map(({ id }: FoundKey) => id) : []
    const all = this.#statements.number('SELECT count(*) FROM sum_keys WHERE grouping_id = ?', grouping.id)
    return { values, mixed, all: all ?? 0 }
  }

  /** True if any of these keys has calls in those cells. */
  #areUsed({ id }: Grouping, keys: readonly number[], spans: readonly Span[]): boolean {
    const used = `SELECT 1 FROM sums WHERE grouping_id = ${id} AND minutes = ? AND cell_number >= ? AND cell_number < ?
      AND key_id IN (SELECT value FROM json_each(?)) LIMIT 1`
    return spans.some(
      ({ minutes, first, past }) => this.#rows(used, minutes, first, past, JSON.stringify(keys)).length > 0,
    )
  }
}

interface Keys {
  /** The keys whose calls all count, with the dimension's value of each. */
  readonly values: ReadonlyMap<number, number | null>
  /** Keys of which some calls may count. */
  readonly mixed: readonly number[]
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
 * Moves edges before `foldedMs` to the start of their cell, because only the cells of folded calls are known.
 * A last bucket within one cell is then empty. Throws `FoldedRangeError` if two other edges become equal.
 */
function unfoldedEdges(edgesMs: readonly number[], foldedMs: number, cellMs: number): readonly number[] {
  if ((edgesMs[0] ?? 0) >= foldedMs) return edgesMs
  const edges = edgesMs.map((edge) => (edge < foldedMs ? Math.floor(edge / cellMs) * cellMs : edge))
  const last = Math.max(1, edges.length - 2)
  if (edges.some((edge, index) => index < last && edge === edges[index + 1]))
    throw new FoldedRangeError(foldedMs)
  return edges
}
