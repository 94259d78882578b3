import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { firstIdAt, startedAtMs } from '../call/call-id.ts'
import { FoldedRange } from '../call/folded-range.ts'
import { type IsOver, QueryTooSlow } from '../call/query-too-slow.ts'
import {
  andSql,
  bothConditions,
  type CallCondition,
  conditionOf,
  dimensionColumns,
} from './call-condition.ts'
import { addCall, type FigureRow, figureSources, valueIn } from './call-figures.ts'
import { FigureGroups } from './figure-groups.ts'
import type { FigureGroup, FigureQuestion } from './figure-question.ts'
import { idSlices } from './id-slices.ts'
import { type Dimension, groupingFor, noEntryId, otherEntryId } from './rollup-groupings.ts'
import { coverOfAll, quarterMs, quartersOf, slotStartMs, type Span } from './rollup-spans.ts'
import { figureColumns } from './rollup-table.ts'
import { RowStatements } from './row-statements.ts'

/** Few keys over a long time are looked up one by one; else the quarters are read in a row. */
const keysLookedUp = 8
/** More calls than these that the rollups lack are found by time, as far as that narrows them down. */
const longTail = 20_000
/** The deadline is looked at after so many rows, none of which takes over some 20 µs. */
const rowsPerLook = 256

/** How far the rollups have come. */
interface RollupState {
  readonly watermark: number
  readonly coarseUntil: number
  readonly foldedUntil: number
  readonly lastSeq: number
}

/** Answers questions about sums and percentiles from the rollups, and from the calls that are not in them yet. */
export class FigureReader {
  readonly #database: DatabaseSync
  readonly #isOver: IsOver
  readonly #state: StatementSync
  readonly #keys: StatementSync
  readonly #spans: StatementSync
  readonly #quarters: StatementSync
  /** Each quarter is looked up by its key: they do not lie together. */
  readonly #quartersOfKey: StatementSync
  readonly #statements: RowStatements
  #rows = 0

