import { bytes } from '../format/figures.ts'
import { type JsonObject, asText, listOf, objectOf, textOf } from './json-value.ts'

/** A part of a message, from any wire format. All of it is text, never markup. */
export type MessagePart =
  | { readonly kind: 'text' | 'reasoning' | 'refusal'; readonly text: string }
  /** An image, a sound or a file, which is only described: `Image (png), 34 kB`. */
  | { readonly kind: 'media'; readonly text: string }
  /** A tool call of the model. `text` has the unchanged arguments. */
  | { readonly kind: 'call'; readonly name: string; readonly id: string | null; readonly text: string }
  /** The result of a tool. */
  | { readonly kind: 'result'; readonly id: string | null; readonly isError: boolean; readonly text: string }
  /** A part of an unknown kind, as JSON. */
  | { readonly kind: 'json'; readonly text: string }

/** A message of a conversation, or one input of a request. */
export interface ChatMessage {
  /** `System`, `User`, `Assistant`, `Tool`, `Document 3`. */
  readonly speaker: string
  /** Quiet text beside the speaker: a name, or the finish reason. */
  readonly note: string | null
  readonly parts: readonly MessagePart[]
}

/** Returns a message without a note. */
export function messageBy(speaker: string, parts: readonly MessagePart[]): ChatMessage {
  return { speaker, note: null, parts }
}

/** Returns a part of plain text; an empty list if there is no text. */
export function textPart(kind: 'text' | 'reasoning' | 'refusal', value: unknown): readonly MessagePart[] {
  const text = textOf(value)
  return text === null ? [] : [{ kind, text }]
}

/** Returns the speaker of a role, with a capital: `System`, `User`. Tools have an older role, too. */
function speakerOf(role: unknown): string {
  const name = role === 'function' ? 'tool' : (textOf(role) ?? 'message')
  return name.charAt(0).toUpperCase() + name.slice(1)
}

/** Reads a message of OpenAI's Chat Completions or of Anthropic. */
export function readMessage(value: unknown): ChatMessage {
  const { role, name, content, tool_call_id: id, ...rest } = objectOf(value)
  const message = { speaker: speakerOf(role), note: textOf(name) }
  const parts = readContent(content)
  if (role === 'tool' || role === 'function') return { ...message, parts: [result(id, false, parts)] }
  return {
    ...message,
    parts: [
      ...textPart('reasoning', textOf(rest['reasoning_content']) ?? rest['reasoning']),
      ...parts,
      ...textPart('refusal', rest['refusal']),
      ...textPart('text', objectOf(rest['audio'])['transcript']),
      ...readToolCalls(rest['tool_calls']),
      ...(rest['function_call'] === undefined || rest['function_call'] === null
        ? []
        : [readToolCall(objectOf(rest['function_call']), null)]),
    ],
  }
}

/** Reads tool calls of OpenAI's Chat Completions, and those that the gateway assembled from a stream. */
export function readToolCalls(value: unknown): readonly MessagePart[] {
  return listOf(value).map((item) => {
    const call = objectOf(item)
    const inner = call['function'] ?? call['custom']
    return readToolCall(inner === undefined ? call : objectOf(inner), call['id'])
  })
}

function readToolCall({ name = '', arguments: written, input = '' }: JsonObject, id: unknown): MessagePart {
  return { kind: 'call', name: asText(name), id: textOf(id), text: asText(written ?? input) }
}

/** Reads an item of the input or output of OpenAI's Responses API. */
export function readItem(value: unknown): ChatMessage {
  if (typeof value === 'string') return messageBy('User', readContent(value))
  const item = objectOf(value)
  const { type, call_id: id } = item
  switch (type) {
    case undefined:
    case 'message':
      return readMessage(item)
    case 'function_call':
    case 'custom_tool_call':
      return messageBy('Assistant', [readToolCall(item, id)])
    case 'function_call_output':
    case 'custom_tool_call_output':
      return messageBy('Tool', [result(id, false, readContent(item['output']))])
    case 'reasoning': {
      const words = wordsOf([...readContent(item['summary']), ...readContent(item['content'])])
      return messageBy('Assistant', [{ kind: 'reasoning', text: words || 'Not reported by the upstream.' }])
    }
    default:
      return messageBy(asText(type), [{ kind: 'json', text: asText(value) }])
  }
}

