import type { DatabaseSync } from 'node:sqlite'
import { firstIdAt, startedAtMs } from '../../call/call-id.ts'
import { CallWords } from '../read/call-words.ts'
import { type FigureRow, figureSourceList, figureSources, valueIn } from '../rollup/call-figures.ts'
import { RowStatements } from '../sqlite/row-statements.ts'
import { inTransaction } from '../sqlite/transaction.ts'
import { type CallCost, type CallPricer, type PriceableCall, upstreamSource } from '../write/call-pricer.ts'
import { CostWriter } from './cost-writer.ts'
import { RepriceDays } from './reprice-days.ts'
import type { RepriceRequest } from './reprice-store.ts'

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
  /** The calls that are meant lie from this id (inclusive) to `pastId` (exclusive). */
  readonly fromId: number
  readonly pastId: number
  readonly days: RepriceDays
  looked: number = 0
  /** Of those, calls whose upstream reported what they cost: these are left alone. */
  reported: number = 0
  readonly #database: DatabaseSync
  readonly #request: RepriceRequest
  readonly #pricer: CallPricer
  readonly #nowMs: () => number
  readonly #words: CallWords
  readonly #statements: RowStatements
  readonly #modelId: number | null
  #afterId: number
  /** Made when something is to be written: a dry run reads older schemas too. */
  #writer: CostWriter | null = null
  #runId: number | null = null

  constructor(database: DatabaseSync, request: RepriceRequest, pricer: CallPricer, nowMs: () => number) {
    this.#database = database
    this.#request = request
    this.#pricer = pricer
    this.#nowMs = nowMs
    this.#words = new CallWords(database)
    this.#statements = new RowStatements(database)
    this.days = new RepriceDays(request.timeZone, (id) => this.#words.wordOf('models', id))
    const { model, fromMs, toMs } = request
    const [modelId = null] = model === null ? [] : this.#words.idsOf('models', [model])
    const row = database.prepare('SELECT min(id) AS first, max(id) AS last FROM calls').get()
    const isNone = model !== null && modelId === null
    this.#modelId = modelId
    this.fromId = Math.max(firstIdAt(Math.ceil(fromMs)), Number(row?.['first']))
    // Calls that are recorded meanwhile have their cost already.
    this.pastId = isNone ? 0 : Math.min(firstIdAt(Math.ceil(toMs)), Number(row?.['last'] ?? -1) + 1)
    this.#afterId = this.fromId - 1
  }

  /** Looks at up to `limit` calls and prices them; says how far it has come. */
  step(limit: number): {
    readonly reachedId: number
    readonly hasMore: boolean
    readonly hasWritten: boolean
  } {
    const { dryRun } = this.#request
    const rows = this.#rows(limit)
    const priced = rows.filter((row) => this.#label(further(row, 'price_source_id')) !== upstreamSource)
    const edits = priced
      .map((call) => ({ call, cost: this.#pricer.costOf(this.#priceable(call)) }))
      .filter((edit) => !this.#isSame(edit))
    if (!dryRun && edits.length > 0) this.#write(edits)
    for (const { call, cost } of edits) this.days.add(call, cost?.costNanoUsd ?? null)
    this.looked += rows.length
    this.reported += rows.length - priced.length
    const hasMore = rows.length === limit
    this.#afterId = valueIn(rows.at(-1) ?? [], 'id') ?? this.#afterId
    return {
      reachedId: hasMore ? this.#afterId : this.pastId,
      hasMore,
      hasWritten: !dryRun && edits.length > 0,
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
  #write(edits: readonly CostEdit[]): void {
    const range = [startedAtMs(this.fromId), startedAtMs(this.pastId - 1) + 1]
    const writer = (this.#writer ??= new CostWriter(this.#database))
    const keep = this.#statements.get('INSERT INTO repriced VALUES (?, ?, ?, ?, ?)')
    const addRun = this.#statements.get(
      'INSERT INTO reprice_runs (at_ms, from_ms, to_ms, model_id) VALUES (?, ?, ?, ?)',
    )
    this.#runId = inTransaction(this.#database, () => {
      const runId =
        this.#runId ?? Number(addRun.run(Math.round(this.#nowMs()), ...range, this.#modelId).lastInsertRowid)
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

  #rows(limit: number): readonly FigureRow[] {
    const isModel = this.#modelId === null ? '' : ' AND model_id = ?'
    const isUnpriced = this.#request.onlyUnpriced
      ? ' AND cost_nano_usd IS NULL AND (usage_source_id <> 0 OR search_units IS NOT NULL)'
      : ''
    // The index by model ends in the id; the one by seq would be no help.
    const statement = this.#statements.get(
      `SELECT ${[figureSourceList(), ...furtherColumns].join(', ')} FROM calls
        WHERE id > ? AND id < ?${isModel}${isUnpriced} ORDER BY id LIMIT ?`,
    )
    const model = this.#modelId === null ? [] : [this.#modelId]
    return statement.all(this.#afterId, this.pastId, ...model, limit) as unknown as readonly FigureRow[]
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
