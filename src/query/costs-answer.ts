import type { CostMatches, Costs, MatchedPrice, PriceSync } from '../api/costs.ts'
import type { CallReader, ServedCount } from '../call/call-reader.ts'
import type { ServedModel } from '../call/figures.ts'
import { matchedPrice, type PriceBook } from '../pricing/price-book.ts'
import type { PricesInForce } from '../pricing/prices-in-force.ts'
import { type AskedRange, rangeOf } from './asked-range.ts'
import type { CostsQuestion, MatchesQuestion } from './query-question.ts'

/** The prices in force, and the problem of their file. */
export function costsAnswer(
  { costs, problem }: Pick<PricesInForce, 'costs' | 'problem'>,
  { sync }: CostsQuestion,
): Costs {
  return { ...costs, sync: laterOf(costs.sync, sync), problem }
}

/** The later of two syncs. A failed sync is not in the file, and another process may have succeeded since. */
function laterOf(inFile: PriceSync, here: PriceSync | null): PriceSync {
  if (here === null) return inFile
  const isOver = here.state === 'idle' && (inFile.finished_at ?? '') > (here.finished_at ?? '')
  return isOver ? inFile : here
}

/** Time limit for counting calls, newest first. A million calls take half a second on an idle processor. */
const countingMs = 2000

/** The cost of recorded calls by upstream and models, with the price in force. */
export async function matchesAnswer(
  calls: CallReader,
  book: PriceBook,
  { fromMs, toMs }: MatchesQuestion,
  nowMs: number,
): Promise<CostMatches> {
  const filter = { ...(fromMs === null ? {} : { fromMs }), ...(toMs === null ? {} : { toMs }) }
  const range = await rangeOf(filter, calls, nowMs)
  const counted = range === null ? null : await countedOf(calls, range)
  const isAllCounted = range === null || counted === null || counted.fromMs <= range.fromMs
  return {
    from: new Date(fromMs ?? range?.fromMs ?? 0).toISOString(),
    to: new Date(toMs ?? range?.toMs ?? nowMs).toISOString(),
    counted_from: isAllCounted ? null : new Date(counted.fromMs).toISOString(),
    matches: (counted?.models ?? [])
      .toSorted((a, b) => b.calls - a.calls)
      .map((served) => Object.assign(served, { price: priceOf(book, served, nowMs) })),
  }
}

/** Sums of folded calls do not name the answering upstream. */
async function countedOf(calls: CallReader, { fromMs, toMs }: AskedRange): Promise<ServedCount> {
  const unfoldedFromMs = Math.min(Math.max(fromMs, (await calls.foldedUntilMs()) ?? 0), toMs)
  return calls.servedModels(unfoldedFromMs, toMs, countingMs)
}

function priceOf(
  book: PriceBook,
  { upstream, model, response_model: responseModel }: ServedModel,
  startedAtMs: number,
): MatchedPrice {
  return matchedPrice(book.price({ upstream, model, responseModel, serviceTier: null, startedAtMs }))
}