/** Reads the content of a message: text, or parts of OpenAI's Chat Completions or Responses, or of Anthropic. */
export function readContent(content: unknown): readonly MessagePart[] {
  if (content === null || content === undefined) return []
  if (typeof content === 'string') return textPart('text', content)
  return Array.isArray(content) ? content.map(readPart) : [{ kind: 'json', text: asText(content) }]
}

function readPart(value: unknown): MessagePart {
  if (typeof value === 'string') return { kind: 'text', text: value }
  const part = objectOf(value)
  const { type, source } = part
  const text = textOf(part['text'])
  switch (type) {
    case 'text':
    case 'input_text':
    case 'output_text':
    case 'summary_text':
      return { kind: 'text', text: text ?? '' }
    case 'refusal':
      return { kind: 'refusal', text: asText(part['refusal']) }
    case 'thinking':
      return { kind: 'reasoning', text: asText(part['thinking']) }
    case 'redacted_thinking':
      return { kind: 'reasoning', text: 'Encrypted by the upstream.' }
    case 'tool_use':
    case 'server_tool_use':
      return readToolCall(part, part['id'])
    case 'tool_result':
      return result(part['tool_use_id'], part['is_error'] === true, readContent(part['content']))
    case 'image_url':
      return media('Image', objectOf(part['image_url'])['url'])
    case 'input_image':
      return media('Image', part['image_url'] ?? part['file_id'])
    case 'image':
      return readSource('Image', objectOf(source))
    case 'document':
      return readSource('Document', objectOf(source))
    case 'input_audio': {
      const { format, data } = objectOf(part['input_audio'])
      return coded('Sound', format, data)
    }
    case 'file':
    case 'input_file': {
      const file = type === 'file' ? objectOf(part['file']) : part
      const name = textOf(file['filename'])
      const { text } = media('File', file['file_data'] ?? file['file_url'] ?? file['file_id'])
      return { kind: 'media', text: name === null ? text : `${name}: ${text}` }
    }
    default:
      return text !== null && type === undefined
        ? { kind: 'text', text }
        : { kind: 'json', text: asText(value) }
  }
}

function result(id: unknown, isError: boolean, parts: readonly MessagePart[]): MessagePart {
  return { kind: 'result', id: textOf(id), isError, text: wordsOf(parts) }
}

/** Reads the source of an image, in Anthropic's format. */
function readSource(what: string, source: JsonObject): MessagePart {
  if (source['type'] === 'base64') return coded(what, source['media_type'], source['data'])
  if (source['type'] === 'text') return { kind: 'text', text: asText(source['data']) }
  return media(what, source['url'] ?? source['file_id'])
}

/** Returns the part of a medium. A URL is shown and never loaded. */
function media(what: string, url: unknown): MessagePart {
  const text = textOf(url)
  if (text === null) return { kind: 'media', text: what }
  const [, type, coding, data = ''] = /^data:([^;,]*)((?:;[^,]*)?),(.*)$/s.exec(text) ?? []
  if (type === undefined) return { kind: 'media', text: `${what} at ${text}` }
  return coding?.endsWith(';base64') === true
    ? coded(what, type, data)
    : { kind: 'media', text: `${what}, ${bytes(data.length)}` }
}

/** Returns the description of base64 data: `Image (png), 34 kB`. */
function coded(what: string, type: unknown, data: unknown): MessagePart {
  const short = asText(type).split('/').at(-1) ?? ''
  const size = Math.floor((asText(data).replace(/=+$/, '').length * 3) / 4)
  return { kind: 'media', text: `${what}${short === '' ? '' : ` (${short})`}, ${bytes(size)}` }
}

/** Returns the parts as one text, for a narrow place. */
export function wordsOf(parts: readonly MessagePart[]): string {
  return parts
    .map((part) => (part.kind === 'call' ? `${part.name}(${part.text})` : part.text))
    .filter((text) => text !== '')
    .join('\n')
}
