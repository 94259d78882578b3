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

type Row = readonly (number | null)[]

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

  /** See `CallReader.servedModels`. Throws `QueryTooSlow`. */
  between(fromMs: number, toMs: number, withinMs: number): ServedCount {
    const statement = this.#statements.get(
      `SELECT ${columns} FROM calls NOT INDEXED WHERE id >= ? AND id < ? AND ${canCost} GROUP BY 1, 2, 3`,
    )
    const sums = new Map<string, number[]>()
    const untilMs = performance.now() + withinMs
    let countedMs = fromMs
    const slices = { newestFirst: true, isOver: this.#isOver }
    for (const ids of idSlices(firstIdAt(fromMs), firstIdAt(toMs), slices)) {
      for (const row of statement.all(...ids) as unknown as readonly Row[]) addTo(sums, row)
      countedMs = startedAtMs(ids[0])
      if (performance.now() >= untilMs) break
    }
    return { fromMs: countedMs, models: [...sums].map(([key, figures]) => this.#served(key, figures)) }
  }

  #served(key: string, figures: readonly number[]): ServedModel {
    const [upstream, model, responseModel] = JSON.parse(key) as readonly (number | null)[]
    const word = (table: 'upstreams' | 'models', id: number | null | undefined): string | null =>
      id === null || id === undefined ? null : this.#words.wordOf(table, id)
    const [calls = 0, unpricedCalls = 0, inputTokens = 0, outputTokens = 0, cost = Number.NaN] = figures
    return {
      upstream: word('upstreams', upstream),
      model: word('models', model),
      responseModel: word('models', responseModel),
      calls,
      unpricedCalls,
      inputTokens,
      outputTokens,
      costNanoUsd: Number.isNaN(cost) ? null : cost,
    }
  }
}

/** The cost stays `NaN` until a call has one. */
function addTo(sums: Map<string, number[]>, [upstream, model, responseModel, ...figures]: Row): void {
  const key = JSON.stringify([upstream, model, responseModel])
  const sum = sums.get(key) ?? [0, 0, 0, 0, Number.NaN]
  sums.set(key, sum)
  for (const [index, figure] of figures.entries()) {
    if (figure === null) continue
    const before = sum[index] ?? Number.NaN
    sum[index] = (Number.isNaN(before) ? 0 : before) + figure
  }
}
