import { getOrAdd } from '../../lib/get-or-add.ts'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { StoredCall } from '../../call/call-record.ts'
import { startedAtMs } from '../../call/call-id.ts'
import {
  outcomeCodes,
  storedFields,
  usageSourceCodes,
  type WordTable,
  wordTables,
} from '../../call/fields/call-fields.ts'
import {
  type BookedCost,
  type CallPricer,
  type PriceableCall,
  priceableFields,
} from '../../pricing/price-book.ts'
import { hourOf } from '../rollup/time-plan.ts'
import { lastNumber, noteCalls } from '../rollup/unsummed.ts'
import { deleteInterrupted } from './interrupted-calls.ts'
import {
  batchReader,
  type CallBatch,
  callIn,
  estimateAt,
  indexOf,
  notedAt,
  numbersPerCall,
  type Dictionary,
} from './record-batch.ts'
import { inTransaction } from '../sqlite/transaction.ts'
import { RowStatements } from '../sqlite/row-statements.ts'
import { sqliteCode, sqliteCodes } from '../sqlite/sqlite-code.ts'

/** The result of a batch: rows written now or by an earlier try, and calls without a row. */
export interface WriteResult {
  readonly written: number
  readonly dropped: number
  /** Dropped calls whose id another call has. */
  readonly conflicts: number
}

/** Called within each transaction with the numbers that rows of other machines got. */
export type NumberedListener = (firstSeq: number, lastSeq: number) => void

/** Called after each transaction with the calls that became rows, and their costs. */
export type RecordedListener = (calls: readonly StoredCall[]) => void

type Insertion = 'added' | 'there' | 'conflict' | 'impossible'

interface WrittenPart extends Omit<WriteResult, 'written'> {
  /** Index of the first call that was not processed. */
  readonly next: number
  /** Rows for the listener; empty without one. */
  readonly added: readonly StoredCall[]
}

/** Bounds of one transaction, so that no other writer waits for long. */
const mostRows = 500
const mostMs = 8
/** Sets of non-null columns whose INSERT is kept prepared. */
const mostShapes = 32

/** Columns of the cost, filled in row by row where prices are known. */
const { costNanoUsd: costAt, priceSource: sourceAt, priceKey: keyAt, cacheSavedNanoUsd: savedAt } = indexOf
const costIndexes = [costAt, sourceAt, keyAt, savedAt]
const { durationMs: durationAt, inputTokens: inputAt, outputTokens: outputAt } = indexOf
/** Sources and keys of prices whose number is kept. */
const mostLabels = 1000
const priceableIn = batchReader<Omit<PriceableCall, 'startedAtMs'>>(priceableFields)
const addTo = (table: string): string =>
  `INSERT INTO ${table} VALUES (?, ?) ON CONFLICT (minute) DO UPDATE
    SET tokens = min(tokens + excluded.tokens, ${Number.MAX_SAFE_INTEGER})`
const close = 'DELETE FROM open_calls WHERE id = ?'
const microsecondsPerMinute = 60_000_000

/** The source of a column's value: a word's table, the texts of a batch, or the number itself. */
const allColumns = storedFields.map(({ column, kind, table = null }, index) => ({
  index: index + 1,
  name: column,
  table,
  isText: kind === 'text',
}))
type Column = (typeof allColumns)[number]

/** Columns that are null in a whole batch are left out of its INSERT: a bound null costs as much as a number. */
interface Shape {
  readonly columns: readonly Column[]
  /** True if the cost columns follow the others. */
  readonly isPriced: boolean
  readonly insert: StatementSync
  /** Values that are reused for each row. */
  readonly values: (number | string | null)[]
}

