import type { CompletionRequest } from './completion-request.ts'
import { type Random, between, drawFrom, integerBetween } from './random.ts'
import type { SimulatedFault } from './simulated-fault.ts'
import { simulatedReasoning, simulatedText, tokensOf } from './simulated-text.ts'

/** One token, and when it is there, from the request on. */
export interface PlannedToken {
  readonly atMs: number
  readonly kind: 'reasoning' | 'content' | 'arguments'
  readonly text: string
}

/** An answer, decided as a whole before its first byte is sent. */
export interface CompletionPlan {
  readonly firstMs: number
  readonly tokens: readonly PlannedToken[]
  readonly endMs: number
  readonly finishReason: 'stop' | 'length' | 'tool_calls'
  /** How many tokens are sent before the connection breaks; null if it holds. */
  readonly breaksAfter: number | null
}

/** How unevenly the tokens of one answer follow each other. */
const gapSigma = 0.35
/** No answer is longer, however the dice fall. */
const mostTokens = 700

/** What is answered and when. */
export function planCompletion(
  request: CompletionRequest,
  fault: SimulatedFault | null,
  random: Random,
): CompletionPlan {
  const { model } = request
  const firstMs = drawFrom(random, model.firstTokenMs)
  const full = writeTokens(request, random)
  const texts = full.slice(0, request.maxTokens ?? full.length)
  const stallsAt = fault === 'stalled' ? middle(texts.length, random) : -1
  let atMs = firstMs
  const tokens = texts.map((token, i) => {
    if (i > 0) atMs += drawFrom(random, { median: 1000 / model.tokensPerS, sigma: gapSigma })
    if (i === stallsAt) atMs += between(random, 1500, 4000)
    return { ...token, atMs }
  })
  return {
    firstMs,
    tokens,
    endMs: atMs,
    finishReason: texts.length < full.length ? 'length' : request.tool === null ? 'stop' : 'tool_calls',
    breaksAfter: fault === 'broken' ? middle(texts.length, random) : null,
  }
}

function writeTokens(request: CompletionRequest, random: Random): Omit<PlannedToken, 'atMs'>[] {
  const { model, tool } = request
  const length = (spread: { readonly median: number; readonly sigma: number }): number =>
    Math.min(mostTokens, Math.round(drawFrom(random, spread)))
  const tokens = (kind: PlannedToken['kind'], texts: readonly string[]): Omit<PlannedToken, 'atMs'>[] =>
    texts.map((text) => ({ kind, text }))
  const thought =
    model.reasoningTokens === null ? '' : simulatedReasoning(length(model.reasoningTokens), random)
  return [
    ...tokens('reasoning', tokensOf(thought)),
    ...(tool === null
      ? tokens('content', tokensOf(simulatedText(length(model.outputTokens), random)))
      : tokens('arguments', tool.arguments.match(/.{1,6}/gsu) ?? [])),
  ]
}

/** A place in the middle half. */
function middle(length: number, random: Random): number {
  return integerBetween(random, Math.floor(length / 4), Math.floor((length * 3) / 4))
}
