import { count } from '../format/figures.ts'
import { type JsonObject, asText, listOf, objectOf, textOf } from './json-value.ts'
import { type ChatMessage, readContent, readItem, readMessage, messageBy } from './read-messages.ts'

/** A setting of the request that shapes the answer: `temperature`, `0.2`. */
type ChatSetting = readonly [name: string, value: string]

/** The messages and settings of a request. An unknown form has no messages. */
export interface ReadRequest {
  readonly messages: readonly ChatMessage[]
  readonly settings: readonly ChatSetting[]
  /** The names of the tools that the model may call. */
  readonly tools: readonly string[]
}

const settingNames: readonly string[] = [
  'temperature',
  'top_p',
  'top_k',
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
  'reasoning_effort',
  'seed',
  'n',
  'stop',
  'tool_choice',
  'service_tier',
  'previous_response_id',
  'dimensions',
  'encoding_format',
  'top_n',
]

/** Reads the body of a request: chat, legacy completions, Responses, Anthropic's messages, embeddings, reranking. */
export function readRequest(value: unknown): ReadRequest {
  const body = objectOf(value)
  return { messages: readMessages(body), settings: readSettings(body), tools: readTools(body['tools']) }
}

/** Returns the last message, which is the new one in a growing conversation; null without one. */
export function lastMessageOf(value: unknown): ChatMessage | null {
  const { messages, input, prompt, query } = objectOf(value)
  const short = { messages: lastOf(messages), input: lastOf(input), prompt: lastOf(prompt), query }
  return readMessages(short).at(-1) ?? null
}

function lastOf(value: unknown): unknown {
  return Array.isArray(value) ? value.slice(-1) : value
}

function readMessages(body: JsonObject): readonly ChatMessage[] {
  const { messages, system, input, instructions, prompt, query, documents, texts } = body
  if (Array.isArray(messages)) return [...readSystem(system), ...messages.map(readMessage)]
  if (input !== undefined) return [...readSystem(instructions), ...readInput(input)]
  if (prompt !== undefined) return numbered('Prompt', prompt)
  if (query === undefined) return []
  return [
    messageBy('Query', readContent(query)),
    ...listOf(documents ?? texts).map((item, at) =>
      messageBy(`Document ${count(at + 1)}`, readContent(asText(objectOf(item)['text'] ?? item))),
    ),
  ]
}

function readSystem(value: unknown): readonly ChatMessage[] {
  const parts = readContent(value)
  return parts.length === 0 ? [] : [messageBy('System', parts)]
}

/** Reads texts to embed, or the items of a conversation. */
function readInput(input: unknown): readonly ChatMessage[] {
  const isOfItems =
    Array.isArray(input) && input.some((item) => typeof item === 'object' && !Array.isArray(item))
  return isOfItems ? input.map(readItem) : numbered('Input', input)
}

/** Reads a text, a list of texts, or lists of token numbers. */
function numbered(speaker: string, value: unknown): readonly ChatMessage[] {
  const isOne = !Array.isArray(value) || value.every((item) => typeof item === 'number')
  const all = isOne ? [value] : value
  return all.map((item, at) =>
    messageBy(
      all.length === 1 ? speaker : `${speaker} ${count(at + 1)}`,
      Array.isArray(item)
        ? [{ kind: 'json', text: `${count(item.length)} tokens, by their numbers` }]
        : readContent(item),
    ),
  )
}

function readSettings(body: JsonObject): readonly ChatSetting[] {
  const format = objectOf(body['response_format'] ?? objectOf(body['text'])['format'])
  const settings: readonly (readonly [name: string, value: unknown])[] = [
    ...settingNames.map((name) => [name, body[name] ?? undefined] as const),
    ['reasoning effort', objectOf(body['reasoning'])['effort']],
    ['format', format['type']],
  ]
  return settings.flatMap(([name, value]) => (value === undefined ? [] : [[name, asText(value)] as const]))
}

function readTools(value: unknown): readonly string[] {
  return listOf(value).map((tool) => {
    const { function: inner, name, type = 'tool' } = objectOf(tool)
    return textOf(objectOf(inner)['name']) ?? textOf(name) ?? asText(type)
  })
}
