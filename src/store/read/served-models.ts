import type { DatabaseSync } from 'node:sqlite'
import { firstIdAt, startedAtMs } from '../../call/call-id.ts'
import type { ServedCount, ServedModel } from '../../call/call-reader.ts'
import type { IsOver } from '../../call/query-too-slow.ts'
import type { CallWords } from './call-words.ts'
import { idSlices } from './id-slices.ts'
import { RowStatements } from '../sqlite/row-statements.ts'

const columns = `upstream_id, model_id, response_model_id, count(*),
  count(*) FILTER (WHERE cost_nano_usd IS NULL AND usage_source_id <> 0),
  coalesce(sum(input_tokens), 0), coalesce(sum(output_tokens), 0), sum(cost_nano_usd)`
/** What was refused, or never answered, has no price to look for. */
const canCost = '(usage_source_id <> 0 OR search_units IS NOT NULL OR cost_nano_usd IS NOT NULL)'

type Id = number | null
type Row = readonly [
  ...ids: [upstream: Id, model: Id, responseModel: Id],
  ...sums: [calls: number, unpriced: number, input: number, output: number, costNanoUsd: number | null],
]

/** Tells which models answered where. */
export class ServedModels {
  readonly #isOver: IsOver
  readonly #statements: RowStatements
  readonly #words: CallWords

  constructor(database: DatabaseSync, words: CallWords, isOver: IsOver) {
    this.#isOver = isOver
    this.#statements = new RowStatements(database)
    this.#words = words
  }

  /** See `CallReader.servedModels`. Throws `QueryTooSlowError`. */
  between(fromMs: number, toMs: number, withinMs: number): ServedCount {
    const statement = this.#statements.get(
      `SELECT ${columns} FROM calls NOT INDEXED WHERE id >= ? AND id < ? AND ${canCost} GROUP BY 1, 2, 3`,
    )
    const wordOf = (table: 'upstreams' | 'models', id: Id): string | null =>
      id === null ? null : this.#words.wordOf(table, id)
    const served = new Map<string, ServedModel>()
    const untilMs = performance.now() + withinMs
    let countedMs = fromMs
    const slices = { newestFirst: true, isOver: this.#isOver }
    for (const ids of idSlices(firstIdAt(fromMs), firstIdAt(toMs), slices)) {
      for (const row of statement.all(...ids) as unknown as readonly Row[]) {
        const [upstream, model, responseModel, calls, unpriced, input, output, cost] = row
        const name = `${upstream} ${model} ${responseModel}`
        const known = served.get(name)
        const costBefore = known?.costNanoUsd ?? null
        served.set(name, {
          upstream: wordOf('upstreams', upstream),
          model: wordOf('models', model),
          responseModel: wordOf('models', responseModel),
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
}
