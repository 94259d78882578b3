import type { CostMatch, CostMatches, MatchedPrice } from '../api/costs.ts'
import type { CallReader } from '../call/call-reader.ts'
import type { PriceBook } from '../pricing/price-book.ts'
import type { ServedCount, ServedModel, ServedReader } from '../store/read/served-models.ts'
import { type AskedRange, rangeOf } from './asked-range.ts'
import type { MatchesQuestion } from './query-question.ts'

/** For so long calls are counted, the newest first: a million takes half a second of an idle processor. */
const countingMs = 2000

/** What the recorded calls cost, by who answered them, and what the prices in force say of each. */
export function matchesAnswer(
  calls: CallReader,
  served: ServedReader,
  book: PriceBook,
  { fromMs, toMs }: MatchesQuestion,
  nowMs: number,
): CostMatches {
  const filter = { ...(fromMs === null ? {} : { fromMs }), ...(toMs === null ? {} : { toMs }) }
  const range = rangeOf(filter, calls, nowMs)
  const counted = range === null ? null : countedOf(calls, served, range)
  const isWhole = range === null || counted === null || counted.fromMs <= range.fromMs
  return {
    from: new Date(fromMs ?? range?.fromMs ?? 0).toISOString(),
    to: new Date(toMs ?? range?.toMs ?? nowMs).toISOString(),
    counted_from: isWhole ? null : new Date(counted.fromMs).toISOString(),
    matches: (counted?.models ?? [])
      .toSorted((a, b) => b.calls - a.calls)
      .map((one) => matchOf(one, book, nowMs)),
  }
}

/** Of folded calls no sum tells who answered them. */
function countedOf(calls: CallReader, served: ServedReader, { fromMs, toMs }: AskedRange): ServedCount {
  const keptMs = Math.min(Math.max(fromMs, calls.foldedUntilMs() ?? 0), toMs)
  return served.between(keptMs, toMs, countingMs)
}

function matchOf(served: ServedModel, book: PriceBook, nowMs: number): CostMatch {
  const { upstream, model, responseModel, costNanoUsd } = served
  return {
    upstream,
    model,
    response_model: responseModel,
    calls: served.calls,
    unpriced_calls: served.unpricedCalls,
    input_tokens: served.inputTokens,
    output_tokens: served.outputTokens,
    cost_usd: costNanoUsd === null ? null : costNanoUsd / 1e9,
    price: priceOf(book, upstream, model, responseModel, nowMs),
  }
}

function priceOf(
  book: PriceBook,
  upstream: string | null,
  model: string | null,
  responseModel: string | null,
  startedAtMs: number,
): MatchedPrice {
  const price = book.price({ upstream, model, responseModel, serviceTier: null, startedAtMs })
  if ('none' in price) return price
  const { key, source, effectiveFrom, updatedAt, period } = price
  return {
    key,
    source,
    effective_from: effectiveFrom,
    updated_at: updatedAt,
    tiers: period.tiers,
    ...(period.service_tiers === undefined ? {} : { service_tiers: period.service_tiers }),
  }
}
