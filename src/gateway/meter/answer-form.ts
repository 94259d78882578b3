import type { RawHeaders } from '../../call/response-head.ts'

/** The form of a body: a stream of events, a JSON text, text for people, an HTML page, or bytes that are only counted. */
export type AnswerForm = 'events' | 'json' | 'text' | 'page' | 'opaque'

/** The headers of an answer that the meter reads. */
export interface AnswerHead {
  /** The form by the content type; `null` without one. */
  readonly form: AnswerForm | null
  /** The content and transfer codings in lower case, several joined as sent; `null` without one. */
  readonly coding: string | null
  readonly upstreamRequestId: string | null
  /** True if the `Server` is llama.cpp, whose streams report their tokens unasked. */
  readonly isLlamaCpp: boolean
  /** The cost that a LiteLLM proxy reports, in dollars as text; null without one. */
  readonly cost: string | null
}

/** Headers with the upstream's request id, best known first. */
const requestIdHeaders = [
  'x-request-id',
  'request-id',
  'apim-request-id',
  'x-generation-id',
  'mistral-correlation-id',
  'x-ds-trace-id',
  'x-amzn-requestid',
]
const costHeader = 'x-litellm-response-cost'
/** The lengths of the wanted names, as a bit set. */
const wantedLengths = [
  'content-type',
  'content-encoding',
  'transfer-encoding',
  'server',
  costHeader,
  ...requestIdHeaders,
].reduce((bits, name) => bits | (1 << name.length), 0)
/** Most characters of an upstream's request id. */
const longestRequestId = 200

/** Reads the headers that the meter needs. The length of a name rules out most others. */
export function readAnswerHead(headers: RawHeaders): AnswerHead {
  let form: AnswerForm | null = null
  let coding: string | null = null
  let upstreamRequestId: string | null = null
  let isLlamaCpp = false
  let cost: string | null = null
  let idRank = requestIdHeaders.length
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const name = headers[i] ?? ''
    if (name.length > 30 || (wantedLengths & (1 << name.length)) === 0) continue
    const value = headers[i + 1] ?? ''
    const lower = name.toLowerCase()
    if (lower === 'content-type') form = formOf(value)
    else if (lower === 'content-encoding') coding = joined(coding, value.trim().toLowerCase())
    else if (lower === 'transfer-encoding')
      coding = joined(coding, value.toLowerCase().replace(/(?:^|, )chunked$/, ''))
    else if (lower === 'server') isLlamaCpp ||= value === 'llama.cpp'
    else if (lower === costHeader) cost = value.trim()
    else {
      const rank = requestIdHeaders.indexOf(lower)
      if (rank >= 0 && rank < idRank && value !== '') {
        idRank = rank
        upstreamRequestId = value.slice(0, longestRequestId)
      }
    }
  }
  return { form, coding, upstreamRequestId, isLlamaCpp, cost }
}

/** Values that mean no coding. The last two are charsets that some servers send there. */
const noCodings: ReadonlySet<string> = new Set(['identity', 'none', 'utf-8', 'utf8'])

function joined(before: string | null, value: string): string | null {
  if (value === '' || noCodings.has(value)) return before
  return before === null ? value : `${before}, ${value}`
}

function formOf(contentType: string): AnswerForm {
  const semicolon = contentType.indexOf(';')
  const type = (semicolon < 0 ? contentType : contentType.slice(0, semicolon)).trim().toLowerCase()
  if (type === 'application/json' || type.endsWith('+json')) return 'json'
  if (type === 'text/event-stream') return 'events'
  if (type === 'text/html') return 'page'
  return type === 'text/plain' ? 'text' : 'opaque'
}

/** The form of an answer by its first bytes: events, JSON, words, or only white space so far. */
export type BegunForm = 'events' | 'json' | 'words' | 'blank'

const fieldNames = ['data:', 'event:', 'id:', 'retry:', ':']
/** UTF-8's byte order mark, in Latin-1. */
const mark = '\xef\xbb\xbf'
/** Most bytes that are searched. */
const looked = 64
const longestName = 'event:'.length

/**
 * The form of an answer that begins with these bytes (WHATWG HTML §9.2.6; RFC 8259 §2); null while they fit
 * several forms.
 */
export function formBegunBy(bytes: Buffer): BegunForm | null {
  const at = bytes.findIndex((byte) => byte > 0x20)
  if (at < 0) return 'blank'
  const beginning = bytes.toString('latin1', at, at + looked)
  const text = beginning.startsWith(mark) ? beginning.slice(mark.length).trimStart() : beginning
  if (mark.startsWith(text)) return null
  if (text.startsWith('{') || text.startsWith('[')) return 'json'
  if (fieldNames.some((name) => text.startsWith(name))) return 'events'
  return text.length < longestName && fieldNames.some((name) => name.startsWith(text)) ? null : 'words'
}
