import type { CompletionRequest } from './completion-request.ts'
import { type Random, between, drawFrom } from './random.ts'
import type { SimulatedFault } from './simulated-fault.ts'
import { reasoningOpening, simulatedText, tokensOf } from './simulated-text.ts'

/** A token, and its time (ms) since the request. */
export interface PlannedToken {
  readonly atMs: number
  readonly kind: 'reasoning' | 'content' | 'arguments'
  readonly text: string
}

/** An answer, planned as a whole before its first byte is sent. */
export interface CompletionPlan {
  /** At least one. */
  readonly tokens: readonly PlannedToken[]
  readonly finishReason: 'stop' | 'length' | 'tool_calls'
}

/** Most tokens of an answer. */
const mostTokens = 700

/** Plans an answer and the time of each part. */
export function planCompletion(
  { model, tool, maxTokens }: CompletionRequest,
  fault: SimulatedFault | null,
  random: Random,
): CompletionPlan {
  const tokens = (kind: PlannedToken['kind'], texts: readonly string[]) =>
    texts.map((text) => ({ kind, text }))
  const words = (median: number, opening?: string): readonly string[] =>
    tokensOf(simulatedText(Math.min(mostTokens, drawFrom(random, { median })), random, opening))
  const full = [
    ...tokens('reasoning', model.reasoningTokens === 0 ? [] : words(model.reasoningTokens, reasoningOpening)),
    ...(tool === null
      ? tokens('content', words(model.outputTokens))
      : tokens('arguments', tool.arguments.match(/.{1,6}/gsu) ?? [])),
  ]
  const sent = full.slice(0, maxTokens ?? full.length)
  const stallsAt = fault === 'stalled' ? Math.floor(sent.length * between(random, 0.25, 0.75)) : -1
  let atMs = drawFrom(random, { median: model.firstTokenMs })
  return {
    tokens: sent.map((token, i) => {
      if (i > 0) atMs += drawFrom(random, { median: 1000 / model.tokensPerS })
      if (i === stallsAt) atMs += between(random, 1500, 4000)
      return { ...token, atMs }
    }),
    finishReason: sent.length < full.length ? 'length' : tool === null ? 'stop' : 'tool_calls',
  }
}
