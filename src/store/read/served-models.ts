import { firstIdAt, startedAtMs } from '../../call/call-id.ts'
import type { ServedCount, ServedModel } from '../../call/call-reader.ts'
import type { IsOver } from '../../call/query-too-slow.ts'
import type { CallWords } from './call-words.ts'
import { idSlices } from './id-slices.ts'
import type { RowStatements } from '../sqlite/row-statements.ts'

/** What was refused, or never answered, has no price to look for. */
const canCost = '(usage_source_id <> 0 OR search_units IS NOT NULL OR cost_nano_usd IS NOT NULL)'
const servedSql = `SELECT upstream_id, model_id, response_model_id, count(*),
  count(*) FILTER (WHERE cost_nano_usd IS NULL AND usage_source_id <> 0),
  coalesce(sum(input_tokens), 0), coalesce(sum(output_tokens), 0), sum(cost_nano_usd)
  FROM calls NOT INDEXED WHERE id >= ? AND id < ? AND ${canCost} GROUP BY 1, 2, 3`

type Id = number | null
type Row = readonly [
  ...ids: [upstream: Id, model: Id, responseModel: Id],
  ...sums: [calls: number, unpriced: number, input: number, output: number, costNanoUsd: number | null],
]

/** See `CallReader.servedModels`. Throws `QueryTooSlowError`. */
export function servedModels(
  statements: RowStatements,
  words: CallWords,
  isOver: IsOver,
  [fromMs, toMs, withinMs]: readonly [fromMs: number, toMs: number, withinMs: number],
): ServedCount {
  const served = new Map<string, ServedModel>()
  const untilMs = performance.now() + withinMs
  let countedMs = fromMs
  for (const ids of idSlices(firstIdAt(fromMs), firstIdAt(toMs), { newestFirst: true, isOver })) {
    for (const row of statements.all<Row>(servedSql, ...ids)) {
      const [upstream, model, responseModel, calls, unpriced, input, output, cost] = row
      const name = `${upstream} ${model} ${responseModel}`
      const known = served.get(name)
      const costBefore = known?.costNanoUsd ?? null
      served.set(name, {
        upstream: words.wordOf('upstreams', upstream),
        model: words.wordOf('models', model),
        responseModel: words.wordOf('models', responseModel),
        calls: (known?.calls ?? 0) + calls,
        unpricedCalls: (known?.unpricedCalls ?? 0) + unpriced,
        inputTokens: (known?.inputTokens ?? 0) + input,
        outputTokens: (known?.outputTokens ?? 0) + output,
        costNanoUsd: cost === null ? costBefore : (costBefore ?? 0) + cost,
      })
    }
    countedMs = startedAtMs(ids[0])
    if (performance.now() >= untilMs) break
  }
  return { fromMs: countedMs, models: [...served.values()] }
}
