import { fromGenaiPrices, type GenaiProvider } from './genai-prices-adapter.ts'
import { type ModelCosts, noPrices } from './model-costs.ts'

/** The prices that come with the program, made of a version of `@pydantic/genai-prices` and the instant it was published. */
export function firstBook(
  providers: readonly GenaiProvider[],
  { version, at }: { readonly version: string; readonly at: string },
): ModelCosts {
  const source = `genai-prices ${version}`
  const { models, rejected } = fromGenaiPrices(providers, { source, updatedAt: at })
  return {
    ...noPrices,
    source: {
      name: source,
      url: `https://www.npmjs.com/package/@pydantic/genai-prices/v/${version}`,
      licence: 'MIT',
      entries: models.size,
      rejected: rejected.length,
    },
    models: Object.fromEntries(models),
  }
}
