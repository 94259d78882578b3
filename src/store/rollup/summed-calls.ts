import { getOrAdd } from '../../lib/get-or-add.ts'
import { startedAtMs } from '../../call/call-id.ts'
import { ttftTotalSql } from '../../call/fields/shown-sql.ts'
import { firstFailedOutcome, outcomeCodes, usageSourceCodes } from '../../call/fields/call-fields.ts'
import { quarterMs } from './time-plan.ts'
import { CallSums, measureNames, type SumColumn, sumColumns, tokenColumns } from './call-sums.ts'
import type { Row } from '../sqlite/row-statements.ts'
import { dimensionFields, type SumDimension } from './groupings.ts'

/** The columns from which sums are computed, in the order of reading. */
export const summedColumns = [
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

type Source = (typeof summedColumns)[number]

/** {@link summedColumns} as the columns of a SELECT, of the table or alias `row`. */
export function summedColumnList(row: string = 'calls'): string {
  return summedColumns
    .map((source) => (source === 'ttft_total_us' ? ttftTotalSql(row) : `${row}.${source}`))
    .join(', ')
}

/** A row of {@link summedColumns}. */
export type SummedCall = Row

const offsets = offsetsOf(summedColumns)
const sumOffsets = offsetsOf(sumColumns)

function offsetsOf<Name extends string>(names: readonly Name[]): Record<Name, number> {
  return Object.fromEntries(names.map((name, offset) => [name, offset])) as Record<Name, number>
}

/** The value in a column of {@link summedColumns}; null without one. */
export function valueIn(row: SummedCall, source: Source): number | null {
  return row[offsets[source]] ?? null
}

/** The code, status or word number of a call in a dimension. */
export function valueOf(call: SummedCall, dimension: SumDimension): number | null {
  return valueIn(call, dimensionFields[dimension].column as Source)
}

/** Adds one call: its wait for a slot, and its other times if it succeeded or `isTimed` is true. */
export function addCall(
  sums: CallSums,
  row: SummedCall,
  isTimed: boolean = valueIn(row, 'outcome_id') === outcomeCodes.ok,
): void {
  addTotals(sums, row)
  const { distributions } = sums
  for (const measure of measureNames) {
    // Failed calls waited for a slot, too.
    if (!isTimed && measure !== 'queue_us') continue
    const value = valueIn(row, measure)
    if (value !== null) distributions[measure].add(value)
  }
}

function addTotals({ totals }: CallSums, row: SummedCall): void {
  const outcome = valueIn(row, 'outcome_id')
  const add = (column: SumColumn, value: number): void => {
    totals[sumOffsets[column]] = (totals[sumOffsets[column]] ?? 0) + value
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

/** True if a call has usage, by the same rule as `isUnpriced`. */
function isUsed(row: SummedCall): boolean {
  return valueIn(row, 'usage_source_id') !== usageSourceCodes.none || valueIn(row, 'search_units') !== null
}

/** Sums of calls of one quarter hour with the same key in every grouping. */
interface CallCell {
  /** Quarter hours since 1970 (UTC). */
  readonly quarterHour: number
  /** A call of the cell, for its key. */
  readonly call: SummedCall
  readonly sums: CallSums
}

export type CallCells = Map<string, CallCell>

/** Adds a call to its cell. The key of the cell is looked up once, for all of its calls. */
export function collectCall(cells: CallCells, call: SummedCall): void {
  const quarterHour = Math.floor(startedAtMs(valueIn(call, 'id') ?? 0) / quarterMs)
  // All sumDimensions, as one destructuring, because this runs for every call.
  const [, , type, outcome, model, client, endpoint, status, failure, , upstream, tags] = call
  const name = `${quarterHour} ${type} ${outcome} ${model} ${client} ${endpoint} ${status} ${failure} ${upstream} ${tags}`
  addCall(getOrAdd(cells, name, () => ({ quarterHour, call, sums: new CallSums() })).sums, call)
}
