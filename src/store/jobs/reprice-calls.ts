import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import { firstIdAt, startedAtMs } from '../../call/call-id.ts'
import { CallWords } from '../read/call-words.ts'
import { type FigureRow, figureSourceList, figureSources, valueIn } from '../rollup/call-figures.ts'
import { RowStatements } from '../sqlite/row-statements.ts'
import { inTransaction } from '../sqlite/transaction.ts'
import { type CallCost, type CallPricer, type PriceableCall, upstreamSource } from '../write/call-pricer.ts'
import { CostWriter } from './cost-writer.ts'

/** Which calls are priced anew. */
export interface RepriceSelection {
  /** Milliseconds since the Unix epoch, inclusive. */
  readonly fromMs: number
  /** Exclusive. */
  readonly toMs: number
  /** Only calls that asked for this model. */
  readonly modelId: number | null
  /** Only calls with usage and no price. */
  readonly onlyUnpriced: boolean
}

/** A call whose price is another one now. */
export interface RepricedCall {
  readonly startedAtMs: number
  readonly modelId: number | null
  readonly beforeNanoUsd: number | null
  readonly afterNanoUsd: number | null
}

/** What was done in a slice. */
export interface RepriceSlice {
  /** Where the next slice begins; null if nothing is left to do. */
  readonly afterId: number | null
  readonly looked: number
  /** Of those, calls whose upstream reported what they cost: these are left alone. */
  readonly reported: number
  readonly changed: readonly RepricedCall[]
}

interface CostEdit {
  readonly call: FigureRow
  /** Null if no price is known. */
  readonly cost: CallCost | null
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
 * but this job changes them.
 */
export class RepriceCalls {
  readonly #database: DatabaseSync
  readonly #pricer: CallPricer
  readonly #nowMs: () => number
  readonly #words: CallWords
  readonly #statements: RowStatements
  /** Made when something is to be written: a dry run reads older schemas too. */
  #writer: CostWriter | null = null
  #runId: number | null = null

  constructor(database: DatabaseSync, pricer: CallPricer, nowMs: () => number) {
    this.#database = database
    this.#pricer = pricer
    this.#nowMs = nowMs
    this.#words = new CallWords(database)
    this.#statements = new RowStatements(database)
  }

