import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { firstIdAt, startedAtMs } from '../../call/call-id.ts'
import { FoldedRange } from '../../call/folded-range.ts'
import { type IsOver, QueryTooSlow } from '../../call/query-too-slow.ts'
import {
  andSql,
  bothConditions,
  type CallCondition,
  conditionOf,
  dimensionColumns,
} from './call-condition.ts'
import { addCall, type FigureRow, figureSourceList, valueIn } from '../rollup/call-figures.ts'
import { FigureGroups } from './figure-groups.ts'
import type { FigureGroup, FigureQuestion } from './figure-question.ts'
import { idSlices } from './id-slices.ts'
import {
  type Dimension,
  entriesOfPair,
  type Grouping,
  groupingFor,
  halvesGroupingId,
  noEntryId,
  otherEntryId,
} from '../rollup/rollup-groupings.ts'
import {
  type Cover,
  coverOfAll,
  halfLevel,
  quarterMs,
  quartersOf,
  slotStartMs,
  type Span,
} from '../rollup/rollup-spans.ts'
import { inOneInstant } from './one-instant.ts'
import { figureColumns } from '../rollup/rollup-table.ts'
import { RowStatements } from '../sqlite/row-statements.ts'

/** Few keys over a long time are looked up one by one; else the quarters are read in a row. */
const keysLookedUp = 8
/** More calls than these that the rollups lack are found by time, as far as that narrows them down. */
const longTail = 20_000
/** The deadline is looked at after so many rows, none of which takes over some 20 µs. */
const rowsPerLook = 256
/** Of the rollups, a few microseconds each. */
const rowsAtOnce = 1000

/** How far the rollups have come. */
interface RollupState {
  readonly watermark: number
  readonly coarseUntil: number
  readonly foldedUntil: number
  /** Half hours, and what is held by hours alone, are complete from this quarter on. */
  readonly heldFrom: number
  readonly lastSeq: number
}

/** Statements that read the rollups. */
interface Reads {
  readonly spans: StatementSync
  readonly quarters: StatementSync
  /** Each quarter is looked up by its key: they do not lie together. */
  readonly quartersOfKey: StatementSync
}

/** Answers questions about sums and percentiles from the rollups, and from the calls that are not in them yet. */
export class FigureReader {
  readonly #database: DatabaseSync
  readonly #isOver: IsOver
  readonly #state: StatementSync
  readonly #keys: StatementSync
  readonly #whole: Reads
  readonly #sumsOnly: Reads
  readonly #statements: RowStatements
  #counted = 0

