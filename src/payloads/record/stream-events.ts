import { createParser } from 'eventsource-parser'

type Fields = Readonly<Record<string, unknown>>

/** The content of a stream's events. */
export interface StreamEvents {
  /** The JSON objects among them, in order. */
  readonly objects: readonly Fields[]
  /** All other events as a single text: plain text and JSON strings. */
  readonly others: string
}

/** The form of a stream: `text/event-stream`, or JSON lines. */
export type StreamForm = 'events' | 'lines'

const jsonLines = /^application\/(?:x-)?(?:nd-?json|jsonl(?:ines)?)\b/

/** The form of a stream, by its content type (in lower case) or its text; null for no stream. */
export function streamForm(contentType: string, text: string): StreamForm | null {
  if (contentType.startsWith('text/event-stream')) return 'events'
  if (jsonLines.test(contentType)) return 'lines'
  if (/^\s*(?:data|event|id|retry)?:/.test(text)) return 'events'
  return text.startsWith('{') && text.includes('}\n{') ? 'lines' : null
}

/** Reads a stream (WHATWG HTML §9.2.6), also an incomplete last event. */
export function streamEvents(text: string, form: StreamForm): StreamEvents {
  const objects: Fields[] = []
  let others = ''
  function dispatch(json: string): void {
    const value = valueOf(json)
    if (typeof value === 'string') others += value
    else if (value !== null) objects.push(value)
  }
  if (form === 'lines') for (const line of text.split(/\r\n?|\n/)) dispatch(line)
  else createParser({ onEvent: ({ data }) => dispatch(data) }).feed(`${text}\n\n`)
  return { objects, others }
}

function valueOf(json: string): Fields | string | null {
  // A list is skipped, because it has no pieces of text.
  if (json.startsWith('[')) return null
  try {
    const value: unknown = JSON.parse(json)
    if (typeof value === 'object' && value !== null) return value as Fields
    return typeof value === 'string' ? value : json
  } catch {
    // An incomplete object, or plain text.
    return json.startsWith('{') ? null : json
  }
}
