import { mayBeTag, type RawTag, type SessionPlaces, usualSessionPlaces, withTags } from './caller-headers.ts'
import { headersWithout, hopByHopHeaders, listTokens, withoutNominated } from '../../lib/http/header-list.ts'
import { isProxyHeader, isProxyVersion } from '../../lib/http/request-source.ts'
import { remembered } from '../../lib/remembered.ts'

const plainAuthority = /^(?:\[[0-9a-f:.]+\]|[\w\-.~%!$&'()*+;=]+)(?::\d{0,5})?$/i

const ownCookiePrefix = 'tokenweir_session'
/** Longest name of a header whose rule is kept, in characters. */
const longestName = 100

/**
 * A Cookie header without the dashboard's cookies, which a browser sends to every port of a host; null if no
 * other cookie remains.
 */
function withoutOwnCookies(value: string): string | null {
  if (!value.includes(ownCookiePrefix)) return value
  const others = value.split(';').filter((pair) => !pair.trimStart().startsWith(ownCookiePrefix))
  return others.length === 0 ? null : others.join(';').trimStart()
}

/** The content codings that the meter can read; `x-gzip` is gzip's old name (RFC 9110 §8.4.1.3). */
const readable: ReadonlySet<string> = new Set(['gzip', 'x-gzip', 'br', 'deflate', 'zstd', 'identity'])

/**
 * Keeps of an `Accept-Encoding` value (RFC 9110 §12.5.3) the codings that the meter can decode, with weights and order.
 * A value with only such codings is returned unchanged, byte for byte. `*` includes codings that may be
 * unreadable, so it is replaced by a list; if nothing remains, the value is `identity`.
 */
const narrowAcceptEncoding: (value: string) => string = remembered((value) => {
  const members = value.split(',')
  if (members.every((member) => readable.has(codingOf(member)) || member.trim() === '')) return value
  const codings = new Set(members.map(codingOf))
  const narrowed = members.flatMap((member) => {
    const coding = codingOf(member)
    if (readable.has(coding)) return [member.trim()]
    if (coding !== '*') return []
    const weight = member.slice(member.indexOf('*') + 1).trim()
    return ['gzip', 'br', 'deflate', 'zstd']
      .filter((coding) => !codings.has(coding))
      .map((coding) => coding + weight)
  })
  return narrowed.length === 0 ? 'identity' : narrowed.join(', ')
})

function codingOf(member: string): string {
  const semicolon = member.indexOf(';')
  return (semicolon < 0 ? member : member.slice(0, semicolon)).trim().toLowerCase()
}

/** The place of a call in the client's trace. */
interface TraceParent {
  /** 32 hexadecimal digits. */
  readonly traceId: string
  /** The client's own span, 16 hexadecimal digits; null if the client does not record this trace. */
  readonly spanId: string | null
}

const traceParentForm =
  /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(-.*)?$/

/** Reads a `traceparent` header (W3C Trace Context §3.2); null if it is malformed. Later versions may add to its end. */
function parseTraceParent(header: string): TraceParent | null {
  const [, version, traceId = '', spanId = '', flags = '', more] = traceParentForm.exec(header) ?? []
  if (version === undefined || (version === '00' && more !== undefined)) return null
  return { traceId, spanId: (Number.parseInt(flags, 16) & 1) === 1 ? spanId : null }
}

/** A header that may be repeated: the values, joined by commas. */
function joined(before: string | null, value: string): string {
  return before === null ? value : `${before}, ${value}`
}

const notAtAll = (): null => null

/** The headers that the upstream gets with another value, or not at all. */
const forwardedValues: ReadonlyMap<string, (value: string) => string | null> = new Map([
  ...[...hopByHopHeaders, 'host', 'content-length', 'expect'].map((name) => [name, notAtAll] as const),
  ['accept-encoding', narrowAcceptEncoding],
  ['cookie', withoutOwnCookies],
])

type HeadDraft = { -readonly [Name in keyof RequestHead]: RequestHead[Name] }

type Note = (head: HeadDraft, value: string) => void

/** The fields that keep the last value of a header, by the header's name. */
const keptIn = {
  'content-type': 'contentType',
  upgrade: 'upgrade',
  'user-agent': 'userAgent',
  origin: 'origin',
  'sec-fetch-site': 'secFetchSite',
  'x-tokenweir-client': 'clientLabel',
  'x-tokenweir-admin-token': 'adminToken',
  originator: 'originator',
  'x-title': 'title',
  'x-openrouter-title': 'title',
  'http-referer': 'referer',
} as const

/** The headers in which clients send their key, in lower case. */
const credentialNames: ReadonlySet<string> = new Set(['authorization', 'x-api-key', 'api-key'])

/** A credential without a key, as a shell sends it for a variable that is not set. */
const emptyCredential = /^(?:bearer)?\s*$/i

const noteCredential: Note = (head, value) => {
  if (emptyCredential.test(value)) head.hasEmptyCredential = true
  else head.credential ??= value
}

/** A header list without the headers of clients' keys. */
export function withoutKeys(headers: readonly string[]): string[] {
  return headersWithout(headers, (name) => credentialNames.has(name.toLowerCase()))
}

/** How the head notes any other header that it reads. */
const readBy: Readonly<Record<string, Note>> = {
  host: (head, value) => {
    if (head.host !== null) head.flaw = 'The request has more than one Host header.'
    head.host = value
  },
  connection: (head, value) => {
    head.connection = joined(head.connection, value)
  },
  'content-length': (head, value) => {
    head.contentLength = Number(value)
  },
  'content-encoding': (head, value) => {
    const coding = value.trim().toLowerCase()
    if (coding !== '' && coding !== 'identity') head.contentEncoding = joined(head.contentEncoding, coding)
  },
  'transfer-encoding': (head, value) => {
    head.transferEncoding = joined(head.transferEncoding, value)
  },
  te: (head, value) => {
    head.acceptsTrailers = listTokens(value).includes('trailers')
  },
  ...Object.fromEntries(Array.from(credentialNames, (name) => [name, noteCredential])),
  via: (head, value) => {
    head.via = joined(head.via, value)
    head.forwardedFor = true
  },
  traceparent: (head, value) => {
    // Two `traceparent` headers contradict each other, so none counts.
    head.traceParent = ++head.traceParents === 1 ? parseTraceParent(value) : null
  },
  'x-stainless-retry-count': (head, value) => {
    head.clientRetry = /^\d{1,4}$/.test(value) ? Number(value) : null
  },
}

function noteIn(field: (typeof keptIn)[keyof typeof keptIn]): Note {
  return (head, value) => {
    head[field] = value
  }
}

const notes: ReadonlyMap<string, Note> = new Map([
  ...Object.entries(keptIn).map(([name, field]) => [name, noteIn(field)] as const),
  ...Object.entries(readBy),
])

/** How a header is read and forwarded. */
interface HeaderRule {
  /** The header's name in lower case. */
  readonly name: string
  /** Null for a header that the head does not read. */
  readonly note: Note | null
  /** The rank among the headers that may name a session; `Infinity` for any other. */
  readonly sessionRank: number
  /** Returns the value for the upstream, null for none; null for a header that is forwarded unchanged. */
  readonly forwarded: ((value: string) => string | null) | null
}

/** Returns the rules for headers, by their names as sent. Each rule is made once, because the same names come with each call. */
export function headerRules({ ranks }: SessionPlaces): (name: string) => HeaderRule {
  return remembered((sent) => {
    const name = sent.toLowerCase()
    const isOurs = name.startsWith('x-tokenweir-')
    return {
      name,
      note: notes.get(name) ?? otherNote(name),
      sessionRank: ranks.get(name) ?? Infinity,
      forwarded: isOurs ? notAtAll : (forwardedValues.get(name) ?? null),
    }
  }, longestName)
}

const usualRules = headerRules(usualSessionPlaces)

/** How the head notes a header that only proxies add, or that may tag the call; null for any other. */
function otherNote(name: string): Note | null {
  if (isProxyHeader(name))
    return (head) => {
      head.forwardedFor = true
    }
  if (!mayBeTag(name)) return null
  return (head, value) => {
    head.tags = withTags(head.tags, name, value)
  }
}

/** The head of a client's request, read in one pass over its raw header list. A flaw is stored in `flaw`, not thrown. */
export class RequestHead {
  /** End-to-end headers, in order and spelling, as they may go to the upstream; without Host and framing. */
  readonly endToEnd: string[]
  readonly host: string | null = null
  readonly connection: string | null = null
  readonly transferEncoding: string | null = null
  /** Bytes that `Content-Length` announces; `null` if it is absent. */
  readonly contentLength: number | null = null
  /** True if the message has a body (RFC 9112 §6.3). */
  readonly hasBody: boolean
  readonly contentType: string | null = null
  /** The codings in lower case; several are joined as sent, and `null` is none. */
  readonly contentEncoding: string | null = null
  readonly acceptsTrailers: boolean = false
  readonly upgrade: string | null = null
  /** The first credential that is not empty: `Authorization`, `x-api-key` or `api-key`; null without one. */
  readonly credential: string | null = null
  readonly hasEmptyCredential: boolean = false
  readonly via: string | null = null
  readonly userAgent: string | null = null
  /** `x-tokenweir-client`. */
  readonly clientLabel: string | null = null
  /** The session, from the first header that names one; null without one. */
  readonly session: string | null = null
  /** The name of that header, in lower case. */
  readonly sessionSource: string | null = null
  /** Headers that tag the call. */
  readonly tags: readonly RawTag[] | null = null
  /** `originator`, by which Codex and others that speak like it name themselves. */
  readonly originator: string | null = null
  /** `x-title`, by which apps name themselves to OpenRouter. */
  readonly title: string | null = null
  /** `http-referer`: the site of the app. */
  readonly referer: string | null = null
  /** `traceparent`. */
  readonly traceParent: TraceParent | null = null
  /** Number of `traceparent` headers. */
  readonly traceParents: number = 0
  /** `x-stainless-retry-count`. */
  readonly clientRetry: number | null = null
  readonly origin: string | null = null
  readonly secFetchSite: string | null = null
  /** True if the request seems to come through a proxy. */
  readonly forwardedFor: boolean
  /** `x-tokenweir-admin-token`. */
  readonly adminToken: string | null = null
  /** Why this request cannot be forwarded: a Host or a framing that two parties may read differently. */
  readonly flaw: string | null = null

  constructor(raw: readonly string[], httpVersion: string, ruleOf = usualRules) {
    const endToEnd: string[] = []
    let sessionRank = Infinity
    this.forwardedFor = isProxyVersion(httpVersion)
    for (let i = 0; i + 1 < raw.length; i += 2) {
      const name = raw[i] ?? ''
      const value = raw[i + 1] ?? ''
      const rule = ruleOf(name)
      if (rule.note !== null) rule.note(this, value)
      if (rule.sessionRank < sessionRank && value !== '') {
        sessionRank = rule.sessionRank
        this.session = value
        this.sessionSource = rule.name
      }
      const forwarded = rule.forwarded === null ? value : rule.forwarded(value)
      if (forwarded !== null) endToEnd.push(name, forwarded)
    }

    // Node's parser also accepts other versions, and requests without one.
    if (httpVersion !== '1.1' && httpVersion !== '1.0')
      this.flaw = 'The request is neither HTTP/1.1 nor HTTP/1.0.'
    if (this.host === null && httpVersion === '1.1') this.flaw = 'The request has no Host header.'
    if (this.host !== null && !plainAuthority.test(this.host))
      this.flaw = 'The Host header is not a plain host name or address.'
    const { transferEncoding, connection } = this
    if (
      transferEncoding !== null &&
      (transferEncoding.toLowerCase() !== 'chunked' || this.contentLength !== null)
    ) {
      this.flaw = 'Transfer-Encoding is not chunked alone, or stands beside Content-Length.'
    }
    // HTTP/1.0 has no Transfer-Encoding, so a proxy before the gateway may have read another end of the body
    // (RFC 9112 §6.1).
    if (transferEncoding !== null && httpVersion === '1.0')
      this.flaw = 'Transfer-Encoding has no place in HTTP/1.0.'
    this.endToEnd = connection === null ? endToEnd : withoutNominated(endToEnd, connection)
    this.hasBody = transferEncoding !== null || (this.contentLength !== null && this.contentLength > 0)
  }
}
