import type { CallPricer } from '../../src/pricing/price-book.ts'

/** Prices by the tokens of a call: model `c` has no price, and neither has a call without a model. */
export function priceBy(factor: number): CallPricer {
  return {
    costOf: ({ model, inputTokens, cachedInputTokens }) =>
      model === null || model === 'c'
        ? null
        : {
            costNanoUsd: factor * (inputTokens ?? 0),
            cacheSavedNanoUsd: factor * (cachedInputTokens ?? 0),
            source: `by ${factor}`,
            key: model,
          },
  }
}
