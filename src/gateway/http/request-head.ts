import {
  mayBeTag,
  type RawTag,
  type SessionPlaces,
  usualSessionPlaces,
  withTags,
} from '../caller/caller-headers.ts'
import { hopByHopHeaders, listTokens, withoutNominated } from '../../lib/http/header-list.ts'
import { isProxyHeader, isProxyVersion } from '../../lib/http/request-source.ts'
import { remembered } from '../../lib/remembered.ts'

const plainAuthority = /^(?:\[[0-9a-f:.]+\]|[\w\-.~%!$&'()*+;=]+)(?::\d{0,5})?$/i

const ownCookiePrefix = 'tokenweir_session'

/** Headers that are not forwarded: those of a connection, and those that the gateway writes itself. */
const notForwarded: ReadonlySet<string> = new Set([...hopByHopHeaders, 'host', 'content-length', 'expect'])

/**
 * A Cookie header without the dashboard's cookies, which a browser sends to every port of a host; empty if no
 * other cookie remains.
 */
function withoutOwnCookies(name: string, value: string): readonly string[] {
  if (!value.includes(ownCookiePrefix)) return [name, value]
  const others = value.split(';').filter((pair) => !pair.trimStart().startsWith(ownCookiePrefix))
  return others.length === 0 ? [] : [name, others.join(';').trimStart()]
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

/** The head of a client's request, read in one pass over its raw header list. A flaw is stored in `flaw`, not thrown. */
export class RequestHead {
  /** End-to-end headers, in order and spelling, as they may go to the upstream; without Host and framing. */
  readonly endToEnd: string[]
  readonly host: string | null = null
  /** Bytes that `Content-Length` announces; `null` if it is absent. */
  readonly contentLength: number | null = null
  /** True if the message has a body (RFC 9112 §6.3). */
  readonly hasBody: boolean
  readonly contentType: string | null = null
  /** The codings in lower case; several are joined as sent, and `null` is none. */
  readonly contentEncoding: string | null = null
  readonly acceptsTrailers: boolean = false
  readonly upgrade: string | null = null
  /** The first credential: `Authorization`, `x-api-key` or `api-key`; null without one. */
  readonly credential: string | null = null
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

  constructor(raw: readonly string[], httpVersion: string, { ranks }: SessionPlaces = usualSessionPlaces) {
    const endToEnd: string[] = []
    let sessionRank = ranks.size
    let transferEncoding: string | null = null
    let connection: string | null = null
    let traceParents = 0
    this.forwardedFor = isProxyVersion(httpVersion)
    for (let i = 0; i + 1 < raw.length; i += 2) {
      const name = raw[i] ?? ''
      const value = raw[i + 1] ?? ''
      const lower = name.toLowerCase()
      switch (lower) {
        case 'host':
          if (this.host !== null) this.flaw = 'The request has more than one Host header.'
          this.host = value
          break
        case 'connection':
          connection = connection === null ? value : `${connection},${value}`
          break
        case 'content-length':
          this.contentLength = Number(value)
          break
        case 'content-type':
          this.contentType = value
          break
        case 'content-encoding': {
          const coding = value.trim().toLowerCase()
          if (coding === '' || coding === 'identity') break
          this.contentEncoding = this.contentEncoding === null ? coding : `${this.contentEncoding}, ${coding}`
          break
        }
        case 'transfer-encoding':
          transferEncoding = transferEncoding === null ? value : `${transferEncoding},${value}`
          break
        case 'te':
          this.acceptsTrailers = listTokens(value).includes('trailers')
          break
        case 'upgrade':
          this.upgrade = value
          break
        case 'accept-encoding':
          endToEnd.push(name, narrowAcceptEncoding(value))
          continue
        case 'authorization':
        case 'x-api-key':
        case 'api-key':
          this.credential ??= value
          break
        case 'via':
          this.via = this.via === null ? value : `${this.via}, ${value}`
          this.forwardedFor = true
          break
        case 'cookie':
          endToEnd.push(...withoutOwnCookies(name, value))
          continue
        case 'user-agent':
          this.userAgent = value
          break
        case 'traceparent':
          // Two `traceparent` headers contradict each other, so none counts.
          this.traceParent = ++traceParents === 1 ? parseTraceParent(value) : null
          break
        case 'x-stainless-retry-count':
          this.clientRetry = /^\d{1,4}$/.test(value) ? Number(value) : null
          break
        case 'origin':
          this.origin = value
          break
        case 'sec-fetch-site':
          this.secFetchSite = value
          break
        case 'x-tokenweir-client':
          this.clientLabel = value
          break
        case 'x-tokenweir-admin-token':
          this.adminToken = value
          break
        case 'originator':
          this.originator = value
          break
        case 'x-title':
        case 'x-openrouter-title':
          this.title = value
          break
        case 'http-referer':
          this.referer = value
          break
        default:
          this.forwardedFor ||= isProxyHeader(lower)
          if (mayBeTag(lower)) this.tags = withTags(this.tags, lower, value)
      }
      const rank = ranks.get(lower)
      if (rank !== undefined && rank < sessionRank && value !== '') {
        sessionRank = rank
        this.session = value
        this.sessionSource = lower
      }
      if (notForwarded.has(lower) || lower.startsWith('x-tokenweir-')) continue
      endToEnd.push(name, value)
    }

    // Node's parser also accepts other versions, and requests without one.
    if (httpVersion !== '1.1' && httpVersion !== '1.0')
      this.flaw = 'The request is neither HTTP/1.1 nor HTTP/1.0.'
    if (this.host === null && httpVersion === '1.1') this.flaw = 'The request has no Host header.'
    if (this.host !== null && !plainAuthority.test(this.host))
      this.flaw = 'The Host header is not a plain host name or address.'
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
