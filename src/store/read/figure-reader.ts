import type { DatabaseSync } from 'node:sqlite'
import { firstFailedOutcome } from '../../call/call-fields.ts'
import { firstIdAt, startedAtMs } from '../../call/call-id.ts'
import {
  type CallDimension,
  type CallQuestion,
  type FieldDimension,
  isEndless,
  tagOf,
} from '../../call/call-question.ts'
import { getOrAdd } from '../../lib/get-or-add.ts'
import { FoldedRangeError, type IsOver, QueryTooSlowError } from '../../call/no-answer.ts'
import { andSql, bothConditions, type CallCondition, conditionOf, type IdFilter } from './call-condition.ts'
import {
  addCall,
  dimensionFields,
  entryIn,
  type FigureRow,
  figureSourceList,
  valueIn,
} from '../rollup/call-figures.ts'
import type { CallSelection } from './call-selection.ts'
import { CallWords } from './call-words.ts'
import { type FigureGroup, FigureGroups } from './figure-groups.ts'
import { keysPassing } from './filter-keys.ts'
import { idSlices, idsWithCalls } from './id-slices.ts'
import { type Dimension, type Grouping, groupingFor, noId, otherEntryId } from '../rollup/rollup-groupings.ts'
import { type Cover, coverOf, quarterMs, quartersOf, type Span } from '../rollup/rollup-spans.ts'
import { type RollupState, rollupState } from '../rollup/rollup-state.ts'
import { figureColumns } from '../rollup/figure-rows.ts'
import { RowStatements } from '../sqlite/row-statements.ts'
import { inOneInstant } from '../sqlite/transaction.ts'

/** A question about many calls, in the numbers of the tables. */
export interface FigureQuestion extends Pick<
  CallQuestion,
  'edgesMs' | 'dimension' | 'isSumsOnly' | 'timesFailed'
> {
  readonly filter: IdFilter
  /** What the rollups do not tell apart: with any of it, calls are read one by one. */
  readonly extra?: CallCondition
  readonly index?: CallSelection['index'] | 'calls_failed'
  /** Entries beyond those with the most calls count as `otherEntryId`, from the start: they can be as many as calls. */
  readonly top?: number
}

/** Few keys over a long time are looked up one by one; else the quarters are read in a row. */
const keysLookedUp = 8
/** More calls than these that the rollups lack are found by time, as far as that narrows them down. */
const longTail = 20_000
/** The deadline is looked at after so many rows, none of which takes over some 20 µs. */
const rowsPerLook = 256
/** Of the rollups, a few microseconds each. */
const rowsAtOnce = 1000

const selectCalls = `SELECT ${figureSourceList('c')} FROM calls AS c`
/** All calls that an index finds; else those that the rollups hold, and those that they lack. */
const callsSql = {
  calls_by_session: `${selectCalls} INDEXED BY calls_by_session WHERE ?1 IS NOT NULL`,
  calls_by_tags: `${selectCalls} INDEXED BY calls_by_tags WHERE ?1 IS NOT NULL`,
  calls_failed: `${selectCalls} INDEXED BY calls_failed WHERE ?1 IS NOT NULL AND c.outcome_id >= ${firstFailedOutcome}`,
  held: `${selectCalls} NOT INDEXED WHERE c.seq <= ?`,
  lacking: `${selectCalls} NOT INDEXED WHERE c.seq > ?`,
  few_lacking: `${selectCalls} INDEXED BY calls_by_seq WHERE c.seq > ?`,
}

/** How calls are counted one by one. */
interface Counting {
  readonly question: FigureQuestion
  readonly groups: FigureGroups
  readonly entryOf: (row: FigureRow) => number | null
  readonly watermark: number
}

type TimeRange = readonly [fromMs: number, toMs: number]
/** The keys that hold the calls that are asked for, with the entry under which each counts. */
type Keys = ReadonlyMap<number, number | null>