  constructor(database: DatabaseSync, isOver: IsOver = () => false) {
    this.#database = database
    this.#statements = new RowStatements(database)
    this.#isOver = isOver
    this.#state = this.#statements.get(
      `SELECT watermark_seq, coarse_until, folded_until, (SELECT coalesce(max(seq), 0) FROM calls)
        FROM rollup_state`,
    )
    this.#keys = this.#statements.get(
      'SELECT id, call_type_id, entry_id, outcome_id FROM rollup_keys WHERE grouping_id = ?',
    )
    this.#spans = this.#statements.get(
      `SELECT ${figureColumns}, slot FROM rollup_spans WHERE level = ? AND key_id = ? AND slot >= ? AND slot < ?`,
    )
    this.#quarters = this.#statements.get(
      `SELECT ${figureColumns}, slot, key_id FROM rollup_quarters WHERE slot >= ? AND slot < ?`,
    )
    this.#quartersOfKey = this.#statements.get(
      `WITH RECURSIVE asked (slot) AS (VALUES (?1) UNION ALL SELECT slot + 1 FROM asked WHERE slot + 1 < ?2)
       SELECT ${figureColumns}, q.slot FROM asked
         CROSS JOIN rollup_quarters AS q ON q.slot = asked.slot AND q.key_id = ?3`,
    )
  }

  /** All answers are of one instant. Throws `QueryTooSlow`, and `FoldedRange` where calls would be needed that are gone. */
  ask(questions: readonly FigureQuestion[]): readonly (readonly FigureGroup[])[] {
    this.#database.exec('BEGIN')
    try {
      const [watermark = 0, coarseUntil = 0, foldedUntil = 0, lastSeq = 0] =
        this.#state.get() as unknown as readonly number[]
      const state = { watermark, coarseUntil, foldedUntil, lastSeq }
      return questions.map((question) => this.#ask(question, state))
    } finally {
      this.#database.exec('COMMIT')
    }
  }

  #ask(question: FigureQuestion, state: RollupState): readonly FigureGroup[] {
    const edgesMs = unfoldedEdges(question.edgesMs, state.foldedUntil * quarterMs)
    const groups = new FigureGroups(edgesMs)
    const fromMs = edgesMs[0] ?? 0
    const toMs = edgesMs.at(-1) ?? 0
    const keys = this.#keysFor(question, state, fromMs, toMs)
    if (keys === null) {
      const foldedMs = state.foldedUntil * quarterMs
      if (fromMs < foldedMs) throw new FoldedRange(foldedMs)
      this.#addRange(question, groups, fromMs, toMs, Number.MAX_SAFE_INTEGER)
      return groups.all()
    }
    const { spans, ragged } = coverOfAll(edgesMs, state.coarseUntil)
    for (const span of spans) {
      if (span.level === 0) this.#addQuarters(span, keys, groups)
      else this.#addSpan(span, keys, groups)
    }
    for (const [from, to] of ragged) this.#addRange(question, groups, from, to, state.watermark)
    if (state.lastSeq > state.watermark) this.#addTail(question, groups, fromMs, toMs, state)
    return groups.all()
  }

  #addSpan({ level, first, past }: Span, keys: Keys, groups: FigureGroups): void {
    for (const [key, entry] of keys) {
      for (const row of this.#spans.iterate(level, key, first, past) as Rows) {
        this.#look()
        groups.addRow(slotStartMs(level, Number(row.at(-1))), entry, row)
      }
    }
  }

  #addQuarters({ first, past }: Span, keys: Keys, groups: FigureGroups): void {
    if (keys.size > keysLookedUp) {
      for (const row of this.#quarters.iterate(first, past) as Rows) {
        this.#look()
        const entry = keys.get(Number(row.at(-1)))
        if (entry !== undefined) groups.addRow(slotStartMs(0, Number(row.at(-2))), entry, row)
      }
      return
    }
    for (const [key, entry] of keys) {
      for (const row of this.#quartersOfKey.iterate(first, past, key) as Rows) {
        this.#look()
        groups.addRow(slotStartMs(0, Number(row.at(-1))), entry, row)
      }
    }
  }

  /** Counts calls one by one, up to the one that was written as the `lastSeq`th. */
  #addRange(
    question: FigureQuestion,
    groups: FigureGroups,
    fromMs: number,
    toMs: number,
    lastSeq: number,
  ): void {
    const condition = conditionFor(question)
    const statement = this.#statements.get(
      `SELECT ${callSources} FROM calls AS c NOT INDEXED WHERE c.id >= ? AND c.id < ? AND c.seq <= ?${andSql(condition)}`,
    )
    const [lowest, highest] = this.#extent()
    const from = Math.max(lowest, firstIdAt(fromMs))
    const past = Math.min(highest + 1, firstIdAt(toMs))
    for (const [fromId, pastId] of idSlices(from, past, { isOver: this.#isOver })) {
      this.#addCalls(question, groups, statement.iterate(fromId, pastId, lastSeq, ...condition.values))
    }
  }

  /** Counts the calls that the rollups lack. */
  #addTail(
    question: FigureQuestion,
    groups: FigureGroups,
    fromMs: number,
    toMs: number,
    { watermark, lastSeq }: RollupState,
  ): void {
    const condition = conditionFor(question)
    const isLong = lastSeq - watermark > longTail
    const from = isLong ? 'calls AS c NOT INDEXED' : 'calls AS c INDEXED BY calls_by_seq'
    const statement = this.#statements.get(
      `SELECT ${callSources} FROM ${from} WHERE c.seq > ? AND c.id >= ? AND c.id < ?${andSql(condition)}`,
    )
    if (!isLong) {
      const ids = [firstIdAt(fromMs), firstIdAt(toMs)]
      this.#addCalls(question, groups, statement.iterate(watermark, ...ids, ...condition.values))
      return
    }
    const [lowest, highest] = this.#extent()
    const low = Math.max(lowest, firstIdAt(fromMs))
    const past = Math.min(highest + 1, firstIdAt(toMs))
    for (const ids of idSlices(low, past, { isOver: this.#isOver })) {
      this.#addCalls(question, groups, statement.iterate(watermark, ...ids, ...condition.values))
    }
  }

  #addCalls({ dimension }: FigureQuestion, groups: FigureGroups, rows: Iterable<unknown>): void {
    for (const row of rows as Iterable<FigureRow>) {
      this.#look()
      const entry = dimension === null ? null : valueIn(row, dimensionColumns[dimension])
      if (entry === null && dimension === 'failure_code') continue
      addCall(groups.counted(startedAtMs(valueIn(row, 'id') ?? 0), entry), row)
    }
  }

  /** The first and the last id, 0 and −1 where there is none. */
  #extent(): readonly [number, number] {
    const row = this.#statements.get('SELECT (SELECT min(id) FROM calls), (SELECT max(id) FROM calls)').get()
    const [lowest, highest] = row as unknown as readonly (number | null)[]
    return [lowest ?? 0, highest ?? -1]
  }

  /**
   * The keys that hold the calls that are asked for, with the entry under which each counts; `null` where calls
   * must be read one by one: no grouping tells all of it, or an entry may be among those put together.
   */
  #keysFor(question: FigureQuestion, state: RollupState, fromMs: number, toMs: number): Keys | null {
    const { filter, dimension, extra } = question
    if (extra !== undefined && extra.conditions.length > 0) return null
    const asked = new Set(Object.keys(filter) as Dimension[])
    if (dimension !== null) asked.add(dimension)
    const grouping = groupingFor(asked)
    if (grouping === null) return null
    const keys = new Map<number, number | null>()
    for (const [id = 0, callType, entry, outcome] of this.#keys.iterate(grouping.id) as Iterable<number[]>) {
      const values = { call_type: callType, outcome, ...(grouping.entry && { [grouping.entry]: entry }) }
      const valueOf = (one: Dimension): number => values[one as keyof typeof values] ?? noEntryId
      const isOther = entry === otherEntryId
      const passes = Object.entries(filter).every(
        ([one, allowed]) => (isOther && one === grouping.entry) || allowed.has(valueOf(one as Dimension)),
      )
      if (!passes) continue
      if (isOther && this.#isUsed(id, state, fromMs, toMs)) return null
      const group = dimension === null ? null : valueOf(dimension)
      keys.set(id, group === noEntryId ? null : group)
    }
    return keys
  }

  /** Whether a key holds calls of that time, counted in whole hours. */
  #isUsed(key: number, { coarseUntil }: RollupState, fromMs: number, toMs: number): boolean {
    const level = 1
    const quarters = quartersOf(level)
    const [first, past] = [Math.floor(fromMs / quarterMs), Math.ceil(toMs / quarterMs)]
    const hours = this.#statements.get(
      'SELECT 1 FROM rollup_spans WHERE level = ? AND key_id = ? AND slot >= ? AND slot < ? LIMIT 1',
    )
    if (hours.get(level, key, Math.floor(first / quarters), Math.ceil(past / quarters)) !== undefined)
      return true
    const recent = this.#statements.get(
      'SELECT 1 FROM rollup_quarters WHERE slot >= ? AND slot < ? AND key_id = ? LIMIT 1',
    )
    return recent.get(Math.max(first, coarseUntil), past, key) !== undefined
  }

  #look(): void {
    if (++this.#rows % rowsPerLook === 0 && this.#isOver()) throw new QueryTooSlow()
  }
}

type Keys = ReadonlyMap<number, number | null>
type Rows = Iterable<readonly unknown[]>

const callSources = figureSources.map((source) => `c.${source}`).join(', ')

function conditionFor({ filter, extra }: FigureQuestion): CallCondition {
  const condition = conditionOf(filter)
  return extra === undefined ? condition : bothConditions(condition, extra)
}

/** Folded calls are known by their quarter hour alone. */
function unfoldedEdges(edgesMs: readonly number[], foldedMs: number): readonly number[] {
  if ((edgesMs[0] ?? 0) >= foldedMs) return edgesMs
  const edges = edgesMs.map((edge) => (edge < foldedMs ? Math.floor(edge / quarterMs) * quarterMs : edge))
  if (edges.some((edge, index) => edge === edges[index + 1])) throw new FoldedRange(foldedMs)
  return edges
}