  /** Looks at up to `limit` calls after an id; writes nothing if it is dry. */
  step(selection: RepriceSelection, afterId: number, limit: number, isDry: boolean): RepriceSlice {
    const rows = this.#rows(selection, afterId, limit)
    const priced = rows.filter((row) => this.#label(further(row, 'price_source_id')) !== upstreamSource)
    const edits = priced
      .map((call) => ({ call, cost: this.#pricer.costOf(this.#priceable(call)) }))
      .filter((edit) => !this.#isSame(edit))
    if (!isDry && edits.length > 0) this.#write(selection, edits)
    return {
      afterId: rows.length < limit ? null : valueIn(rows.at(-1) ?? [], 'id'),
      looked: rows.length,
      reported: rows.length - priced.length,
      changed: edits.map(({ call, cost }) => ({
        startedAtMs: startedAtMs(valueIn(call, 'id') ?? 0),
        modelId: valueIn(call, 'model_id'),
        beforeNanoUsd: valueIn(call, 'cost_nano_usd'),
        afterNanoUsd: cost?.costNanoUsd ?? null,
      })),
    }
  }

  #isSame({ call, cost }: CostEdit): boolean {
    const before = valueIn(call, 'cost_nano_usd')
    if (cost === null) return before === null
    return (
      cost.costNanoUsd === before &&
      cost.source === this.#label(further(call, 'price_source_id')) &&
      cost.key === this.#label(further(call, 'price_key_id'))
    )
  }

  /** On an error nothing of it stands. */
  #write({ fromMs, toMs, modelId }: RepriceSelection, edits: readonly CostEdit[]): void {
    const writer = (this.#writer ??= new CostWriter(this.#database))
    const keep = this.#statements.get('INSERT INTO repriced VALUES (?, ?, ?, ?, ?)')
    const addRun = this.#statements.get(
      'INSERT INTO reprice_runs (at_ms, from_ms, to_ms, model_id) VALUES (?, ?, ?, ?)',
    )
    this.#runId = inTransaction(this.#database, () => {
      const runId =
        this.#runId ??
        Number(
          addRun.run(Math.round(this.#nowMs()), Math.floor(fromMs), Math.ceil(toMs), modelId).lastInsertRowid,
        )
      for (const { call } of edits) {
        const [source, key] = [further(call, 'price_source_id'), further(call, 'price_key_id')]
        keep.run(valueIn(call, 'id'), runId, valueIn(call, 'cost_nano_usd'), source, key)
      }
      writer.write(
        edits.map(({ call, cost }) => ({
          call,
          cost:
            cost === null
              ? [null, null, null]
              : [cost.costNanoUsd, this.#labelId(cost.source), this.#labelId(cost.key)],
        })),
      )
      return runId
    })
  }

  #rows(
    { fromMs, toMs, modelId, onlyUnpriced }: RepriceSelection,
    afterId: number,
    limit: number,
  ): readonly FigureRow[] {
    const isModel = modelId === null ? '' : ' AND model_id = ?'
    const isUnpriced = onlyUnpriced
      ? ' AND cost_nano_usd IS NULL AND (usage_source_id <> 0 OR search_units IS NOT NULL)'
      : ''
    // The index by model ends in the id; the one by seq would be no help.
    const statement = this.#statements.get(
      `SELECT ${[figureSourceList(), ...furtherColumns].join(', ')} FROM calls
        WHERE id > ? AND id < ?${isModel}${isUnpriced} ORDER BY id LIMIT ?`,
    )
    const values: SQLInputValue[] = [Math.max(afterId, firstIdAt(Math.ceil(fromMs)) - 1)]
    values.push(firstIdAt(Math.ceil(toMs)), ...(modelId === null ? [] : [modelId]), limit)
    return statement.all(...values) as unknown as readonly FigureRow[]
  }

  #priceable(row: FigureRow): PriceableCall {
    const word = (table: 'models' | 'upstreams' | 'labels', id: number | null): string | null =>
      id === null ? null : this.#words.wordOf(table, id)
    return {
      startedAtMs: startedAtMs(valueIn(row, 'id') ?? 0),
      upstream: word('upstreams', further(row, 'upstream_id')),
      model: word('models', valueIn(row, 'model_id')),
      responseModel: word('models', further(row, 'response_model_id')),
      serviceTier: word('labels', further(row, 'service_tier_id')),
      inputTokens: valueIn(row, 'input_tokens'),
      outputTokens: valueIn(row, 'output_tokens'),
      cachedInputTokens: valueIn(row, 'cached_input_tokens'),
      cacheWriteTokens: valueIn(row, 'cache_write_tokens'),
      cacheWrite1hTokens: further(row, 'cache_write_1h_tokens'),
      inputAudioTokens: further(row, 'input_audio_tokens'),
      outputAudioTokens: further(row, 'output_audio_tokens'),
      reasoningTokens: valueIn(row, 'reasoning_tokens'),
      searchUnits: further(row, 'search_units'),
    }
  }

  #label(id: number | null): string | null {
    return id === null ? null : this.#words.wordOf('labels', id)
  }

  /** Looked up each time: what was added in a transaction that was rolled back is not there. */
  #labelId(text: string): number {
    const [id] = (this.#statements.get('SELECT id FROM labels WHERE text = ?').get(text) ??
      []) as unknown as readonly number[]
    return (
      id ?? Number(this.#statements.get('INSERT INTO labels (text) VALUES (?)').run(text).lastInsertRowid)
    )
  }
}

function further(row: FigureRow, column: FurtherColumn): number | null {
  return row[figureSources.length + furtherColumns.indexOf(column)] ?? null
}