/** Writes batches of calls, and with each row its share of the token budget. Idempotent by the calls' ids. */
export class CallWriter {
  readonly #words: Dictionary
  readonly #shapes = new Map<string, Shape>()
  readonly #statements: RowStatements
  /** By table: the entry's id for the number of a word. Sparse; empty again after a rollback. */
  #entryIds = emptyEntryIds()
  #generation = 0
  readonly #pricer: CallPricer | null
  /** Ids of sources and keys of prices, by text; emptied after a rollback. */
  readonly #labelIds = new Map<string, number>()
  readonly #recorded: RecordedListener | null
  readonly #numbered: NumberedListener | null
  readonly #isOwn: boolean
  /** The price of the last inserted call. */
  #cost: BookedCost | null = null

  /** Without a pricer, calls keep their costs. With `numbered`, the calls are those of other machines. */
  constructor(
    database: DatabaseSync,
    words: Dictionary,
    pricer: CallPricer | null = null,
    recorded: RecordedListener | null = null,
    numbered: NumberedListener | null = null,
  ) {
    this.#words = words
    this.#pricer = pricer
    this.#recorded = recorded
    this.#numbered = numbered
    this.#isOwn = numbered === null
    this.#statements = new RowStatements(database)
  }

  /**
   * Writes a batch, whose words must have been accepted. An error undoes the last transaction; within an open
   * transaction, it undoes everything. Throws SQLite's error.
   */
  write(batch: CallBatch): WriteResult {
    if (this.#generation !== this.#words.generation) this.#forgetEntries()
    const shape = this.#shapeOf(batch)
    let next = 0
    let [dropped, conflicts] = [0, 0]
    while (next < batch.count) {
      try {
        const part = inTransaction(this.#statements.database, () => this.#writePart(batch, shape, next))
        next = part.next
        if (part.added.length > 0) this.#recorded?.(part.added)
        dropped += part.dropped
        conflicts += part.conflicts
      } catch (error) {
        this.#forgetEntries()
        throw error
      }
    }
    return { written: batch.count - dropped, dropped, conflicts }
  }

  #writePart(batch: CallBatch, shape: Shape, from: number): WrittenPart {
    const until = Math.min(batch.count, from + mostRows)
    const deadline = performance.now() + mostMs
    const tokensByMinute = new Map<number, number>()
    const estimatesByMinute = new Map<number, number>()
    const seqBefore = lastNumber(this.#statements)
    let seq = seqBefore
    let [dropped, conflicts] = [0, 0]
    const added: StoredCall[] = []
    const hours = new Set<number>()
    let row = from
    for (; row < until && (row % 32 !== 0 || row === from || performance.now() < deadline); row++) {
      const inserted = this.#insert(batch, shape, row * numbersPerCall, seq + 1)
      if (batch.numbers[row * numbersPerCall + notedAt] === 1)
        this.#statements.run(close, batch.numbers[row * numbersPerCall] ?? 0)
      if (inserted === 'added') {
        seq++
        hours.add(hourOf(batch.numbers[row * numbersPerCall] ?? 0))
        if (this.#recorded !== null) added.push(this.#asRecorded(batch, row * numbersPerCall))
        // Imported calls, and those of other machines, use none of this gateway's budget.
        if (this.#isOwn && Number.isNaN(batch.numbers[row * numbersPerCall + indexOf.source]))
          countTokens(batch.numbers, row * numbersPerCall, tokensByMinute, estimatesByMinute)
      } else if (inserted !== 'there') {
        dropped++
        if (inserted === 'conflict') conflicts++
      }
    }
    for (const hour of hours) noteCalls(this.#statements, hour, seqBefore)
    for (const [minute, tokens] of tokensByMinute)
      this.#statements.run(addTo('budget_minutes'), minute, tokens)
    for (const [minute, tokens] of estimatesByMinute)
      this.#statements.run(addTo('budget_estimates'), minute, tokens)
    if (seq > seqBefore) this.#numbered?.(seqBefore + 1, seq)
    return { next: row, dropped, conflicts, added }
  }

  #asRecorded(batch: CallBatch, base: number): StoredCall {
    const call = callIn(batch, base, this.#words)
    const cost = this.#cost
    if (cost === null) return call
    const { costNanoUsd, cacheSavedNanoUsd, source, key } = cost
    return { ...call, costNanoUsd, cacheSavedNanoUsd, priceSource: source, priceKey: key }
  }

  #insert(batch: CallBatch, shape: Shape, base: number, seq: number): Insertion {
    const { numbers, texts } = batch
    const { values } = shape
    values[0] = numbers[base] ?? null
    values[1] = seq
    let at = 2
    for (const { index, table, isText } of shape.columns) {
      const value = numbers[base + index] ?? Number.NaN
      if (Number.isNaN(value)) values[at++] = null
      else if (table !== null) values[at++] = this.#entryId(table, value)
      else values[at++] = isText ? (texts[value] ?? null) : value
    }
    this.#cost = null
    if (shape.isPriced) this.#fillCost(batch, base, values, at)
    try {
      if (shape.insert.run(...values).changes === 1) return 'added'
      const meeting = this.#classifyExisting(numbers, base)
      if (meeting !== 'interrupted') return meeting
      if (!deleteInterrupted(this.#statements, numbers[base] ?? 0, this.#isOwn)) return 'there'
      shape.insert.run(...values)
      return 'added'
    } catch (error) {
      if (isRowsOwnFault(error)) return 'impossible'
      throw error
    }
  }

  /** The row with a call's id: the call's own, its row `interrupted`, or another call's. */
  #classifyExisting(numbers: Float64Array, base: number): 'there' | 'interrupted' | 'conflict' {
    const [instanceId, outcomeId, durationUs] =
      this.#statements.first(
        'SELECT instance_id, outcome_id, duration_us FROM calls WHERE id = ?',
        numbers[base] ?? 0,
      ) ?? []
    if (instanceId !== this.#entryId('instances', numbers[base + indexOf.instance] ?? Number.NaN))
      return 'conflict'
    const outcome = numbers[base + indexOf.outcome]
    if (outcome === outcomeCodes.interrupted) return 'there'
    if (outcomeId === outcomeCodes.interrupted) return 'interrupted'
    const isSame = outcomeId === outcome && (durationUs ?? 0) === numberAt(numbers, base + durationAt)
    return isSame ? 'there' : 'conflict'
  }

  /** The call's own cost, from its upstream or an import; else the cost by the prices. */
  #fillCost(batch: CallBatch, base: number, values: (number | string | null)[], at: number): void {
    const { numbers } = batch
    const own = orNull(numbers[base + costAt])
    const cost = own === null ? this.#costAt(batch, base) : null
    this.#cost = cost
    values[at] = cost === null ? own : cost.costNanoUsd
    values[at + 1] = cost === null ? this.#wordAt(numbers, base + sourceAt) : this.#labelId(cost.source)
    values[at + 2] = cost === null ? this.#wordAt(numbers, base + keyAt) : this.#labelId(cost.key)
    values[at + 3] = cost === null ? orNull(numbers[base + savedAt]) : cost.cacheSavedNanoUsd
  }

  /** Null if the call has no usage, or no price is known. */
  #costAt({ numbers, texts }: CallBatch, base: number): BookedCost | null {
    if (this.#pricer === null || !isUsed(numbers, base)) return null
    try {
      const call = priceableIn(numbers, base, texts, this.#words)
      return this.#pricer.costOf({ ...call, startedAtMs: startedAtMs(numbers[base] ?? 0) })
    } catch {
      // A fault in the prices must not lose the row.
      return null
    }
  }

  #wordAt(numbers: Float64Array, at: number): number | null {
    const word = numbers[at] ?? Number.NaN
    return Number.isNaN(word) ? null : this.#entryId('labels', word)
  }

  #labelId(text: string): number {
    if (this.#labelIds.size === mostLabels && !this.#labelIds.has(text)) this.#labelIds.clear()
    return getOrAdd(this.#labelIds, text, () => this.#idOf('labels', text))
  }

  #entryId(table: WordTable, word: number): number {
    return (this.#entryIds[table][word] ??= this.#idOf(table, this.#words.word(word)))
  }

  #idOf(table: WordTable, text: string): number {
    const id = this.#statements.wordId(table, text)
    if (table === 'tag_sets') {
      const add = 'INSERT INTO tags_in_sets VALUES (?, ?) ON CONFLICT DO NOTHING'
      for (const tag of text.split(',')) this.#statements.run(add, this.#statements.wordId('tags', tag), id)
    }
    return id
  }

  #forgetEntries(): void {
    this.#entryIds = emptyEntryIds()
    this.#labelIds.clear()
    this.#generation = this.#words.generation
  }

  #shapeOf(batch: CallBatch): Shape {
    const isPriced = this.#pricer !== null && mayCost(batch)
    const columns = allColumns.filter(({ index }) => {
      if (isPriced && costIndexes.includes(index)) return false
      let at = index
      while (at < batch.numbers.length && Number.isNaN(batch.numbers[at])) at += numbersPerCall
      return at < batch.numbers.length
    })
    const costs = isPriced ? costIndexes.map((index) => allColumns[index - 1]?.name) : []
    const names = ['id', 'seq', ...columns.map(({ name }) => name), ...costs]
    const key = names.join(', ')
    if (this.#shapes.size === mostShapes && !this.#shapes.has(key)) this.#shapes.clear()
    const marks = names.map(() => '?').join(', ')
    return getOrAdd(this.#shapes, key, () => ({
      columns,
      isPriced,
      insert: this.#statements.database.prepare(
        `INSERT INTO calls (${key}) VALUES (${marks}) ON CONFLICT (id) DO NOTHING`,
      ),
      values: names.map(() => null),
    }))
  }
}

