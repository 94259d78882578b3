import type { CompletionPlan, PlannedToken } from './completion-plan.ts'
import type { CompletionRequest } from './completion-request.ts'

/** The JSON of one completion, whole or as the events of a stream. */
export class CompletionAnswer {
  readonly #request: CompletionRequest
  readonly #plan: CompletionPlan
  readonly #serial: number
  readonly #createdS: number

  /** `serial` tells this answer from others; `createdS` is in seconds since the Unix epoch. */
  constructor(request: CompletionRequest, plan: CompletionPlan, serial: number, createdS: number) {
    this.#request = request
    this.#plan = plan
    this.#serial = serial
    this.#createdS = createdS
  }

  whole(): unknown {
    const content = this.#textOf('content')
    if (this.#request.kind === 'text') {
      const choice = { index: 0, text: content, finish_reason: this.#plan.finishReason, logprobs: null }
      return { ...this.#head('text_completion'), choices: [choice], usage: this.#usage() }
    }
    const reasoning = this.#textOf('reasoning')
    const message = {
      role: 'assistant',
      content: this.#request.tool === null ? content : null,
      refusal: null,
      ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
      ...(this.#request.tool === null ? {} : { tool_calls: [this.#toolCall(this.#textOf('arguments'))] }),
    }
    const choice = { index: 0, message, finish_reason: this.#plan.finishReason, logprobs: null }
    return { ...this.#head('chat.completion'), choices: [choice], usage: this.#usage() }
  }

  /** The role, or the tool that is called: what a chat's stream begins with. Legacy streams have no such event. */
  opening(): unknown {
    if (this.#request.kind === 'text') return null
    const what =
      this.#request.tool === null
        ? { content: '' }
        : { content: null, tool_calls: [{ index: 0, ...this.#toolCall('') }] }
    return this.#event([this.#chatChoice({ role: 'assistant', ...what }, null)])
  }

  token({ kind, text }: PlannedToken): unknown {
    if (this.#request.kind === 'text') return this.#event([this.#textChoice(text, null)])
    const deltas = {
      content: { content: text },
      reasoning: { reasoning_content: text },
      arguments: { tool_calls: [{ index: 0, function: { arguments: text } }] },
    }
    return this.#event([this.#chatChoice(deltas[kind], null)])
  }

  finish(): unknown {
    const reason = this.#plan.finishReason
    return this.#event([
      this.#request.kind === 'text' ? this.#textChoice('', reason) : this.#chatChoice({}, reason),
    ])
  }

  /** The event behind the finish, for those who asked for it. */
  usage(): unknown {
    return this.#request.includeUsage ? { ...this.#eventHead(), choices: [], usage: this.#usage() } : null
  }

  #event(choices: readonly unknown[]): unknown {
    return { ...this.#eventHead(), choices, ...(this.#request.includeUsage ? { usage: null } : {}) }
  }

  #chatChoice(delta: unknown, finish_reason: string | null): unknown {
    return { index: 0, delta, finish_reason, logprobs: null }
  }

  #textChoice(text: string, finish_reason: string | null): unknown {
    return { index: 0, text, finish_reason, logprobs: null }
  }

  #eventHead(): object {
    return this.#head(this.#request.kind === 'text' ? 'text_completion' : 'chat.completion.chunk')
  }

  #head(object: string): object {
    const id = `${this.#request.kind === 'text' ? 'cmpl' : 'chatcmpl'}-simulated-${this.#serial}`
    return { id, object, created: this.#createdS, model: this.#request.model.id }
  }

  #toolCall(args: string): object {
    const name = this.#request.tool?.name ?? ''
    return { id: `call_simulated_${this.#serial}`, type: 'function', function: { name, arguments: args } }
  }

  #textOf(kind: PlannedToken['kind']): string {
    const tokens = this.#plan.tokens.filter((token) => token.kind === kind)
    return tokens.map((token) => token.text).join('')
  }

  #usage(): unknown {
    const { promptTokens, cachedTokens } = this.#request
    const { tokens } = this.#plan
    return {
      prompt_tokens: promptTokens,
      completion_tokens: tokens.length,
      total_tokens: promptTokens + tokens.length,
      prompt_tokens_details: { cached_tokens: cachedTokens },
      completion_tokens_details: {
        reasoning_tokens: tokens.filter((token) => token.kind === 'reasoning').length,
      },
    }
  }
}
