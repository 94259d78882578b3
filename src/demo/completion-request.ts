import { fits, integer } from '../lib/message-schema.ts'
import { type Fields, fields } from '../lib/message-shape.ts'
import { ApiError, arrayOf, modelOf, promptTokensOf } from './request-fields.ts'
import { type ChatModel, chatModels } from './simulated-models.ts'

/** The fields of a chat or legacy completion request that the simulation reads. */
export interface CompletionRequest {
  readonly kind: 'chat' | 'text'
  readonly model: ChatModel
  readonly stream: boolean
  readonly includeUsage: boolean
  /** The client's bound of output tokens; null without one. */
  readonly maxTokens: number | null
  /** The tool that the model calls instead of answering; null for an answer. */
  readonly tool: { readonly name: string; readonly arguments: string } | null
  readonly promptTokens: number
  /** Prompt tokens that the upstream's cache has from an earlier turn. */
  readonly cachedTokens: number
}

/** Smallest prompt that upstreams cache; they cache in steps of `cacheStepTokens`. */
const leastCachedTokens = 1024
const cacheStepTokens = 128

const isMaxTokens = fits(integer(1))

/** Throws {@link ApiError} if the request cannot be answered. */
export function readCompletionRequest(kind: 'chat' | 'text', body: Fields): CompletionRequest {
  const model = modelOf(body, chatModels)
  const messages = kind === 'chat' ? arrayOf(body['messages']) : []
  if (kind === 'chat' && messages.length === 0) {
    throw new ApiError(400, '`messages` must be a list with at least one message.', { param: 'messages' })
  }
  const roles = messages.map((message) => fields(message)['role'])
  const promptTokens = promptTokensOf([body['prompt'], messages, body['tools']])
  // A later turn finds most of its prompt in the cache, unless the prompt's head lacks the tools now.
  const isHeadSame = !roles.includes('tool') || arrayOf(body['tools']).length > 0
  const isCached = isHeadSame && roles.includes('assistant') && promptTokens >= leastCachedTokens
  return {
    kind,
    model,
    stream: body['stream'] === true,
    includeUsage: fields(body['stream_options'])['include_usage'] === true,
    maxTokens: readMaxTokens(body),
    tool: kind === 'chat' ? nextTool(body, roles) : null,
    promptTokens,
    cachedTokens: isCached ? promptTokens - (promptTokens % cacheStepTokens) : 0,
  }
}

function readMaxTokens(body: Fields): number | null {
  for (const param of ['max_completion_tokens', 'max_tokens']) {
    const value = body[param] ?? null
    if (value === null) continue
    if (isMaxTokens(value)) return value
    throw new ApiError(400, `\`${param}\` must be a whole number of at least 1.`, { param })
  }
  return null
}

/** The next tool to call: after the user's last message, each offered tool once, in order. Null when all were called. */
function nextTool(body: Fields, roles: readonly unknown[]): CompletionRequest['tool'] {
  if (body['tool_choice'] === 'none') return null
  const results = roles.slice(roles.lastIndexOf('user') + 1).filter((role) => role === 'tool').length
  const { name, parameters } = fields(fields(arrayOf(body['tools'])[results])['function'])
  return typeof name === 'string' ? { name, arguments: JSON.stringify(sampleArguments(parameters)) } : null
}

/** A value of the right type for each of the tool's parameters. */
function sampleArguments(schema: unknown): Fields {
  const properties = Object.entries(fields(fields(schema)['properties']))
  return Object.fromEntries(properties.map(([name, property]) => [name, sampleValue(fields(property))]))
}

function sampleValue(schema: Fields): unknown {
  const [first] = arrayOf(schema['enum'])
  if (first !== undefined) return first
  if (schema['type'] === 'object') return sampleArguments(schema)
  return samples[String(schema['type'])] ?? 'simulated'
}

const samples: Fields = { integer: 1, number: 1, boolean: true, array: [] }
