import type { CallFilter } from '../../src/call/call-filter.ts'
import { callTypeCodes, outcomeCodes } from '../../src/call/fields/call-fields.ts'
import { idsPerMs } from '../../src/call/call-id.ts'
import type { FigureAsked, ListAsked } from './bench-question.ts'

const unitMs = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const

const sums = [
  'count(*)',
  'sum(outcome_id >= 2)',
  'sum(input_tokens)',
  'sum(output_tokens)',
  'sum(cached_input_tokens)',
  'sum(reasoning_tokens)',
  'sum(total_tokens)',
  'sum(cost_nano_usd)',
]
const percentiles = [50, 90, 95, 99].map((part) => `percentile(?, ${part})`)
const measures = ['duration_us', 'ttft_us', 'queue_us', 'tpot_us']
  .map((column) => `CASE WHEN outcome_id = 0 THEN ${column} END`)
  .flatMap((ok) => ['avg(?)', 'max(?)', ...percentiles].map((figure) => figure.replace('?', ok)))

/** The same question over `calls` alone, as one would ask it without rollups. */
export function plainSql(asked: FigureAsked | ListAsked, endMs: number): string {
  const conditions = conditionsOf(asked.filter)
  if (asked.hours !== null) {
    conditions.push(`id >= ${(endMs - asked.hours * 3_600_000) * idsPerMs} AND id < ${endMs * idsPerMs}`)
  }
  const where = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`
  return asked.kind === 'list' ? listSql(asked, where) : figuresSql(asked, where)
}

function figuresSql({ unit, dimension }: FigureAsked, where: string): string {
  const keys: string[] = []
  if (unit !== null) keys.push(`id / ${idsPerMs * unitMs[unit]}`)
  if (dimension !== null) keys.push(dimension === 'status' ? 'status' : `${dimension}_id`)
  const group = keys.length === 0 ? '' : ` GROUP BY ${keys.join(', ')}`
  return `SELECT ${[...keys, ...sums, ...measures].join(', ')} FROM calls${where}${group}`
}

function listSql({ sort, limit, isNext }: ListAsked, where: string): string {
  const columns = { started_at: 'id', duration: 'duration_us', ttft: 'ttft_us', cost: 'cost_nano_usd' }
  return `SELECT * FROM calls${where} ORDER BY ${columns[sort]} DESC LIMIT ${limit} OFFSET ${isNext ? limit : 0}`
}

/** The words are the benchmark's own: nothing in them needs escaping. */
function conditionsOf(filter: CallFilter): string[] {
  const conditions: string[] = []
  const oneOf = (column: string, values: readonly number[] | undefined): void => {
    if (values !== undefined) conditions.push(`${column} IN (${values.join(', ')})`)
  }
  const words = (column: string, table: string, values: readonly string[] | undefined): void => {
    const list = values?.map((value) => `'${value}'`).join(', ')
    if (list !== undefined) conditions.push(`${column} IN (SELECT id FROM ${table} WHERE text IN (${list}))`)
  }
  words('model_id', 'models', filter.model)
  words('client_id', 'clients', filter.client)
  words('endpoint_id', 'endpoints', filter.endpoint)
  words('failure_code_id', 'labels', filter.failure_code)
  oneOf(
    'call_type_id',
    filter.call_type?.map((type) => callTypeCodes[type]),
  )
  oneOf(
    'outcome_id',
    filter.outcome?.map((outcome) => outcomeCodes[outcome]),
  )
  oneOf('status', filter.status)
  if (filter.failedOnly === true) conditions.push('outcome_id >= 2')
  if (filter.min_ms !== undefined) conditions.push(`duration_us >= ${filter.min_ms * 1000}`)
  if (filter.exactly !== undefined) {
    const found = `SELECT id FROM labels WHERE text = '${filter.exactly}'`
    conditions.push(`(failure_code_id IN (${found}) OR upstream_error_code_id IN (${found}))`)
  }
  return conditions
}
