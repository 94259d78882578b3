/** Simulated prices in USD per million tokens, named as in `model_costs.json`. */
export interface SimulatedPrices {
  readonly input: number
  readonly output?: number
  readonly cache_read?: number
}

/** A simulated chat model. Times (ms) and lengths (tokens) are medians. */
export interface ChatModel {
  readonly id: string
  /** Time until the answer begins, for any length of prompt. */
  readonly firstTokenMs: number
  readonly tokensPerS: number
  readonly outputTokens: number
  /** Tokens of reasoning before the answer; 0 for none. */
  readonly reasoningTokens: number
  /** Limits of requests and tokens per minute. */
  readonly limits?: { readonly requests: number; readonly tokens: number }
  readonly prices: SimulatedPrices
}

/** A simulated model that embeds texts. */
export interface EmbeddingModel {
  readonly id: string
  readonly firstTokenMs: number
  /** Additional time (ms) for each input. */
  readonly perInputMs: number
  readonly dimensions: number
  readonly prices: SimulatedPrices
}

/** The models that the simulated upstream pretends to run; their names leave no doubt that it does. */
export const chatModels: readonly ChatModel[] = [
  {
    id: 'simulated-small',
    firstTokenMs: 180,
    tokensPerS: 75,
    outputTokens: 80,
    reasoningTokens: 0,
    prices: { input: 0.2, output: 0.8, cache_read: 0.05 },
  },
  {
    id: 'simulated-large',
    firstTokenMs: 520,
    tokensPerS: 38,
    outputTokens: 140,
    reasoningTokens: 0,
    limits: { requests: 60, tokens: 150_000 },
    prices: { input: 2.5, output: 12, cache_read: 0.25 },
  },
  {
    id: 'simulated-reasoner',
    firstTokenMs: 1400,
    tokensPerS: 55,
    outputTokens: 110,
    reasoningTokens: 180,
    prices: { input: 1.5, output: 6, cache_read: 0.3 },
  },
]
export const embeddingModels: readonly EmbeddingModel[] = [
  { id: 'simulated-embedder', firstTokenMs: 60, perInputMs: 6, dimensions: 64, prices: { input: 0.05 } },
]
const models: readonly (ChatModel | EmbeddingModel)[] = [...chatModels, ...embeddingModels]
export const modelIds: readonly string[] = models.map(({ id }) => id)
export const modelPrices: Readonly<Record<string, SimulatedPrices>> = Object.fromEntries(
  models.map(({ id, prices }) => [id, prices]),
)
