import { bytes } from '../format/figures.ts'
import type { MessagePart } from './chat-message.ts'
import { asText, objectOf, textOf } from './json-value.ts'

/** The content of a message: text, or parts in the words of OpenAI's chat and Responses, or of Anthropic. */
export function readContent(content: unknown): readonly MessagePart[] {
  if (content === null || content === undefined || content === '') return []
  if (typeof content === 'string') return [{ kind: 'text', text: content }]
  return Array.isArray(content) ? content.map(readPart) : [{ kind: 'json', text: asText(content) }]
}

function readPart(value: unknown): MessagePart {
  if (typeof value === 'string') return { kind: 'text', text: value }
  const part = objectOf(value)
  const text = textOf(part['text'])
  switch (part['type']) {
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
      return {
        kind: 'call',
        name: asText(part['name']),
        id: textOf(part['id']),
        text: asText(part['input']),
      }
    case 'tool_result':
      return {
        kind: 'result',
        id: textOf(part['tool_use_id']),
        isError: part['is_error'] === true,
        text: wordsOf(readContent(part['content'])),
      }
    case 'image_url':
      return media('Image', objectOf(part['image_url'])['url'])
    case 'input_image':
      return media('Image', part['image_url'] ?? part['file_id'])
    case 'image':
    case 'document':
      return readSource(part['type'] === 'image' ? 'Image' : 'Document', part['source'])
    case 'input_audio':
      return coded('Sound', objectOf(part['input_audio'])['format'], objectOf(part['input_audio'])['data'])
    case 'file':
    case 'input_file': {
      const file = part['type'] === 'file' ? objectOf(part['file']) : part
      const name = textOf(file['filename'])
      const { text } = media('File', file['file_data'] ?? file['file_url'] ?? file['file_id'])
      return { kind: 'media', text: name === null ? text : `${name}: ${text}` }
    }
    default:
      return text !== null && part['type'] === undefined
        ? { kind: 'text', text }
        : { kind: 'json', text: asText(value) }
  }
}

/** As Anthropic names where an image comes from. */
function readSource(what: string, value: unknown): MessagePart {
  const source = objectOf(value)
  if (source['type'] === 'base64') return coded(what, source['media_type'], source['data'])
  if (source['type'] === 'text') return { kind: 'text', text: asText(source['data']) }
  return media(what, source['url'] ?? source['file_id'])
}

/** What a URL leads to is never loaded. */
function media(what: string, url: unknown): MessagePart {
  const text = textOf(url)
  if (text === null) return { kind: 'media', text: what }
  const [, type, coding, data = ''] = /^data:([^;,]*)((?:;[^,]*)?),(.*)$/s.exec(text) ?? []
  if (type === undefined) return { kind: 'media', text: `${what} at ${text}` }
  return coding?.endsWith(';base64') === true
    ? coded(what, type, data)
    : { kind: 'media', text: `${what}, ${bytes(data.length)}` }
}

/** `Image (png), 34 kB` */
function coded(what: string, type: unknown, data: unknown): MessagePart {
  const short = asText(type).split('/').at(-1) ?? ''
  const size = Math.floor((asText(data).replace(/=+$/, '').length * 3) / 4)
  return { kind: 'media', text: `${what}${short === '' ? '' : ` (${short})`}, ${bytes(size)}` }
}

/** Parts as one text, for where there is no room to tell them apart. */
export function wordsOf(parts: readonly MessagePart[]): string {
  return parts
    .map((part) => (part.kind === 'call' ? `${part.name}(${part.text})` : part.text))
    .filter((text) => text !== '')
    .join('\n')
}
