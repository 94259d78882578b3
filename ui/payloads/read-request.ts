import type { ChatMessage, ChatSetting } from './chat-message.ts'
import { count } from '../format/figures.ts'
import { type JsonObject, asText, listOf, objectOf, textOf } from './json-value.ts'
import { readContent } from './read-content.ts'
import { readItem, readMessage } from './read-messages.ts'

/** What a request asked, in the order in which it was said; no messages where its form is not known. */
export interface ReadRequest {
  readonly messages: readonly ChatMessage[]
  readonly settings: readonly ChatSetting[]
  /** Names of the tools that the model may call. */
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

/** The last thing that was said: what is new in a conversation that grows. */
export function lastMessageOf(value: unknown): ChatMessage | null {
  const body = objectOf(value)
  const short = {
    messages: lastOf(body['messages']),
    input: lastOf(body['input']),
    prompt: lastOf(body['prompt']),
    query: body['query'],
  }
  return readMessages(short).at(-1) ?? null
}

function lastOf(value: unknown): unknown {
  return Array.isArray(value) ? value.slice(-1) : value
}

function readMessages(body: JsonObject): readonly ChatMessage[] {
  const { messages, input, prompt, query } = {
    messages: body['messages'],
    input: body['input'],
    prompt: body['prompt'],
    query: body['query'],
  }
  if (Array.isArray(messages)) return [...readSystem(body['system']), ...messages.map(readMessage)]
  if (input !== undefined) return [...readSystem(body['instructions']), ...readInput(input)]
  if (prompt !== undefined) return numbered('Prompt', prompt)
  if (query !== undefined) {
    const documents = listOf(body['documents'] ?? body['texts']).map((one) => objectOf(one)['text'] ?? one)
    return [
      { speaker: 'Query', note: null, parts: readContent(query) },
      ...documents.map((text, at) => ({
        speaker: `Document ${count(at + 1)}`,
        note: null,
        parts: readContent(asText(text)),
      })),
    ]
  }
  return []
}

function readSystem(value: unknown): readonly ChatMessage[] {
  const parts = readContent(value)
  return parts.length === 0 ? [] : [{ speaker: 'System', note: null, parts }]
}

/** Texts to embed, or the items of a conversation. */
function readInput(input: unknown): readonly ChatMessage[] {
  const isOfItems =
    Array.isArray(input) && input.some((one) => typeof one === 'object' && !Array.isArray(one))
  return isOfItems ? input.map(readItem) : numbered('Input', input)
}

/** A text, a list of texts, or the numbers of tokens in place of either. */
function numbered(speaker: string, value: unknown): readonly ChatMessage[] {
  const isOne = !Array.isArray(value) || value.every((one) => typeof one === 'number')
  const all = isOne ? [value] : value
  return all.map((one, at) => ({
    speaker: all.length === 1 ? speaker : `${speaker} ${count(at + 1)}`,
    note: null,
    parts: Array.isArray(one)
      ? [{ kind: 'json' as const, text: `${count(one.length)} tokens, by their numbers` }]
      : readContent(one),
  }))
}

function readSettings(body: JsonObject): readonly ChatSetting[] {
  const format = objectOf(body['response_format'] ?? objectOf(body['text'])['format'])
  const effort = objectOf(body['reasoning'])['effort']
  return [
    ...settingNames.flatMap((name): readonly ChatSetting[] => {
      const value = body[name]
      return value === undefined || value === null ? [] : [[name, asText(value)]]
    }),
    ...(effort === undefined ? [] : [['reasoning effort', asText(effort)] as const]),
    ...(format['type'] === undefined ? [] : [['format', asText(format['type'])] as const]),
  ]
}

function readTools(value: unknown): readonly string[] {
  return listOf(value).map((one) => {
    const tool = objectOf(one)
    return (
      textOf(objectOf(tool['function'])['name']) ?? textOf(tool['name']) ?? asText(tool['type'] ?? 'tool')
    )
  })
}
