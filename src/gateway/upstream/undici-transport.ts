import type { ResponseHead } from '../../call/response-head.ts'
import { hopByHopHeaders, withoutNominated } from '../../lib/http/header-list.ts'
import { ConnectionPool, type PooledAttempt } from './connection-pool.ts'
import { type Transport, type TransportOptions, type TransportRequest, isHeld } from './transport.ts'
import type { UpstreamProxy } from './upstream-proxy.ts'

/** Sends attempts over HTTP/1.1 with undici's `dispatch`. */
export class UndiciTransport implements Transport {
  readonly options: TransportOptions
  readonly answeringProxy: UpstreamProxy | null
  readonly #pool: ConnectionPool
  /** Prefix of request targets: the origin if a proxy gets the requests (RFC 9112 §3.2.2), else empty. */
  readonly #pathPrefix: string
  readonly #proxyHeaders: readonly string[]

  constructor(origin: string, options: TransportOptions) {
    const { proxy } = options
    const plainProxy = origin.startsWith('http:') ? proxy : null
    this.options = options
    this.answeringProxy = plainProxy
    this.#pathPrefix = plainProxy === null ? '' : origin
    this.#proxyHeaders = plainProxy === null ? [] : proxyHeaders(origin, plainProxy)
    this.#pool = new ConnectionPool(plainProxy?.origin ?? origin, {
      ...options,
      tunnel: plainProxy === null ? proxy : null,
    })
  }

  send(request: TransportRequest, attempt: PooledAttempt): void {
    try {
      this.#pool.dispatch(
        {
          method: request.method,
          path: this.#pathPrefix + request.path,
          headers: this.#framedHeaders(request),
          body: transportBody(request.body),
          headersTimeout: this.options.firstByteTimeoutMs,
          bodyTimeout: this.options.idleTimeoutMs,
        },
        request.freshConnection,
        attempt,
      )
    } catch (error) {
      attempt.onError(error instanceof Error ? error : new Error(String(error)))
    }
  }

  close(): Promise<void> {
    return this.#pool.close()
  }

  /**
   * The headers with framing. undici frames a single buffer itself; a list or a stream needs
   * `Content-Length`, or is sent chunked.
   */
  #framedHeaders(request: TransportRequest): string[] {
    let headers = request.headers as string[]
    if (this.#proxyHeaders.length > 0) headers = [...this.#proxyHeaders, ...headers]
    const framesItself = request.body === null || (isHeld(request.body) && request.body.length <= 1)
    if (framesItself || request.bodyBytes === null) return headers
    return [...headers, 'content-length', String(request.bodyBytes)]
  }
}

function proxyHeaders(origin: string, { authorization }: UpstreamProxy): string[] {
  const host = ['host', new URL(origin).host]
  return authorization === null ? host : [...host, 'Proxy-Authorization', authorization]
}

function transportBody(body: TransportRequest['body']): Uint8Array | null {
  if (isHeld(body) && body.length <= 1) return body[0] ?? null
  // undici accepts any iterable, although its types do not say so.
  return body as Uint8Array | null
}

/**
 * undici reads the reason phrase as UTF-8; valid UTF-8 is forwarded byte for byte. A phrase with
 * control characters, which RFC 9112 §4 forbids, is left out.
 */
function phraseOf(statusText: string): string {
  if (/^[ -~]*$/.test(statusText)) return statusText
  const phrase = Buffer.from(statusText).toString('latin1')
  return /^[\t -~\x80-\xff]*$/.test(phrase) ? phrase : ''
}

/**
 * Reads an answer's head from its raw bytes, in Latin-1 as in HTTP. Order, spelling and duplicates are
 * kept; hop-by-hop headers are removed.
 */
export function readHead(
  status: number,
  statusText: string,
  raw: readonly Buffer[],
): ResponseHead & { readonly headers: string[] } {
  const endToEnd: string[] = []
  let connection: string | null = null
  let contentLength: number | null = null
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = raw[i]?.toString('latin1') ?? ''
    const value = raw[i + 1]?.toString('latin1') ?? ''
    const lower = name.toLowerCase()
    if (hopByHopHeaders.has(lower)) {
      if (lower === 'connection') connection = connection === null ? value : `${connection},${value}`
      continue
    }
    if (lower === 'content-length') contentLength = Number(value)
    endToEnd.push(name, value)
  }
  const headers = connection === null ? endToEnd : withoutNominated(endToEnd, connection)
  return { status, statusText: phraseOf(statusText), headers, contentLength }
}
