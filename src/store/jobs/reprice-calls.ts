import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import { firstIdAt, startedAtMs } from '../../call/call-id.ts'
import { type FigureRow, figureSourceList, figureSources, valueIn } from '../rollup/call-figures.ts'
import { type CallPricer, type PriceableCall, upstreamSource } from '../write/call-pricer.ts'
import { CallWords } from '../read/call-words.ts'
import { type CostEdit, type RepriceSelection, RepriceWriter, type StoredCost } from './reprice-writer.ts'

/** A call whose price is another one now. */
export interface RepricedCall {
  readonly startedAtMs: number
  readonly modelId: number | null
  readonly beforeNanoUsd: number | null
  readonly afterNanoUsd: number | null
}

/** What was done in a slice. */
export interface RepriceSlice {
  /** Where the next slice begins; null where nothing is left to do. */
  readonly afterId: number | null
  readonly looked: number
  /** Of those, calls whose upstream reported what they cost: these are left alone. */
  readonly reported: number
  readonly changed: readonly RepricedCall[]
}

const furtherColumns = [
  'upstream_id',
  'response_model_id',
  'service_tier_id',
  'cache_write_1h_tokens',
  'input_audio_tokens',
  'output_audio_tokens',
  'search_units',
  'price_source_id',
  'price_key_id',
] as const
type FurtherColumn = (typeof furtherColumns)[number]

/**
 * Prices calls anew, slice by slice; what it replaces is kept in `repriced`. Calls are read without the lock, for nothing
 * but this changes them; the lease of compressing must be held.
 */
export class RepriceCalls {
  readonly #database: DatabaseSync
  readonly #pricer: CallPricer
  readonly #nowMs: () => number
  readonly #words: CallWords
  readonly #statements = new Map<string, StatementSync>()
  /** Made when something is to be written: a dry run reads older schemas too. */
  #writer: RepriceWriter | null = null

  constructor(database: DatabaseSync, pricer: CallPricer, nowMs: () => number) {
    this.#database = database
    this.#pricer = pricer
    this.#nowMs = nowMs
    this.#words = new CallWords(database)
  }

  /** Looks at up to `limit` calls after an id; writes nothing where it is dry. */
  step(selection: RepriceSelection, afterId: number, limit: number, isDry: boolean): RepriceSlice {
    const rows = this.#rows(selection, afterId, limit)
    const last = rows.at(-1)
    if (last === undefined) return { afterId: null, looked: 0, reported: 0, changed: [] }
    let reported = 0
    const changes: CostEdit[] = []
    for (const row of rows) {
      const old = storedCost(row)
      const source = this.#label(old.sourceId)
      if (source === upstreamSource) {
        reported += 1
        continue
      }
      const cost = this.#pricer.costOf(this.#priceable(row))
      const isSame =
        cost === null
          ? old.costNanoUsd === null
          : cost.costNanoUsd === old.costNanoUsd &&
            cost.source === source &&
            cost.key === this.#label(old.keyId)
      if (!isSame) changes.push({ call: row, old, cost })
    }
    if (!isDry && changes.length > 0) {
      this.#writer ??= new RepriceWriter(this.#database, this.#nowMs)
      this.#writer.write(selection, changes)
    }
    const changed = changes.map(({ call, old, cost }) => ({
      startedAtMs: startedAtMs(valueIn(call, 'id') ?? 0),
      modelId: valueIn(call, 'model_id'),
      beforeNanoUsd: old.costNanoUsd,
      afterNanoUsd: cost?.costNanoUsd ?? null,
    }))
    return {
      afterId: rows.length < limit ? null : valueIn(last, 'id'),
      looked: rows.length,
      reported,
      changed,
    }
  }

  #rows({ fromMs, toMs, modelId, onlyUnpriced }: RepriceSelection, afterId: number, limit: number): Rows {
    const isModel = modelId === null ? '' : ' AND model_id = ?'
    const isUnpriced = onlyUnpriced
      ? ' AND cost_nano_usd IS NULL AND (usage_source_id <> 0 OR search_units IS NOT NULL)'
      : ''
    // The index by model ends in the id; the one by seq would be no help.
    const statement = this.#statement(
      `SELECT ${[figureSourceList(), ...furtherColumns].join(', ')} FROM calls
        WHERE id > ? AND id < ?${isModel}${isUnpriced} ORDER BY id LIMIT ?`,
    )
    const values: SQLInputValue[] = [Math.max(afterId, firstIdAt(Math.ceil(fromMs)) - 1)]
    values.push(firstIdAt(Math.ceil(toMs)), ...(modelId === null ? [] : [modelId]), limit)
    return statement.all(...values) as unknown as Rows
  }

  #priceable(row: FigureRow): PriceableCall {
    const of = (column: FurtherColumn): number | null => furtherIn(row, column)
    const word = (table: 'models' | 'upstreams' | 'labels', id: number | null): string | null =>
      id === null ? null : this.#words.wordOf(table, id)
    return {
      startedAtMs: startedAtMs(valueIn(row, 'id') ?? 0),
      upstream: word('upstreams', of('upstream_id')),
      model: word('models', valueIn(row, 'model_id')),
      responseModel: word('models', of('response_model_id')),
      serviceTier: word('labels', of('service_tier_id')),
      inputTokens: valueIn(row, 'input_tokens'),
      outputTokens: valueIn(row, 'output_tokens'),
      cachedInputTokens: valueIn(row, 'cached_input_tokens'),
      cacheWriteTokens: valueIn(row, 'cache_write_tokens'),
      cacheWrite1hTokens: of('cache_write_1h_tokens'),
      inputAudioTokens: of('input_audio_tokens'),
      outputAudioTokens: of('output_audio_tokens'),
      reasoningTokens: valueIn(row, 'reasoning_tokens'),
      searchUnits: of('search_units'),
    }
  }

  #label(id: number | null): string | null {
    return id === null ? null : this.#words.wordOf('labels', id)
  }

  #statement(sql: string): StatementSync {
    const known = this.#statements.get(sql)
    if (known !== undefined) return known
    const statement = this.#database.prepare(sql)
    statement.setReturnArrays(true)
    this.#statements.set(sql, statement)
    return statement
  }
}

type Rows = readonly FigureRow[]

function storedCost(row: FigureRow): StoredCost {
  return {
    costNanoUsd: valueIn(row, 'cost_nano_usd'),
    sourceId: furtherIn(row, 'price_source_id'),
    keyId: furtherIn(row, 'price_key_id'),
  }
}

function furtherIn(row: FigureRow, column: FurtherColumn): number | null {
  return row[figureSources.length + furtherColumns.indexOf(column)] ?? null
}
