import type { CompletionPlan, PlannedToken } from './completion-plan.ts'
import type { CompletionRequest } from './completion-request.ts'

/** The JSON of one completion: whole, and as the events of a stream. */
export interface CompletionAnswer {
  readonly whole: object
  /** The role, or the tool that is called: what a chat's stream begins with. Legacy streams have no such event. */
  readonly opening: readonly object[]
  readonly token: (token: PlannedToken) => object
  /** The finish reason, and the usage for those who asked for it. */
  readonly ending: readonly object[]
}

/** `serial` tells this answer from others; `createdS` is in seconds since the Unix epoch. */
export function completionAnswer(
  request: CompletionRequest,
  plan: CompletionPlan,
  serial: number,
  createdS: number,
): CompletionAnswer {
  const { kind, tool, includeUsage } = request
  const { tokens, finishReason } = plan
  const isChat = kind === 'chat'
  const usage = usageOf(request, tokens)
  const textOf = (wanted: PlannedToken['kind']): string =>
    tokens.flatMap((token) => (token.kind === wanted ? [token.text] : [])).join('')
  const id = `${isChat ? 'chatcmpl' : 'cmpl'}-simulated-${serial}`
  const head = { id, created: createdS, model: request.model.id }
  const eventHead = { ...head, object: isChat ? 'chat.completion.chunk' : 'text_completion' }
  const choice = (said: object, finish_reason: string | null): object => ({
    index: 0,
    ...said,
    finish_reason,
    logprobs: null,
  })
  const event = (said: object, reason: string | null = null): object => ({
    ...eventHead,
    choices: [choice(isChat ? { delta: said } : said, reason)],
    ...(includeUsage ? { usage: null } : {}),
  })
  const toolCall = (args: string): object => ({
    id: `call_simulated_${serial}`,
    type: 'function',
    function: { name: tool?.name ?? '', arguments: args },
  })
  const reasoning = textOf('reasoning')
  const message = {
    role: 'assistant',
    content: tool === null ? textOf('content') : null,
    refusal: null,
    ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
    ...(tool === null ? {} : { tool_calls: [toolCall(textOf('arguments'))] }),
  }
  const begun =
    tool === null ? { content: '' } : { content: null, tool_calls: [{ index: 0, ...toolCall('') }] }
  return {
    whole: {
      ...head,
      object: isChat ? 'chat.completion' : 'text_completion',
      choices: [choice(isChat ? { message } : { text: textOf('content') }, finishReason)],
      usage,
    },
    opening: isChat ? [event({ role: 'assistant', ...begun })] : [],
    token: (token) => event(isChat ? deltaOf(token) : { text: token.text }),
    ending: [
      event(isChat ? {} : { text: '' }, finishReason),
      ...(includeUsage ? [{ ...eventHead, choices: [], usage }] : []),
    ],
  }
}

function deltaOf({ kind, text }: PlannedToken): object {
  if (kind === 'content') return { content: text }
  if (kind === 'reasoning') return { reasoning_content: text }
  return { tool_calls: [{ index: 0, function: { arguments: text } }] }
}

function usageOf({ promptTokens, cachedTokens }: CompletionRequest, tokens: readonly PlannedToken[]): object {
  const reasoning_tokens = tokens.filter(({ kind }) => kind === 'reasoning').length
  return {
    prompt_tokens: promptTokens,
    completion_tokens: tokens.length,
    total_tokens: promptTokens + tokens.length,
    prompt_tokens_details: { cached_tokens: cachedTokens },
    completion_tokens_details: { reasoning_tokens },
  }
}
