import { firstFailedOutcome, outcomeCodes, usageSourceCodes } from '../../call/call-fields.ts'
import { type Figures, type MeasureName, measureNames, type SumColumn, sumColumns } from './rollup-figures.ts'
import { type EntryDimension, type Grouping, noEntryId, pairId } from './rollup-groupings.ts'

const keyColumns = [
  'seq',
  'id',
  'call_type_id',
  'outcome_id',
  'model_id',
  'client_id',
  'endpoint_id',
  'status',
  'failure_code_id',
] as const
const tokenColumns = [
  'input_tokens',
  'output_tokens',
  'cached_input_tokens',
  'cache_write_tokens',
  'reasoning_tokens',
  'total_tokens',
] as const

type Source =
  | (typeof keyColumns)[number]
  | (typeof tokenColumns)[number]
  | 'cost_nano_usd'
  | 'usage_source_id'
  | MeasureName

/** What of a call its figures are made of, in the order in which it is read. */
export const figureSources: readonly Source[] = [
  ...keyColumns,
  ...tokenColumns,
  'cost_nano_usd',
  'usage_source_id',
  ...measureNames,
]

/** What follows from columns of `calls`; all else is one. From the request's head to the first content. */
export const ttftTotalSql = (row: string): string =>
  `${row}.receive_us + ${row}.queue_us + coalesce(${row}.retry_wait_us, 0) + ${row}.ttft_us`

/** {@link figureSources} as the columns of a SELECT, of the table or alias `row`. */
export function figureSourceList(row: string = 'calls'): string {
  return figureSources
    .map((source) => (source === 'ttft_total_us' ? ttftTotalSql(row) : `${row}.${source}`))
    .join(', ')
}

/** A row of {@link figureSources}. */
export type FigureRow = readonly (number | null)[]

const places = Object.fromEntries(figureSources.map((name, place) => [name, place])) as Record<Source, number>
const sums = Object.fromEntries(sumColumns.map((name, place) => [name, place])) as Record<SumColumn, number>

/** Where a call holds what a grouping files it under. */
const entrySources = {
  model: 'model_id',
  client: 'client_id',
  endpoint: 'endpoint_id',
  status: 'status',
  failure_code: 'failure_code_id',
} as const satisfies Record<EntryDimension, Source>

/** What a grouping files a call under; `undefined` where it leaves the call out. */
export function entryOf(call: FigureRow, { entry, second }: Grouping): number | undefined {
  if (entry === null) return noEntryId
  const id = valueIn(call, entrySources[entry])
  if (id === null && entry === 'failure_code') return undefined
  if (second === undefined) return id ?? noEntryId
  return pairId(id ?? noEntryId, valueIn(call, entrySources[second]) ?? noEntryId)
}

/** A value of such a row. */
export function valueIn(row: FigureRow, source: Source): number | null {
  return row[places[source]] ?? null
}

/** Counts one call. */
export function addCall(figures: Figures, row: FigureRow): void {
  const outcome = valueIn(row, 'outcome_id')
  const add = (column: SumColumn, value: number): void => {
    figures.sums[sums[column]] = (figures.sums[sums[column]] ?? 0) + value
  }
  add('calls', 1)
  if (outcome !== null && outcome >= firstFailedOutcome) add('errors', 1)
  if (outcome === outcomeCodes.client_disconnected) add('left_calls', 1)
  for (const column of tokenColumns) add(column, valueIn(row, column) ?? 0)
  const cost = valueIn(row, 'cost_nano_usd')
  if (cost !== null) {
    add('cost_nano_usd', cost)
    add('priced_calls', 1)
  } else if (valueIn(row, 'usage_source_id') !== usageSourceCodes.none) add('unpriced_calls', 1)
  if (outcome !== outcomeCodes.ok) return
  for (const measure of measureNames) {
    const value = valueIn(row, measure)
    if (value !== null) figures.spreads[measure].add(value)
  }
}
