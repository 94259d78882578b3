import type { CostMatch, CostMatches, MatchedPrice } from '../api/costs.ts'
import type { CallReader } from '../call/call-reader.ts'
import type { PriceBook } from '../pricing/price-book.ts'
import type { ServedModel, ServedReader } from '../store/served-models.ts'
import { type AskedRange, rangeOf } from './asked-range.ts'
import type { MatchesQuestion } from './query-question.ts'

/** Up to so many calls each one is read; beyond that the sums by model are, and of its newest calls who answered them. */
const mostRead = 200_000
/** Models whose upstreams are looked for among many of their newest calls, and how many; of the others few do. */
const looked = { models: 100, calls: 200, fewCalls: 20 } as const

/** What the recorded calls cost, by who answered them, and what the prices in force say of each. */
export function matchesAnswer(
  calls: CallReader,
  served: ServedReader,
  book: PriceBook,
  { fromMs, toMs }: MatchesQuestion,
  nowMs: number,
): CostMatches {
  const range = rangeOf(
    { ...(fromMs === null ? {} : { fromMs }), ...(toMs === null ? {} : { toMs }) },
    calls,
    nowMs,
  )
  const found =
    range === null ? [] : isFewEnough(calls, range) ? exact(served, range) : bySums(calls, served, range)
  return {
    from: new Date(fromMs ?? range?.fromMs ?? 0).toISOString(),
    to: new Date(toMs ?? range?.toMs ?? nowMs).toISOString(),
    matches: found.toSorted((a, b) => b.calls - a.calls).map((one) => matchOf(one, book, nowMs)),
  }
}

interface Found extends ServedModel {
  /** The figures of a model were shared out by a sample of its calls. */
  readonly isAbout?: true
}

function isFewEnough(calls: CallReader, { fromMs, toMs }: AskedRange): boolean {
  if (fromMs < (calls.foldedUntilMs() ?? 0)) return false
  const question = { filter: {}, edgesMs: [fromMs, toMs], dimension: null, isSumsOnly: true } as const
  return calls.aggregate(question).summary.calls <= mostRead
}

function exact(served: ServedReader, { fromMs, toMs }: AskedRange): readonly Found[] {
  return served.between(fromMs, toMs)
}

/** The sums of each model are exact; how they are shared among several upstreams is what its newest calls say. */
function bySums(calls: CallReader, served: ServedReader, { fromMs, toMs }: AskedRange): readonly Found[] {
  const edgesMs = [fromMs, toMs]
  const { groups } = calls.aggregate({ filter: {}, edgesMs, dimension: 'model', isSumsOnly: true })
  const models = groups.toSorted((a, b) => b.figures.calls - a.figures.calls)
  return models.flatMap(({ entry, figures }, index): readonly Found[] => {
    const model = entry === null ? null : String(entry)
    const limit = index < looked.models ? looked.calls : looked.fewCalls
    const sample = served.latest(model, fromMs, toMs, limit)
    // What was folded left no row; who answers the model now most likely did so then.
    const known = sample.length > 0 ? sample : served.latest(model, 0, Number.MAX_SAFE_INTEGER / 4096, 1)
    const whole = {
      model,
      calls: figures.calls,
      unpricedCalls: figures.unpriced_calls,
      inputTokens: figures.input_tokens,
      outputTokens: figures.output_tokens,
      costNanoUsd: figures.cost_usd === null ? null : Math.round(figures.cost_usd * 1e9),
    }
    // Nothing of it can cost anything.
    if (known.length === 0 && whole.unpricedCalls === 0 && whole.costNanoUsd === null) return []
    if (known.length === 0) return [{ ...whole, upstream: null, responseModel: null, isAbout: true }]
    return shared(whole, known)
  })
}

function shared(
  whole: Omit<ServedModel, 'upstream' | 'responseModel'>,
  sample: readonly ServedModel[],
): readonly Found[] {
  const [first, ...others] = sample.toSorted((a, b) => b.calls - a.calls)
  if (first === undefined) return []
  if (others.length === 0) return [{ ...first, ...whole }]
  const parts = others.map((one) => {
    const part = (of: (served: ServedModel) => number): number => {
      const all = sample.reduce((sum, each) => sum + of(each), 0)
      return all === 0 ? 0 : Math.round((of(whole as ServedModel) * of(one)) / all)
    }
    const { upstream, model, responseModel } = one
    return {
      upstream,
      model,
      responseModel,
      calls: part(({ calls }) => calls),
      unpricedCalls: part(({ unpricedCalls }) => unpricedCalls),
      inputTokens: part(({ inputTokens }) => inputTokens),
      outputTokens: part(({ outputTokens }) => outputTokens),
      costNanoUsd: one.costNanoUsd === null ? null : part(({ costNanoUsd }) => costNanoUsd ?? 0),
      isAbout: true as const,
    }
  })
  const rest = (of: (served: ServedModel) => number): number =>
    of(whole as ServedModel) - parts.reduce((sum, part) => sum + of(part), 0)
  return [
    {
      ...first,
      calls: rest(({ calls }) => calls),
      unpricedCalls: rest(({ unpricedCalls }) => unpricedCalls),
      inputTokens: rest(({ inputTokens }) => inputTokens),
      outputTokens: rest(({ outputTokens }) => outputTokens),
      costNanoUsd: whole.costNanoUsd === null ? null : rest(({ costNanoUsd }) => costNanoUsd ?? 0),
      isAbout: true,
    },
    ...parts,
  ]
}

function matchOf(served: Found, book: PriceBook, nowMs: number): CostMatch {
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
    ...(served.isAbout === true ? { approximate: true } : {}),
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
