import type { ServedCount } from '../../call/call-reader.ts'
import type { ServedModel } from '../../call/figures.ts'
import { unpricedSql, usedSql } from '../../call/unpriced.ts'
import type { IsOver } from '../../call/no-answer.ts'
import type { CallDictionary } from './call-dictionary.ts'
import { type CountingBounds, readNewestFirst } from './id-slices.ts'
import type { RowStatements } from '../sqlite/row-statements.ts'

/** The condition for calls that need a price, without refused and unanswered ones. */
const canCost = `(${usedSql} OR cost_nano_usd IS NOT NULL)`
const servedSql = `SELECT upstream_id, model_id, response_model_id, count(*),
  count(*) FILTER (WHERE ${unpricedSql}),
  total(input_tokens), total(output_tokens), CASE WHEN count(cost_nano_usd) > 0 THEN total(cost_nano_usd) END
  FROM calls NOT INDEXED WHERE id >= ? AND id < ? AND ${canCost} GROUP BY 1, 2, 3`

/** Most sets of upstream and models of an answer, those with the most calls. */
const mostServed = 1000

type Id = number | null
type Row = readonly [
  ...ids: [upstream: Id, model: Id, responseModel: Id],
  ...sums: [calls: number, unpriced: number, input: number, output: number, costNanoUsd: number | null],
]

/** See `CallReader.servedModels`. Throws `QueryTooSlowError`. */
export function servedModels(
  statements: RowStatements,
  words: CallDictionary,
  isOver: IsOver,
  bounds: CountingBounds,
): ServedCount {
  const served = new Map<string, Row>()
  const fromMs = readNewestFirst(bounds, isOver, (...ids) => {
    for (const row of statements.all<Row>(servedSql, ...ids)) {
      const name = row.slice(0, 3).join(' ')
      served.set(name, sum(served.get(name), row))
    }
  })
  // Clients can ask for any number of made-up models.
  const most = [...served.values()].sort((a, b) => b[3] - a[3]).slice(0, mostServed)
  const models = most.map(
    ([upstream, model, responseModel, calls, unpriced, input, output, cost]): ServedModel => ({
      upstream: words.wordOf('upstreams', upstream),
      model: words.wordOf('models', model),
      response_model: words.wordOf('models', responseModel),
      calls,
      unpriced_calls: unpriced,
      input_tokens: input,
      output_tokens: output,
      cost_usd: cost === null ? null : cost / 1e9,
    }),
  )
  return { fromMs, models }
}

/** The sums of two rows of the same ids. */
function sum(total: Row | undefined, row: Row): Row {
  if (total === undefined) return row
  const sums = row.map((value, at) =>
    at < 3 || value === null ? (total[at] ?? null) : value + (total[at] ?? 0),
  )
  return sums as unknown as Row
}
