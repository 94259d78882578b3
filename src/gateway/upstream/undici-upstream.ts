import type { RawHeaders, ResponseHead } from '../../call/call-observer.ts'
import type { Failure } from '../../call/failure.ts'
import {
  type Connection,
  ConnectionPool,
  type ConnectionPoolOptions,
  type PooledAttempt,
} from './connection-pool.ts'
import { failureOf, isRefused } from './undici-failure.ts'
import type { UpstreamProxy } from './upstream-proxy.ts'
import {
  type AnswerReceiver,
  type Exchange,
  type Upstream,
  type UpstreamRequest,
  isHeld,
} from './upstream.ts'
import { hopByHopHeaders, withoutNominated } from '../../lib/header-list.ts'
import { errors } from './undici.ts'

export interface UndiciUpstreamOptions extends Omit<ConnectionPoolOptions, 'tunnel'> {
  /** Until the first byte of the answer; 0 = no limit. */
  readonly firstByteTimeoutMs: number
  /** Between two pieces of the answer, while we are ready to take them; 0 = no limit. */
  readonly idleTimeoutMs: number
  /** For so long a connection that is refused is tried again; 0 = not at all. */
  readonly connectRetryMs: number
  readonly proxy: UpstreamProxy | null
}

/** Between two tries to connect to an upstream that refuses: at first, and at most. */
const firstPauseMs = 50
const longestPauseMs = 1000

/** The upstream over HTTP/1.1, by undici's `dispatch`. */
export class UndiciUpstream implements Upstream {
  readonly options: UndiciUpstreamOptions
  readonly #pool: ConnectionPool
  /** Of each request that a proxy is asked for in the upstream's place (RFC 9112 §3.2.2). */
  readonly #pathPrefix: string
  readonly #proxyHeaders: readonly string[]

  constructor(origin: string, options: UndiciUpstreamOptions) {
    const { proxy } = options
    const asksProxy = proxy !== null && origin.startsWith('http:')
    this.options = options
    this.#pathPrefix = asksProxy ? origin : ''
    this.#proxyHeaders = asksProxy ? proxyHeaders(origin, proxy) : []
    this.#pool = new ConnectionPool(asksProxy ? proxy.origin : origin, {
      ...options,
      tunnel: asksProxy ? null : proxy,
    })
  }

  dispatch(request: UpstreamRequest, receiver: AnswerReceiver): Exchange {
    const exchange = new UndiciExchange(request, receiver, this)
    this.send(request, exchange)
    return exchange
  }

  send(request: UpstreamRequest, exchange: UndiciExchange): void {
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
        exchange,
      )
    } catch (error) {
      exchange.onError(error instanceof Error ? error : new Error(String(error)))
    }
  }

  close(): Promise<void> {
    return this.#pool.close()
  }

  /** undici frames a single buffer by itself; a list or a stream needs its length named, or goes out chunked. */
  #framedHeaders(request: UpstreamRequest): string[] {
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

function transportBody(body: UpstreamRequest['body']): Uint8Array | null {
  if (body === null) return null
  if (!isHeld(body)) return body as unknown as Uint8Array // undici takes any iterable; its types do not say so
  return body.length <= 1 ? (body[0] ?? null) : (body as unknown as Uint8Array)
}

/** One attempt: undici's verbs on one side, our own on the other. */
class UndiciExchange implements Exchange, PooledAttempt {
  readonly #request: UpstreamRequest
  readonly #receiver: AnswerReceiver
  readonly #upstream: UndiciUpstream
  #abort: ((error: Error) => void) | null = null
  #resume: (() => void) | null = null
  #aborted: Failure | null = null
  /** Of the answer; 0 before it. */
  #status = 0
  #streamed = false
  isOver = false
  connection: Connection | null = null
  /** Since when the upstream refuses connections; 0 before it did. */
  #refusedSinceMs = 0
  #pauseMs = firstPauseMs
  #nextTry: NodeJS.Timeout | undefined

