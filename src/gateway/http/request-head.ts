import { type HeaderNames, hopByHopHeaders, listTokens, withoutNominated } from '../../lib/header-list.ts'
import { isProxyHeader, isProxyVersion } from '../../lib/request-source.ts'

/** The head of a client's request, read in one pass over its raw header list. */
export interface RequestHead {
  /** End-to-end headers, in order and spelling, as they may go to the upstream; without Host and framing. */
  readonly endToEnd: string[]
  readonly host: string | null
  /** Bytes that `Content-Length` announces; `null` where it is absent. */
  readonly contentLength: number | null
  /** Whether the message has a body at all (RFC 9112 §6.3). */
  readonly hasBody: boolean
  readonly acceptsTrailers: boolean
  readonly upgrade: string | null
  /** `Authorization`, `x-api-key` or `api-key`: the first that is there. */
  readonly credential: string | null
  readonly via: string | null
  readonly userAgent: string | null
  /** `x-tokenweir-client`. */
  readonly clientLabel: string | null
  /** `x-tokenweir-session`. */
  readonly session: string | null
  /** `x-stainless-retry-count`. */
  readonly clientRetry: number | null
  readonly origin: string | null
  readonly secFetchSite: string | null
  /** Whether a proxy seems to stand between the client and us. */
  readonly forwardedFor: boolean
  /** `x-tokenweir-admin-token`. */
  readonly adminToken: string | null
  /** Why this request cannot be forwarded: a Host or a framing that two parties may read differently. */
  readonly flaw: string | null
}

const plainAuthority = /^(?:\[[0-9a-f:.]+\]|[\w\-.~%!$&'()*+;=]+)(?::\d{0,5})?$/i

const ownCookiePrefix = 'tokenweir_session'

/** Taken by the gateway itself: it writes its own. */
const ownHop: ReadonlySet<string> = new Set(['host', 'content-length', 'expect'])

/**
 * A Cookie header without the dashboard's, which a browser sends to every port of a host; nothing where no
 * other cookie is in it.
 */
function withoutOwnCookies(name: string, value: string): readonly string[] {
  if (!value.includes(ownCookiePrefix)) return [name, value]
  const others = value.split(';').filter((pair) => !pair.trimStart().startsWith(ownCookiePrefix))
  return others.length === 0 ? [] : [name, others.join(';').trimStart()]
}

/** Reads a raw header list. What is wrong with it is told in `flaw`, never thrown. */
export function readRequestHead(
  raw: readonly string[],
  names: HeaderNames,
  narrowAcceptEncoding: (value: string) => string,
  httpVersion: string,
): RequestHead {
  const endToEnd: string[] = []
  let host: string | null = null
  let contentLength: number | null = null
  let transferEncoding: string | null = null
  let connection: string | null = null
  let acceptsTrailers = false
  let upgrade: string | null = null
  let credential: string | null = null
  let via: string | null = null
  let userAgent: string | null = null
  let clientLabel: string | null = null
  let session: string | null = null
  let clientRetry: number | null = null
  let origin: string | null = null
  let secFetchSite: string | null = null
  let forwardedFor = isProxyVersion(httpVersion)
  let adminToken: string | null = null
  let flaw: string | null = null

  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = raw[i] ?? ''
    const value = raw[i + 1] ?? ''
    const lower = names.lowerCase(name)
    switch (lower) {
      case 'host':
        if (host !== null) flaw = 'The request has more than one Host header.'
        host = value
        break
      case 'connection':
        connection = connection === null ? value : `${connection},${value}`
        break
      case 'content-length':
        contentLength = Number(value)
        break
      case 'transfer-encoding':
        transferEncoding = transferEncoding === null ? value : `${transferEncoding},${value}`
        break
      case 'te':
        acceptsTrailers = listTokens(value).includes('trailers')
        break
      case 'upgrade':
        upgrade = value
        break
      case 'accept-encoding':
        endToEnd.push(name, narrowAcceptEncoding(value))
        continue
      case 'authorization':
      case 'x-api-key':
      case 'api-key':
        credential ??= value
        break
      case 'via':
        via = via === null ? value : `${via}, ${value}`
        forwardedFor = true
        break
      case 'cookie':
        endToEnd.push(...withoutOwnCookies(name, value))
        continue
      case 'user-agent':
        userAgent = value
        break
      case 'x-stainless-retry-count':
        clientRetry = /^\d{1,4}$/.test(value) ? Number(value) : null
        break
      case 'origin':
        origin = value
        break
      case 'sec-fetch-site':
        secFetchSite = value
        break
      case 'x-tokenweir-client':
        clientLabel = value
        break
      case 'x-tokenweir-admin-token':
        adminToken = value
        break
      case 'x-tokenweir-session':
        session = value
        break
      default:
        forwardedFor ||= isProxyHeader(lower)
    }
    if (hopByHopHeaders.has(lower) || ownHop.has(lower) || lower.startsWith('x-tokenweir-')) continue
    endToEnd.push(name, value)
  }

  // Node's parser lets other versions pass, and requests that name none.
  if (httpVersion !== '1.1' && httpVersion !== '1.0') flaw = 'The request is neither HTTP/1.1 nor HTTP/1.0.'
  if (host === null && httpVersion === '1.1') flaw = 'The request has no Host header.'
  if (host !== null && !plainAuthority.test(host))
    flaw = 'The Host header is not a plain host name or address.'
  if (transferEncoding !== null && (transferEncoding.toLowerCase() !== 'chunked' || contentLength !== null)) {
    flaw = 'Transfer-Encoding is not chunked alone, or stands beside Content-Length.'
  }
  // Not known there, so that whoever stands before us may have read the body's end elsewhere (RFC 9112 §6.1).
  if (transferEncoding !== null && httpVersion === '1.0') flaw = 'Transfer-Encoding has no place in HTTP/1.0.'
  return {
    endToEnd: connection === null ? endToEnd : withoutNominated(endToEnd, connection, names),
    host,
    contentLength,
    hasBody: transferEncoding !== null || (contentLength !== null && contentLength > 0),
    acceptsTrailers,
    upgrade,
    credential,
    via,
    userAgent,
    clientLabel,
    session,
    clientRetry,
    origin,
    secFetchSite,
    forwardedFor,
    adminToken,
    flaw,
  }
}
