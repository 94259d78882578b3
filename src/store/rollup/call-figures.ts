import { getOrAdd } from '../../lib/get-or-add.ts'
import { firstIdAt, startedAtMs } from '../../call/call-id.ts'
import {
  firstFailedOutcome,
  type NamedField,
  outcomeCodes,
  storedFields,
  usageSourceCodes,
} from '../../call/call-fields.ts'
import { type FieldDimension, callDimensions } from '../../call/call-question.ts'
import { Figures, measureNames, type SumColumn, sumColumns, tokenColumns } from './rollup-figures.ts'
import type { Row, RowStatements } from '../sqlite/row-statements.ts'
import { quarterMs } from './rollup-spans.ts'

/** The columns of a call that its figures are made of, in the order in which they are read. */
export const figureSources = [
  'seq',
  'id',
  'call_type_id',
  'outcome_id',
  'model_id',
  'client_id',
  'endpoint_id',
  'status',
  'failure_code_id',
  'session_id',
  'upstream_name_id',
  'tags_id',
  ...tokenColumns,
  'cost_nano_usd',
  'cache_saved_nano_usd',
  'usage_source_id',
  'search_units',
  ...measureNames,
] as const

type Source = (typeof figureSources)[number]

/** From the request's head to the first content: the one source that is no column of `calls`. */
export const ttftTotalSql = (row: string): string =>
  `${row}.receive_us + ${row}.queue_us + coalesce(${row}.retry_wait_us, 0) + ${row}.ttft_us`

/** {@link figureSources} as the columns of a SELECT, of the table or alias `row`. */
export function figureSourceList(row: string = 'calls'): string {
  return figureSources
    .map((source) => (source === 'ttft_total_us' ? ttftTotalSql(row) : `${row}.${source}`))
    .join(', ')
}

/** A row of {@link figureSources}. */
export type FigureRow = Row

const offsets = offsetsOf(figureSources)
const sumOffsets = offsetsOf(sumColumns)

function offsetsOf<Name extends string>(names: readonly Name[]): Record<Name, number> {
  return Object.fromEntries(names.map((name, offset) => [name, offset])) as Record<Name, number>
}

export function valueIn(row: FigureRow, source: Source): number | null {
  return row[offsets[source]] ?? null
}

/** The fields of calls by which they can be told apart. */
export const dimensionFields = Object.fromEntries(
  storedFields
    .filter(({ name }) => callDimensions.some((each) => each === name))
    .map((field) => [field.name, field]),
) as unknown as Readonly<Record<FieldDimension, NamedField>>

/** The code, the status or the word's number that a call has there. */
export function entryIn(call: FigureRow, dimension: FieldDimension): number | null {
  return valueIn(call, dimensionFields[dimension].column as Source)
}

/** Counts one call: its times if it went well, or `isTimed`. */
export function addCall(
  figures: Figures,
  row: FigureRow,
  isTimed: boolean = valueIn(row, 'outcome_id') === outcomeCodes.ok,
): void {
  addSums(figures, row, 1)
  if (!isTimed) return
  for (const measure of measureNames) {
    const value = valueIn(row, measure)
    if (value !== null) figures.spreads[measure].add(value)
  }
}

/** Counts one call `times` over, −1 to take it out, in the sums alone. */
export function addSums({ sums }: Figures, row: FigureRow, times: 1 | -1): void {
  const outcome = valueIn(row, 'outcome_id')
  const add = (column: SumColumn, value: number): void => {
    sums[sumOffsets[column]] = (sums[sumOffsets[column]] ?? 0) + times * value
  }
  add('calls', 1)
  if (outcome !== null && outcome >= firstFailedOutcome) add('errors', 1)
  if (outcome === outcomeCodes.client_disconnected) add('left_calls', 1)
  for (const column of tokenColumns) add(column, valueIn(row, column) ?? 0)
  add('cache_saved_nano_usd', valueIn(row, 'cache_saved_nano_usd') ?? 0)
  const cost = valueIn(row, 'cost_nano_usd')
  if (cost !== null) {
    add('cost_nano_usd', cost)
    add('priced_calls', 1)
  } else if (isUsed(row)) add('unpriced_calls', 1)
}

/** As `isUnpriced` has it. */
function isUsed(row: FigureRow): boolean {
  return valueIn(row, 'usage_source_id') !== usageSourceCodes.none || valueIn(row, 'search_units') !== null
}

/** Figures of calls that every grouping files under the same keys. */
export interface CallCell {
  readonly quarter: number
  /** One of them. */
  readonly call: FigureRow
  readonly figures: Figures
}

/** Calls added up by cells. */
export function cellsOf(calls: readonly FigureRow[]): Iterable<CallCell> {
  const cells = new CallCells()
  for (const call of calls) addCall(cells.figuresFor(call), call)
  return cells.all()
}

/** The same of calls that began from one quarter to another and are among the first `watermark` ones. */
export function cellsWithin(
  statements: RowStatements,
  [first, past]: readonly [number, number],
  watermark: number,
): Iterable<CallCell> {
  const calls = statements.all(
    `SELECT ${figureSourceList()} FROM calls WHERE id >= ? AND id < ? AND +seq <= ?`,
    firstIdAt(first * quarterMs),
    firstIdAt(past * quarterMs),
    watermark,
  )
  return cellsOf(calls)
}

/** Cells in which calls come together, so that the keys of each are looked up once. */
export class CallCells {
  readonly #cells = new Map<string, CallCell>()

  /** The figures of the cell that a call belongs to. */
  figuresFor(call: FigureRow): Figures {
    const quarter = Math.floor(startedAtMs(valueIn(call, 'id') ?? 0) / quarterMs)
    // All that a grouping looks at. In one piece, as this is done for every call.
    const [, , type, outcome, model, client, endpoint, status, failure] = call
    const name = `${quarter} ${type} ${outcome} ${model} ${client} ${endpoint} ${status} ${failure}`
    return getOrAdd(this.#cells, name, () => ({ quarter, call, figures: new Figures() })).figures
  }

  all(): Iterable<CallCell> {
    return this.#cells.values()
  }
}
