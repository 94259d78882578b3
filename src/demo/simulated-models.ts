import type { Spread } from './random.ts'

export interface ChatModel {
  readonly kind: 'chat'
  readonly id: string
  /** Until the answer begins, whatever the prompt's length. */
  readonly firstTokenMs: Spread
  readonly tokensPerS: number
  readonly outputTokens: Spread
  /** What it thinks before it answers; null if it does not. */
  readonly reasoningTokens: Spread | null
}

export interface EmbeddingModel {
  readonly kind: 'embedding'
  readonly id: string
  readonly firstTokenMs: Spread
  /** For each input on top of that. */
  readonly perInputMs: number
  readonly dimensions: number
}

export type SimulatedModel = ChatModel | EmbeddingModel

/** The models that the simulated upstream pretends to run; their names leave no doubt that it does. */
export const simulatedModels: readonly SimulatedModel[] = [
  {
    kind: 'chat',
    id: 'simulated-small',
    firstTokenMs: { median: 180, sigma: 0.35 },
    tokensPerS: 75,
    outputTokens: { median: 80, sigma: 0.4 },
    reasoningTokens: null,
  },
  {
    kind: 'chat',
    id: 'simulated-large',
    firstTokenMs: { median: 520, sigma: 0.45 },
    tokensPerS: 38,
    outputTokens: { median: 140, sigma: 0.5 },
    reasoningTokens: null,
  },
  {
    kind: 'chat',
    id: 'simulated-reasoner',
    firstTokenMs: { median: 1400, sigma: 0.5 },
    tokensPerS: 55,
    outputTokens: { median: 110, sigma: 0.4 },
    reasoningTokens: { median: 180, sigma: 0.6 },
  },
  {
    kind: 'embedding',
    id: 'simulated-embedder',
    firstTokenMs: { median: 60, sigma: 0.3 },
    perInputMs: 6,
    dimensions: 64,
  },
]