/** Adds tokens to the minute in which the call ended, or began if it was interrupted. */
function countTokens(
  numbers: Float64Array,
  base: number,
  tokensByMinute: Map<number, number>,
  estimatesByMinute: Map<number, number>,
): void {
  const tokens = numberAt(numbers, base + inputAt) + numberAt(numbers, base + outputAt)
  const estimated = numberAt(numbers, base + estimateAt)
  if (tokens + estimated === 0) return
  const startedAtUs = startedAtMs(numberAt(numbers, base)) * 1000
  const minute = Math.floor((startedAtUs + numberAt(numbers, base + durationAt)) / microsecondsPerMinute)
  if (tokens > 0) tokensByMinute.set(minute, (tokensByMinute.get(minute) ?? 0) + tokens)
  if (estimated > 0) estimatesByMinute.set(minute, (estimatesByMinute.get(minute) ?? 0) + estimated)
}

function numberAt(numbers: Float64Array, at: number): number {
  const value = numbers[at] ?? 0
  return Number.isNaN(value) ? 0 : value
}

function orNull(value: number = Number.NaN): number | null {
  return Number.isNaN(value) ? null : value
}

/** True if a row breaks a rule of its table: the other rows must still be written. */
function isRowsOwnFault(error: unknown): boolean {
  const code = sqliteCode(error)
  return code === sqliteCodes.constraint || code === sqliteCodes.mismatch || code === sqliteCodes.tooBig
}

function emptyEntryIds(): Readonly<Record<WordTable, number[]>> {
  return Object.fromEntries(wordTables.map((table) => [table, []])) as unknown as Record<WordTable, number[]>
}

function mayCost({ numbers }: CallBatch): boolean {
  for (let base = 0; base < numbers.length; base += numbersPerCall) if (isUsed(numbers, base)) return true
  return false
}

/** True if a call has its usage. */
function isUsed(numbers: Float64Array, base: number): boolean {
  return (
    numbers[base + indexOf.usageSource] !== usageSourceCodes.none ||
    !Number.isNaN(numbers[base + indexOf.searchUnits])
  )
}
