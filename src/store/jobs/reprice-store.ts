import { unpricedSql } from '../../call/unpriced.ts'
import type { DatabaseSync } from 'node:sqlite'
import type { RepriceResult } from '../../api/database-job.ts'
import { firstIdAt, startedAtMs } from '../../call/call-id.ts'
import { FoldedRangeError } from '../../call/no-answer.ts'
import { inTexts, recordReader } from '../../call/fields/record-reader.ts'
import { CallDictionary } from '../read/call-dictionary.ts'
import { idsWithCalls } from '../read/id-slices.ts'
import { type SummedCall, summedColumnList, summedColumns, valueIn } from '../rollup/summed-calls.ts'
import { foldedUntil } from '../rollup/unsummed.ts'
import type { StoreAbsence } from '../sqlite/open-store.ts'
import { RowStatements } from '../sqlite/row-statements.ts'
import { inTransaction } from '../sqlite/transaction.ts'
import {
  type BookedCost,
  type CallPricer,
  type PriceableCall,
  priceableFields,
  upstreamSource,
} from '../../pricing/price-book.ts'
import { costWriter } from './cost-writer.ts'
import { inSlices, type JobContext, readStore, runJob, type SlicedWork } from './job.ts'
import { RepriceDays } from './reprice-days.ts'
import { sumUp } from './sum-work.ts'

/** The calls to price again, by their start. */
export interface RepriceRequest {
  readonly fromMs: number
  /** End of the calls' starts, exclusive: ms since the Unix epoch. */
  readonly toMs: number
  /** Only calls that asked for this model; null for all models. */
  readonly model: string | null
  /** Only calls with usage and no price. */
  readonly onlyUnpriced: boolean
  /** Only returns what would change. */
  readonly dryRun: boolean
  /** The time zone of days. */
  readonly timeZone: string
}

/** The columns of a row after its figures: the inputs of the cost, then the source of the price. */
const priceColumns = [...priceableFields.map(({ column }) => column), 'price_source_id', 'price_key_id']
const priceable = recordReader<
  (row: SummedCall, words: CallDictionary) => Omit<PriceableCall, 'startedAtMs'>
>(priceableFields, ['row', 'words'], {
  ...inTexts,
  at: (index) => `row[${summedColumns.length + index}]`,
  word: ({ table }) => `words.wordOf('${table}', value)`,
})

const minuteMs = 60_000

interface PricedCall {
  readonly call: SummedCall
  /** The new cost; null without a known price. */
  readonly cost: BookedCost | null
}

/**
 * Recalculates the cost of calls at the prices of their start, while others read and write. Transactions take
 * a few milliseconds, with pauses between them. The job may be killed at any time, and started again;
 * finished work stays. Rejects with {@link FoldedRangeError} if calls of the range are folded.
 */
export async function repriceStore(
  path: string,
  request: RepriceRequest,
  { pricer, clock, onProgress }: JobContext & { readonly pricer: CallPricer },
): Promise<RepriceResult | StoreAbsence | 'job_running'> {
  const reprice = async (database: DatabaseSync): Promise<RepriceResult> => {
    const startedMs = clock.now()
    const unfoldedFromMs = foldedUntil(new RowStatements(database))
    if (request.fromMs < unfoldedFromMs) throw new FoldedRangeError(unfoldedFromMs)
    const { work, result } = repriceCalls(database, request, pricer)
    if (work !== null) await inSlices(clock, work, onProgress)
    // A running gateway would update the sums by itself.
    if (!request.dryRun) await inSlices(clock, sumUp(database, clock))
    return { ...result(), duration_ms: Math.round(clock.now() - startedMs) }
  }
  if (!request.dryRun) return await runJob(path, reprice)
  return await readStore(path, reprice)
}

/**
 * Recalculates the costs of calls. Calls are read without the lock: if another machine sends a cost meanwhile,
 * either cost stays. Progress is in minutes of the calls' time. `work` is null if no call is selected.
 */
