/** A model that chats. Its times and lengths are medians. */
export interface ChatModel {
  readonly id: string
  /** Until the answer begins, whatever the prompt's length. */
  readonly firstTokenMs: number
  readonly tokensPerS: number
  readonly outputTokens: number
  /** What it thinks before it answers; 0 if it does not. */
  readonly reasoningTokens: number
}

export interface EmbeddingModel {
  readonly id: string
  readonly firstTokenMs: number
  /** For each input on top of that. */
  readonly perInputMs: number
  readonly dimensions: number
}

/** The models that the simulated upstream pretends to run; their names leave no doubt that it does. */
export const chatModels: readonly ChatModel[] = [
  { id: 'simulated-small', firstTokenMs: 180, tokensPerS: 75, outputTokens: 80, reasoningTokens: 0 },
  { id: 'simulated-large', firstTokenMs: 520, tokensPerS: 38, outputTokens: 140, reasoningTokens: 0 },
  { id: 'simulated-reasoner', firstTokenMs: 1400, tokensPerS: 55, outputTokens: 110, reasoningTokens: 180 },
]
export const embeddingModels: readonly EmbeddingModel[] = [
  { id: 'simulated-embedder', firstTokenMs: 60, perInputMs: 6, dimensions: 64 },
]
export const modelIds: readonly string[] = [...chatModels, ...embeddingModels].map(({ id }) => id)
