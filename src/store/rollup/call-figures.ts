import { getOrAdd } from '../../lib/get-or-add.ts'
import { startedAtMs } from '../../call/call-id.ts'
import { ttftTotalSql } from '../../call/fields/shown-sql.ts'
import { firstFailedOutcome, outcomeCodes, usageSourceCodes } from '../../call/fields/call-fields.ts'
import { quarterMs } from './time-cover.ts'
import { Figures, measureNames, type SumColumn, sumColumns, tokenColumns } from './rollup-figures.ts'
import type { Row } from '../sqlite/row-statements.ts'
import { type SumDimension, sumFields } from './groupings.ts'

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

/** The code, the status or the word's number that a call has there. */
export function valueOf(call: FigureRow, dimension: SumDimension): number | null {
  return valueIn(call, sumFields[dimension].column as Source)
}

/** Counts one call: its wait for a slot, and its other times if it went well, or `isTimed`. */
export function addCall(
  figures: Figures,
  row: FigureRow,
  isTimed: boolean = valueIn(row, 'outcome_id') === outcomeCodes.ok,
): void {
  addSums(figures, row)
  for (const measure of measureNames) {
    // Those that waited in vain waited, too.
    if (!isTimed && measure !== 'queue_us') continue
    const value = valueIn(row, measure)
    if (value !== null) figures.distributions[measure].add(value)
  }
}

function addSums({ sums }: Figures, row: FigureRow): void {
  const outcome = valueIn(row, 'outcome_id')
  const add = (column: SumColumn, value: number): void => {
    sums[sumOffsets[column]] = (sums[sumOffsets[column]] ?? 0) + value
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

/** Figures of calls of one quarter hour that no grouping tells apart. */
export interface CallCell {
  /** Since 1970. */
  readonly quarter: number
  /** One of the calls. */
  readonly call: FigureRow
  readonly figures: Figures
}

/** Calls as they come together, so that the keys of many are looked up once. */
export class CallCells {
  readonly #cells = new Map<string, CallCell>()

  add(call: FigureRow): void {
    const quarter = Math.floor(startedAtMs(valueIn(call, 'id') ?? 0) / quarterMs)
    // All sumDimensions. In one piece, as this is done for every call.
    const [, , type, outcome, model, client, endpoint, status, failure, , upstream, tags] = call
    const name = `${quarter} ${type} ${outcome} ${model} ${client} ${endpoint} ${status} ${failure} ${upstream} ${tags}`
    addCall(getOrAdd(this.#cells, name, () => ({ quarter, call, figures: new Figures() })).figures, call)
  }

  all(): Iterable<CallCell> {
    return this.#cells.values()
  }
}