function repriceCalls(
  database: DatabaseSync,
  { fromMs, toMs, model, onlyUnpriced, dryRun, timeZone }: RepriceRequest,
  pricer: CallPricer,
): { readonly work: SlicedWork | null; readonly result: () => Omit<RepriceResult, 'duration_ms'> } {
  const statements = new RowStatements(database)
  const words = new CallDictionary(database)
  const days = new RepriceDays(timeZone)
  const [modelId = null] = model === null ? [] : words.idsOf('models', [model])
  const isNone = model !== null && modelId === null
  // Calls that are recorded meanwhile already have their cost.
  const ids = idsWithCalls(statements, firstIdAt(Math.ceil(fromMs)), firstIdAt(Math.ceil(toMs)))
  const [fromId, pastId] = isNone ? [0, 0] : ids
  const isModel = modelId === null ? '' : `AND model_id = ${modelId}`
  // The index by model ends with the id; the index by seq would not help.
  const next = `SELECT ${[summedColumnList(), ...priceColumns].join(', ')} FROM calls
    WHERE id > ? AND id < ? ${isModel} ${onlyUnpriced ? `AND ${unpricedSql}` : ''} ORDER BY id LIMIT ?`
  const writeCosts = costWriter(database)
  // Ids are not cached, because a rollback removes added labels.
  const labelId = (text: string): number => statements.wordId('labels', text)
  const write = (changed: readonly PricedCall[]): void =>
    inTransaction(database, () =>
      writeCosts(
        changed.map(({ call, cost }) => ({
          call,
          cost: cost
            ? [cost.costNanoUsd, labelId(cost.source), labelId(cost.key), cost.cacheSavedNanoUsd]
            : [null, null, null, null],
        })),
      ),
    )
  let afterId = fromId - 1
  let looked = 0
  let reported = 0

  const minutesTo = (id: number): number => Math.ceil((startedAtMs(id) - startedAtMs(fromId)) / minuteMs)
  const costOf = (call: SummedCall): BookedCost | null =>
    pricer.costOf({ ...priceable(call, words), startedAtMs: startedAtMs(valueIn(call, 'id') ?? 0) })
  const slice: SlicedWork['slice'] = (limit) => {
    const rows = statements.all(next, afterId, pastId, limit)
    const ownRows = rows.filter(
      (row) => words.wordOf('labels', priceColumn(row, 'price_source_id')) !== upstreamSource,
    )
    const changed = ownRows
      .map((call) => ({ call, cost: costOf(call) }))
      .filter((priced) => !isSame(priced, words))
    if (!dryRun && changed.length > 0) write(changed)
    for (const { call, cost } of changed) {
      days.add(call, words.wordOf('models', valueIn(call, 'model_id')), cost?.costNanoUsd ?? null)
    }
    looked += rows.length
    reported += rows.length - ownRows.length
    const hasMore = rows.length === limit
    afterId = valueIn(rows.at(-1) ?? [], 'id') ?? afterId
    return { done: minutesTo(hasMore ? afterId : pastId), hasMore }
  }
  const work = { total: minutesTo(pastId), slice, onlyReads: dryRun }
  const result = (): Omit<RepriceResult, 'duration_ms'> => {
    return { ...days.summary(), looked_calls: looked, reported_calls: reported }
  }
  return { work: fromId < pastId ? work : null, result }
}

function isSame({ call, cost }: PricedCall, words: CallDictionary): boolean {
  const before = valueIn(call, 'cost_nano_usd')
  if (cost === null) return before === null
  return (
    cost.costNanoUsd === before &&
    // A saving of 0 counts as no change: older calls have no saving in their row.
    (cost.cacheSavedNanoUsd ?? 0) === (valueIn(call, 'cache_saved_nano_usd') ?? 0) &&
    cost.source === words.wordOf('labels', priceColumn(call, 'price_source_id')) &&
    cost.key === words.wordOf('labels', priceColumn(call, 'price_key_id'))
  )
}

function priceColumn(row: SummedCall, column: 'price_source_id' | 'price_key_id'): number | null {
  return row[summedColumns.length + priceColumns.indexOf(column)] ?? null
}