  constructor(database: DatabaseSync, isOver: IsOver = () => false) {
    this.#database = database
    this.#statements = new RowStatements(database)
    this.#isOver = isOver
    this.#state = database.prepare(
      'SELECT *, (SELECT coalesce(max(seq), 0) FROM calls) AS last_seq FROM rollup_state',
    )
    this.#keys = this.#statements.get(
      'SELECT id, call_type_id, entry_id, outcome_id FROM rollup_keys WHERE grouping_id = ?',
    )
    this.#whole = this.#reads('spreads')
    this.#sumsOnly = this.#reads('NULL')
  }

  /** `spreads` is what is read in their place. */
  #reads(spreads: string): Reads {
    const columns = figureColumns.replace('spreads', spreads)
    return {
      spans: this.#statements.get(
        `SELECT ${columns}, slot FROM rollup_spans WHERE level = ? AND key_id = ? AND slot >= ? AND slot < ?`,
      ),
      quarters: this.#statements.get(
        `SELECT ${columns}, slot, key_id FROM rollup_quarters WHERE slot >= ? AND slot < ?`,
      ),
      quartersOfKey: this.#statements.get(
        `WITH RECURSIVE asked (slot) AS (VALUES (?1) UNION ALL SELECT slot + 1 FROM asked WHERE slot + 1 < ?2)
         SELECT ${columns}, q.slot FROM asked
           CROSS JOIN rollup_quarters AS q ON q.slot = asked.slot AND q.key_id = ?3`,
      ),
    }
  }

  /** All answers are of one instant. Throws `QueryTooSlow`, and `FoldedRange` where calls would be needed that are gone. */
  ask(questions: readonly FigureQuestion[]): readonly (readonly FigureGroup[])[] {
    return inOneInstant(this.#database, () => {
      const row = this.#state.get()
      const state = {
        watermark: Number(row?.['watermark_seq']),
        coarseUntil: Number(row?.['coarse_until']),
        foldedUntil: Number(row?.['folded_until']),
        // Until a writer brings the schema up to date, there is no such column.
        heldFrom: Number(row?.['held_from'] ?? Number.POSITIVE_INFINITY),
        lastSeq: Number(row?.['last_seq']),
      }
      return questions.map((question) => this.#ask(question, state))
    })
  }

  #ask(question: FigureQuestion, state: RollupState): readonly FigureGroup[] {
    const edgesMs = unfoldedEdges(question.edgesMs, state.foldedUntil * quarterMs)
    const groups = new FigureGroups(edgesMs)
    const fromMs = edgesMs[0] ?? 0
    const toMs = edgesMs.at(-1) ?? 0
    const grouping = groupingOf(question)
    const keys = grouping === null ? null : this.#keysFor(grouping, question, state, fromMs, toMs)
    const { spans, ragged } =
      grouping === null || keys === null
        ? { spans: [], ragged: [[fromMs, toMs] as const] }
        : coverFor(grouping, edgesMs, state)
    const foldedMs = state.foldedUntil * quarterMs
    if (ragged.some(([from]) => from < foldedMs)) throw new FoldedRange(foldedMs)
    const reads = question.isSumsOnly === true ? this.#sumsOnly : this.#whole
    for (const span of spans) {
      if (span.level === 0) this.#addQuarters(reads, span, keys ?? noKeys, groups)
      else this.#addSpan(reads, span, keys ?? noKeys, groups)
    }
    for (const [from, to] of ragged) this.#addRange(question, groups, from, to, state.watermark)
    if (state.lastSeq > state.watermark) this.#addTail(question, groups, fromMs, toMs, state)
    return groups.all()
  }

  #addSpan({ spans }: Reads, { level, first, past }: Span, keys: Keys, groups: FigureGroups): void {
    for (const [key, entry] of keys) {
      for (const [from, to] of pieces(first, past, rowsAtOnce)) {
        for (const row of this.#rows(spans, level, key, from, to)) {
          groups.addRow(slotStartMs(level, Number(row.at(-1))), entry, row)
        }
      }
    }
  }

  #addQuarters(
    { quarters, quartersOfKey }: Reads,
    { first, past }: Span,
    keys: Keys,
    groups: FigureGroups,
  ): void {
    if (keys.size > keysLookedUp) {
      for (const [from, to] of pieces(first, past, 1)) {
        for (const row of this.#rows(quarters, from, to)) {
          const entry = keys.get(Number(row.at(-1)))
          if (entry !== undefined) groups.addRow(slotStartMs(0, Number(row.at(-2))), entry, row)
        }
      }
      return
    }
    for (const [key, entry] of keys) {
      for (const [from, to] of pieces(first, past, rowsAtOnce)) {
        for (const row of this.#rows(quartersOfKey, from, to, key)) {
          groups.addRow(slotStartMs(0, Number(row.at(-1))), entry, row)
        }
      }
    }
  }

  /** All at once: a row costs half of what it does one by one. */
  #rows(statement: StatementSync, ...values: readonly number[]): Rows {
    if (this.#isOver()) throw new QueryTooSlow()
    return statement.all(...values) as unknown as Rows
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
   * must be read one by one, as an entry may be among those put together.
   */
  #keysFor(
    grouping: Grouping,
    { filter, dimension }: FigureQuestion,
    state: RollupState,
    fromMs: number,
    toMs: number,
  ): Keys | null {
    const keys = new Map<number, number | null>()
    for (const [id = 0, callType, entry, outcome] of this.#keys.iterate(grouping.id) as Iterable<number[]>) {
      const isOther = entry === otherEntryId
      const values = { call_type: callType, outcome, ...entriesOf(grouping, entry) }
      const valueOf = (one: Dimension): number => values[one] ?? noEntryId
      const passes = Object.entries(filter).every(
        ([one, allowed]) =>
          (isOther && (one === grouping.entry || one === grouping.second)) ||
          allowed.has(valueOf(one as Dimension)),
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
    if (++this.#counted % rowsPerLook === 0 && this.#isOver()) throw new QueryTooSlow()
  }
}

type Keys = ReadonlyMap<number, number | null>
type Rows = readonly (readonly unknown[])[]

const noKeys: Keys = new Map()

/** The grouping that tells all that is asked for; `null` where there is none. */
function groupingOf({ filter, dimension, extra }: FigureQuestion): Grouping | null {
  if (extra !== undefined && extra.conditions.length > 0) return null
  const asked = new Set(Object.keys(filter) as Dimension[])
  if (dimension !== null) asked.add(dimension)
  return groupingFor(asked)
}

/** What a key of a grouping stands for. */
function entriesOf({ entry, second }: Grouping, id: number = noEntryId): Partial<Record<Dimension, number>> {
  if (entry === null) return {}
  if (second === undefined) return { [entry]: id }
  const [entryId, secondId] = entriesOfPair(id)
  return { [entry]: entryId, [second]: secondId }
}

function coverFor(grouping: Grouping, edgesMs: readonly number[], state: RollupState): Cover {
  const { coarseUntil, heldFrom } = state
  if (grouping.second !== undefined) {
    const [fromMs, toMs] = [edgesMs[0] ?? 0, edgesMs.at(-1) ?? 0]
    const heldFromMs = Math.min(toMs, Math.max(fromMs, heldFrom * quarterMs))
    const held = coverOfAll(
      edgesMs.map((edge) => Math.max(edge, heldFromMs)),
      { coarseUntil, isHourly: true },
    )
    return heldFromMs === fromMs ? held : { ...held, ragged: [[fromMs, heldFromMs], ...held.ragged] }
  }
  // Between edges at odd quarters a half hour would stand alone, and quarters in a row are quicker to read.
  const isByHalves = edgesMs.slice(1, -1).every((edge) => edge % (halfLevel.quarters * quarterMs) === 0)
  const hasHalves = grouping.id === halvesGroupingId && isByHalves
  return coverOfAll(edgesMs, hasHalves ? { coarseUntil, halvesFrom: heldFrom } : { coarseUntil })
}

const callSources = figureSourceList('c')

function conditionFor({ filter, extra }: FigureQuestion): CallCondition {
  const condition = conditionOf(filter)
  return extra === undefined ? condition : bothConditions(condition, extra)
}

/** From the first slot to the last in pieces of that width. */
function* pieces(first: number, past: number, width: number): Generator<readonly [from: number, to: number]> {
  for (let from = first; from < past; from += width) yield [from, Math.min(past, from + width)]
}

/**
 * Folded calls are known by their quarter hour alone, and counted where it begins. A range that ends in the quarter in
 * which its last bucket begins has nothing in that bucket.
 */
function unfoldedEdges(edgesMs: readonly number[], foldedMs: number): readonly number[] {
  if ((edgesMs[0] ?? 0) >= foldedMs) return edgesMs
  const edges = edgesMs.map((edge) => (edge < foldedMs ? Math.floor(edge / quarterMs) * quarterMs : edge))
  const last = Math.max(1, edges.length - 2)
  if (edges.some((edge, index) => index < last && edge === edges[index + 1])) throw new FoldedRange(foldedMs)
  return edges
}