/** Answers questions about sums and percentiles from the rollups, and from the calls that are not in them yet. */
export class FigureReader {
  readonly #database: DatabaseSync
  readonly #isOver: IsOver
  readonly #state: () => RollupState
  readonly #statements: RowStatements
  readonly #words: CallWords
  #counted = 0

  constructor(database: DatabaseSync, isOver: IsOver = () => false) {
    this.#database = database
    this.#statements = new RowStatements(database)
    this.#words = new CallWords(database)
    this.#isOver = isOver
    this.#state = rollupState(database)
  }

  /** All answers are of one instant. Throws `QueryTooSlowError`, and `FoldedRangeError` if calls would be needed that are gone. */
  ask(questions: readonly FigureQuestion[]): readonly (readonly FigureGroup[])[] {
    return inOneInstant(this.#database, () => {
      const state = this.#state()
      return questions.map((question) => this.#ask(question, state))
    })
  }

  #ask(question: FigureQuestion, state: RollupState): readonly FigureGroup[] {
    const foldedMs = state.foldedUntil * quarterMs
    const edgesMs = unfoldedEdges(question.edgesMs, foldedMs)
    const groups = new FigureGroups(edgesMs)
    const range = rangeOf(edgesMs)
    const grouping = groupingOf(question)
    const keys = grouping === null ? null : this.#keysFor(grouping, question, state, range)
    const { spans, ragged } =
      grouping === null || keys === null ? { spans: [], ragged: [range] } : coverFor(grouping, edgesMs, state)
    if (ragged.some(([fromMs]) => fromMs < foldedMs)) throw new FoldedRangeError(foldedMs)
    const columns = question.isSumsOnly === true ? figureColumns.replace('spreads', 'NULL') : figureColumns
    for (const span of spans) this.#addSpan(columns, span, keys ?? new Map(), groups)
    // Where calls are read one by one, entries may be as many as calls.
    const entryOf = keys === null ? this.#entries(question, range) : fieldEntry(question.dimension)
    const counting: Counting = { question, groups, entryOf, watermark: state.watermark }
    if (question.index !== undefined) {
      this.#addCalls(question.index, range, counting)
      return groups.all()
    }
    for (const part of ragged) this.#addCalls('held', part, counting)
    const [row] = this.#rows('SELECT coalesce(max(seq), 0) FROM calls')
    const lacking = Number(row?.[0]) - state.watermark
    const kind = lacking > longTail ? 'lacking' : 'few_lacking'
    if (lacking > 0) this.#addCalls(kind, range, counting)
    return groups.all()
  }

  #addSpan(columns: string, { level, first, past }: Span, keys: Keys, groups: FigureGroups): void {
    if (level === 0 && keys.size > keysLookedUp) {
      const rows = `SELECT ${columns}, key_id FROM rollup_quarters WHERE slot = ?`
      for (let slot = first; slot < past; slot++) {
        for (const row of this.#rows(rows, slot)) {
          const entry = keys.get(Number(row.at(-1)))
          if (entry !== undefined) groups.at(slot * quarterMs, entry).addRow(row)
        }
      }
      return
    }
    // Quarters of a key do not lie together: each is looked up.
    const rows =
      level === 0
        ? `WITH RECURSIVE asked (slot) AS (VALUES (?1) UNION ALL SELECT slot + 1 FROM asked WHERE slot + 1 < ?2)
           SELECT ${columns}, q.slot FROM asked
             CROSS JOIN rollup_quarters AS q ON q.slot = asked.slot AND q.key_id = ?3`
        : `SELECT ${columns}, slot FROM rollup_spans WHERE level = ${level} AND slot >= ?1 AND slot < ?2 AND key_id = ?3`
    const widthMs = quartersOf(level) * quarterMs
    for (const [key, entry] of keys) {
      for (let from = first; from < past; from += rowsAtOnce) {
        for (const row of this.#rows(rows, from, Math.min(past, from + rowsAtOnce), key)) {
          groups.at(Number(row.at(-1)) * widthMs, entry).addRow(row)
        }
      }
    }
  }

  #rows(sql: string, ...values: readonly number[]): readonly (readonly unknown[])[] {
    if (this.#isOver()) throw new QueryTooSlowError()
    return this.#statements.all<readonly unknown[]>(sql, ...values)
  }

  /** Counts calls one by one. */
  #addCalls(kind: keyof typeof callsSql, range: TimeRange, counting: Counting): void {
    const { question, groups, entryOf, watermark } = counting
    const ids = [firstIdAt(range[0]), firstIdAt(range[1])] as const
    const slices = kind === 'few_lacking' ? [ids] : this.#idSlices(...ids)
    const condition = wholeCondition(question)
    const sql = `${callsSql[kind]} AND c.id >= ? AND c.id < ?${andSql(condition)}`
    for (const slice of slices) {
      for (const row of this.#statements.all(sql, watermark, ...slice, ...condition.values)) {
        if (++this.#counted % rowsPerLook === 0 && this.#isOver()) throw new QueryTooSlowError()
        const entry = entryOf(row)
        if (entry === null && question.dimension === 'failure_code') continue
        addCall(groups.at(startedAtMs(valueIn(row, 'id') ?? 0), entry).counted, row, question.timesFailed)
      }
    }
  }

  /** Says under which entry a call counts. */
  #entries(question: FigureQuestion, range: TimeRange): (row: FigureRow) => number | null {
    const { dimension, top } = question
    if (dimension === null || (top === undefined && !isEndless(dimension))) return fieldEntry(dimension)
    const key = tagOf(dimension)
    const column = key === null ? columnOf(dimension) : 'tags_id'
    const known = new Map<number, number | null>()
    const entryOf = (value: number | null): number | null => {
      if (value === null || key === null) return value
      return getOrAdd(known, value, () => this.#words.tagIn(value, key))
    }
    const calls = this.#callsOf(column, question, range, entryOf)
    const ranked = [...calls].sort(([, some], [, others]) => others - some).slice(0, top)
    const kept = new Set<number | null>(ranked.map(([entry]) => entry)).add(null)
    return (row) => {
      const entry = entryOf(valueIn(row, column))
      return kept.has(entry) ? entry : otherEntryId
    }
  }

  /** How many calls each entry has. */
  #callsOf(
    column: EntryColumn,
    question: FigureQuestion,
    [fromMs, toMs]: TimeRange,
    entryOf: (value: number) => number | null,
  ): ReadonlyMap<number, number> {
    const condition = wholeCondition(question)
    const index = question.index ?? (column === 'session_id' ? 'calls_in_sessions' : null)
    const sql = `SELECT c.${column}, count(*) FROM calls AS c ${index === null ? 'NOT INDEXED' : `INDEXED BY ${index}`}
      WHERE c.id >= ? AND c.id < ? AND c.${column} IS NOT NULL${andSql(condition)} GROUP BY 1`
    const calls = new Map<number, number>()
    for (const slice of this.#idSlices(firstIdAt(fromMs), firstIdAt(toMs))) {
      const values = [...slice, ...condition.values]
      for (const [value, count] of this.#statements.all<readonly [number, number]>(sql, ...values)) {
        const entry = entryOf(value)
        if (entry !== null) calls.set(entry, (calls.get(entry) ?? 0) + count)
      }
    }
    return calls
  }

  /** Pieces of a range of ids, as far as there are calls. */
  #idSlices(fromId: number, pastId: number): Iterable<readonly [fromId: number, pastId: number]> {
    const range = idsWithCalls(this.#statements, fromId, pastId)
    return range === null ? [] : idSlices(...range, { isOver: this.#isOver })
  }

  /** `null` if calls must be read one by one, as an entry may be among those put together. */
  #keysFor(
    grouping: Grouping,
    { filter, dimension }: FigureQuestion,
    state: RollupState,
    range: TimeRange,
  ): Keys | null {
    const keys = new Map<number, number | null>()
    for (const { id, isOther, values } of keysPassing(this.#statements, grouping, filter)) {
      if (isOther && this.#isUsed(id, state, range)) return null
      const entry = dimension === null ? noId : (values[dimension as FieldDimension] ?? noId)
      keys.set(id, entry === noId ? null : entry)
    }
    return keys
  }

  /** Says if a key holds calls of that time, counted in whole hours. */
  #isUsed(key: number, { coarseUntil }: RollupState, [fromMs, toMs]: TimeRange): boolean {
    const quarters = quartersOf(1)
    const [first, past] = [Math.floor(fromMs / quarterMs), Math.ceil(toMs / quarterMs)]
    const [hourFirst, hourPast] = [Math.floor(first / quarters), Math.ceil(past / quarters)]
    const used = `SELECT 1 FROM rollup_spans WHERE level = 1 AND slot >= ?1 AND slot < ?2 AND key_id = ?5
      UNION ALL SELECT 1 FROM rollup_quarters WHERE slot >= ?3 AND slot < ?4 AND key_id = ?5 LIMIT 1`
    return this.#rows(used, hourFirst, hourPast, Math.max(first, coarseUntil), past, key).length > 0
  }
}

type EntryColumn = Parameters<typeof valueIn>[1]

function columnOf(dimension: CallDimension): EntryColumn {
  return dimension === 'session'
    ? 'session_id'
    : (dimensionFields[dimension as FieldDimension].column as EntryColumn)
}

function fieldEntry(dimension: CallDimension | null): (row: FigureRow) => number | null {
  return dimension === null ? () => null : (row) => entryIn(row, dimension as FieldDimension)
}

function wholeCondition({ filter, extra }: FigureQuestion): CallCondition {
  const ofIds = conditionOf(filter)
  return extra === undefined ? ofIds : bothConditions(ofIds, extra)
}

/** The grouping that tells all that is asked for; `null` if there is none. */
function groupingOf({ filter, dimension, extra, timesFailed }: FigureQuestion): Grouping | null {
  if (timesFailed === true || (extra !== undefined && extra.conditions.length > 0) || isEndless(dimension))
    return null
  const asked = new Set(Object.keys(filter) as Dimension[])
  if (dimension !== null) asked.add(dimension as FieldDimension)
  return groupingFor(asked)
}

function rangeOf(edgesMs: readonly number[]): TimeRange {
  return [edgesMs[0] ?? 0, edgesMs.at(-1) ?? 0]
}

function coverFor({ levels }: Grouping, edgesMs: readonly number[], state: RollupState): Cover {
  // Between edges at odd quarters a half hour would stand alone, and quarters in a row are quicker to read.
  const isByHalves = edgesMs.slice(1, -1).every((edge) => edge % (quartersOf(4) * quarterMs) === 0)
  return coverOf(edgesMs, {
    levels: isByHalves ? levels : levels.filter((level) => level !== 4),
    coarseUntil: state.coarseUntil,
  })
}

/**
 * Folded calls are known by their quarter hour alone, and counted where it begins. A range that ends in the quarter in
 * which its last bucket begins has nothing in that bucket.
 */
function unfoldedEdges(edgesMs: readonly number[], foldedMs: number): readonly number[] {
  if ((edgesMs[0] ?? 0) >= foldedMs) return edgesMs
  const edges = edgesMs.map((edge) => (edge < foldedMs ? Math.floor(edge / quarterMs) * quarterMs : edge))
  const last = Math.max(1, edges.length - 2)
  if (edges.some((edge, index) => index < last && edge === edges[index + 1]))
    throw new FoldedRangeError(foldedMs)
  return edges
}
