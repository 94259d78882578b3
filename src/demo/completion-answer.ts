import type { CompletionPlan, PlannedToken } from './completion-plan.ts'
import type { CompletionRequest } from './completion-request.ts'

/** A simulated answer. Times are milliseconds since the request. */
export interface SimulatedAnswer {
  readonly beginsMs: number
  readonly endsMs: number
  readonly body: object
  /** The answer as a stream of events; null if the request wants no stream. */
  readonly events: readonly { readonly atMs: number; readonly data: object }[] | null
}

/** Builds an answer. `serial` makes its id unique; `created` is in seconds since the Unix epoch. */
export function completionAnswer(
  { kind, model, tool, stream, includeUsage, promptTokens, cachedTokens }: CompletionRequest,
  { tokens, finishReason }: CompletionPlan,
  serial: number,
  created: number,
): SimulatedAnswer {
  const isChat = kind === 'chat'
  const of = (tokenKind: PlannedToken['kind']): readonly string[] =>
    tokens.filter((token) => token.kind === tokenKind).map(({ text }) => text)
  const usage = {
    prompt_tokens: promptTokens,
    completion_tokens: tokens.length,
    total_tokens: promptTokens + tokens.length,
    prompt_tokens_details: { cached_tokens: cachedTokens },
    completion_tokens_details: { reasoning_tokens: of('reasoning').length },
  }
  const id = `${isChat ? 'chatcmpl' : 'cmpl'}-simulated-${serial}`
  const object = isChat ? 'chat.completion' : 'text_completion'
  const head = { id, created, model: model.id, object }
  const choices = (content: object, finish_reason: string | null): object => {
    return { choices: [{ index: 0, ...content, finish_reason, logprobs: null }] }
  }
  // The message of the complete answer. A stream's first event has it without the arguments of tool calls.
  const message = (contents: readonly string[], args: readonly string[]): object => {
    const called = { name: tool?.name, arguments: args.join('') }
    const tool_calls = [{ index: 0, id: `call_simulated_${serial}`, type: 'function', function: called }]
    const content = tool === null ? { content: contents.join('') } : { content: null, tool_calls }
    return { role: 'assistant', ...content }
  }
  const eventHead = {
    ...head,
    object: isChat ? 'chat.completion.chunk' : object,
    usage: includeUsage ? null : undefined,
  }
  const event = (atMs: number, content: object, reason: string | null = null) => {
    return { atMs, data: { ...eventHead, ...choices(isChat ? { delta: content } : content, reason) } }
  }
  const [beginsMs, endsMs] = [tokens[0]?.atMs ?? 0, tokens.at(-1)?.atMs ?? 0]
  const thoughts = of('reasoning').join('') || undefined
  const answer = isChat
    ? { message: { ...message(of('content'), of('arguments')), refusal: null, reasoning_content: thoughts } }
    : { text: of('content').join('') }
  const events = [
    // Streams of legacy completions have no event with a role.
    ...(isChat ? [event(beginsMs, message([], []))] : []),
    ...tokens.map(({ atMs, kind, text }) => event(atMs, isChat ? deltas[kind](text) : { text })),
    event(endsMs, isChat ? {} : { text: '' }, finishReason),
    ...(includeUsage ? [{ atMs: endsMs, data: { ...eventHead, choices: [], usage } }] : []),
  ]
  const body = { ...head, ...choices(answer, finishReason), usage }
  return { beginsMs, endsMs, body, events: stream ? events : null }
}

const deltas: Readonly<Record<PlannedToken['kind'], (text: string) => object>> = {
  content: (text) => ({ content: text }),
  reasoning: (text) => ({ reasoning_content: text }),
  arguments: (text) => ({ tool_calls: [{ index: 0, function: { arguments: text } }] }),
}