  constructor(request: UpstreamRequest, receiver: AnswerReceiver, upstream: UndiciUpstream) {
    this.#request = request
    this.#receiver = receiver
    this.#upstream = upstream
  }

  abort(failure: Failure): void {
    if (this.isOver) return
    this.#aborted = failure
    clearTimeout(this.#nextTry)
    this.#abort?.(failure)
    this.#fail(failure)
  }

  resume(): void {
    if (!this.isOver) this.#resume?.()
  }

  onConnect(abort: (error?: Error) => void): void {
    this.#abort = abort
    this.connection?.sending()
    if (this.#aborted === null) this.#receiver.started()
    else abort(this.#aborted)
  }

  onHeaders(status: number, raw: Buffer[], resume: () => void, statusText: string): boolean {
    if (this.isOver) return true
    this.#resume = resume
    const head = readHead(status, statusText, raw)
    if (status < 200) {
      this.#receiver.informational(head)
      return true
    }
    this.#status = status
    this.#streamed = head.contentLength === null
    this.#receiver.head(head)
    return true
  }

  onData(chunk: Buffer): boolean {
    return this.isOver || this.#receiver.data(chunk)
  }

  onComplete(trailers: readonly (Buffer | string)[] | null): void {
    this.connection?.answered(this.#streamed)
    this.#end(trailers === null ? [] : trailers.map((part) => part.toString('latin1')))
  }

  onError(error: Error): void {
    if (isRefused(error) && this.#triesAgain()) return
    if (this.#isCompleteWithoutBody(error)) this.#end([])
    else this.#fail(this.#failureOf(error))
  }

  /** Nothing was sent yet, so the request may go out once the upstream is there. */
  #triesAgain(): boolean {
    const { connectRetryMs } = this.#upstream.options
    if (connectRetryMs === 0 || this.isOver || this.#abort !== null) return false
    const nowMs = performance.now()
    if (this.#refusedSinceMs === 0) this.#refusedSinceMs = nowMs
    const leftMs = this.#refusedSinceMs + connectRetryMs - nowMs
    if (leftMs <= 0) return false
    this.#nextTry = setTimeout(
      () => this.#upstream.send(this.#request, this),
      Math.min(this.#pauseMs, leftMs),
    )
    this.#pauseMs = Math.min(2 * this.#pauseMs, longestPauseMs)
    return true
  }

  /** undici misses the body that a 304's Content-Length speaks of; it has none (RFC 9110 §8.6). */
  #isCompleteWithoutBody(error: Error): boolean {
    const hasNoBody = this.#status === 304 || this.#status === 204
    return hasNoBody && error instanceof errors.ResponseContentLengthMismatchError
  }

  #end(trailers: RawHeaders): void {
    if (this.isOver) return
    this.isOver = true
    this.#receiver.end(trailers)
  }

  #failureOf(error: Error): Failure {
    const failure = failureOf(error, {
      started: this.#abort !== null,
      answered: this.#status > 0,
      reusedSocket: (this.connection?.attemptsOnSocket ?? 0) > 1,
      maxHeaderBytes: this.#upstream.options.maxHeaderBytes,
    })
    if (failure.shouldRetry === true) this.connection?.died()
    return failure
  }

  #fail(failure: Failure): void {
    if (this.isOver) return
    this.isOver = true
    this.#receiver.failed(failure)
  }
}

/**
 * undici reads the reason phrase as UTF-8; its bytes go on as they came, wherever they were that. One with
 * control characters, which nobody may send (RFC 9112 §4), is left out.
 */
function phraseOf(statusText: string): string {
  if (/^[ -~]*$/.test(statusText)) return statusText
  const phrase = Buffer.from(statusText).toString('latin1')
  return /^[\t -~\x80-\xff]*$/.test(phrase) ? phrase : ''
}

/**
 * Reads an answer's head as it came off the wire, in Latin-1 as HTTP has it. Order, spelling and duplicates are
 * kept; hop-by-hop headers are gone.
 */
function readHead(status: number, statusText: string, raw: readonly Buffer[]): ResponseHead {
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
