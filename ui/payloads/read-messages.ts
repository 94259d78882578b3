import type { ChatMessage, MessagePart } from './chat-message.ts'
import { asText, listOf, objectOf, textOf, type JsonObject } from './json-value.ts'
import { readContent, wordsOf } from './read-content.ts'

const speakers: Readonly<Record<string, string>> = {
  system: 'System',
  developer: 'Developer',
  user: 'User',
  assistant: 'Assistant',
  tool: 'Tool',
  function: 'Tool',
}

/** Who speaks, as the page says it. */
export function speakerOf(role: unknown): string {
  const text = textOf(role)
  return text === null ? 'Message' : Object.hasOwn(speakers, text) ? (speakers[text] ?? text) : text
}

/** A message of OpenAI's chat or of Anthropic. */
export function readMessage(value: unknown): ChatMessage {
  const message = objectOf(value)
  const { role, name } = { role: message['role'], name: textOf(message['name']) }
  const speaker = speakerOf(role)
  const reasoning = textOf(message['reasoning_content']) ?? textOf(message['reasoning'])
  const content = readContent(message['content'])
  if (role === 'tool' || role === 'function') {
    const id = textOf(message['tool_call_id'])
    return { speaker, note: name, parts: [{ kind: 'result', id, isError: false, text: wordsOf(content) }] }
  }
  const refusal = textOf(message['refusal'])
  const audio = textOf(objectOf(message['audio'])['transcript'])
  const said = [
    ...(reasoning === null ? [] : [{ kind: 'reasoning', text: reasoning } as const]),
    ...content,
    ...(refusal === null ? [] : [{ kind: 'refusal', text: refusal } as const]),
    ...(audio === null ? [] : [{ kind: 'text', text: audio } as const]),
    ...readToolCalls(message['tool_calls']),
    ...(message['function_call'] === undefined || message['function_call'] === null
      ? []
      : [readToolCall({ function: message['function_call'] })]),
  ]
  return { speaker, note: name, parts: said }
}

/** Those of OpenAI's chat, and those that the gateway has put together from a stream. */
export function readToolCalls(value: unknown): readonly MessagePart[] {
  return listOf(value).map((call) => readToolCall(objectOf(call)))
}

function readToolCall(call: JsonObject): MessagePart {
  const said = call['function'] ?? call['custom']
  const inner = said === undefined ? call : objectOf(said)
  return {
    kind: 'call',
    name: asText(inner['name'] ?? ''),
    id: textOf(call['id']),
    text: asText(inner['arguments'] ?? inner['input'] ?? ''),
  }
}

/** An item of the input or output of OpenAI's Responses. */
export function readItem(value: unknown): ChatMessage {
  if (typeof value === 'string') return { speaker: 'User', note: null, parts: readContent(value) }
  const item = objectOf(value)
  const id = textOf(item['call_id'])
  switch (item['type']) {
    case undefined:
    case 'message':
      return readMessage(item)
    case 'function_call':
    case 'custom_tool_call':
      return { speaker: 'Assistant', note: null, parts: [{ ...callOfItem(item), id }] }
    case 'function_call_output':
    case 'custom_tool_call_output':
      return {
        speaker: 'Tool',
        note: null,
        parts: [{ kind: 'result', id, isError: false, text: wordsOf(readContent(item['output'])) }],
      }
    case 'reasoning': {
      const words = wordsOf([...readContent(item['summary']), ...readContent(item['content'])])
      const text = words === '' ? 'Not told by the upstream.' : words
      return { speaker: 'Assistant', note: null, parts: [{ kind: 'reasoning', text }] }
    }
    default:
      return { speaker: asText(item['type']), note: null, parts: [{ kind: 'json', text: asText(value) }] }
  }
}

function callOfItem(item: JsonObject): Extract<MessagePart, { readonly kind: 'call' }> {
  const text = asText(item['arguments'] ?? item['input'] ?? '')
  return { kind: 'call', name: asText(item['name'] ?? ''), id: null, text }
}
