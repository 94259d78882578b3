import type { Clock } from '../../call/clock.ts'
import type { RawHeaders } from '../../call/response-head.ts'
import { headerOf } from '../../lib/http/header-list.ts'
import { type UpstreamBase, upstreamPath } from '../http/target.ts'
import type { Transport, TransportAttempt } from '../upstream/transport.ts'
import type { Connection } from '../upstream/undici-transport.ts'

/** A request for an upstream's list of models. */
export interface ModelListRequest {
  readonly transport: Transport
  readonly base: UpstreamBase
  readonly headers: RawHeaders
  /** The query with its question mark; empty without one. */
  readonly query: string
  readonly clock: Clock
  /** Time limit for the whole list, in ms. */
  readonly limitMs: number
  /** Most bytes of the list. */
  readonly mostBytes: number
}

/** Asks an upstream for its whole list of models. Never rejects. */
export async function requestModels(request: ModelListRequest): Promise<ReceivedResponse> {
  const { transport, base, clock, limitMs, mostBytes } = request
  const { headers, query } = forWholeList(request)
  const response = new BufferedResponse(mostBytes)
  const cancel = clock.after(limitMs, () => response.abort(new Error('it did not respond in time')))
  const path = upstreamPath(base, { path: '/v1/models', query })
  transport.send({ method: 'GET', path, headers, body: null, bodyBytes: 0, freshConnection: false }, response)
  const received = await response.received
  cancel()
  return received
}

/**
 * The query and headers for a whole list of models. Anthropic's API, recognised by the header of its key,
 * requires a version (docs.anthropic.com, Versions) and lists 20 models by default, 1,000 at most (List
 * Models).
 */
function forWholeList({ headers, query }: ModelListRequest): Pick<ModelListRequest, 'headers' | 'query'> {
  if (headerOf(headers, 'x-api-key') === null) return { headers, query }
  const version = headerOf(headers, 'anthropic-version') === null ? ['anthropic-version', '2023-06-01'] : []
  const isBounded = /[?&](?:limit|after_id|before_id)=/.test(query)
  const longest = query.length > 1 ? `${query}&limit=1000` : '?limit=1000'
  return { headers: [...headers, ...version], query: isBounded ? query : longest }
}

/** A complete response, or the part of it that came. */
export interface ReceivedResponse {
  /** The status; 0 without a response. */
  readonly status: number
  /** Headers as received: name, value, name, value … */
  readonly headers: readonly string[]
  readonly body: Buffer
  /** Why the response is incomplete; null if it is complete. */
  readonly error: Error | null
}

/** Buffers the answer to a request of the gateway itself, up to `mostBytes`. */
class BufferedResponse implements TransportAttempt {
  readonly #over = Promise.withResolvers<ReceivedResponse>()
  /** Resolves with the response when it has ended. Never rejects. */
  readonly received: Promise<ReceivedResponse> = this.#over.promise
  readonly #mostBytes: number
  readonly #chunks: Buffer[] = []
  #bytes = 0
  #status = 0
  #headers: readonly string[] = []
  #streamed = true
  #abort: (() => void) | null = null
  isOver = false
  connection: Connection | null = null

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes
  }

  /** Ends the request with an error. */
  abort(reason: Error): void {
    this.#end(reason)
    this.#abort?.()
  }

  onConnect(abort: () => void): void {
    this.#abort = abort
    this.connection?.sending()
    if (this.isOver) abort()
  }

  onHeaders(status: number, raw: Buffer[]): boolean {
    if (status < 200) return true
    if (this.connection !== null) this.connection.hasProgressed = true
    this.#status = status
    this.#headers = raw.map((part) => part.toString('latin1'))
    this.#streamed = !this.#headers.some((name, at) => at % 2 === 0 && /^content-length$/i.test(name))
    return true
  }

  onData(chunk: Buffer): boolean {
    if (this.connection !== null) this.connection.hasProgressed = true
    this.#bytes += chunk.length
    if (this.#bytes > this.#mostBytes) this.abort(new Error(`it is longer than ${this.#mostBytes} bytes`))
    else this.#chunks.push(Buffer.from(chunk))
    return true
  }

  onComplete(): void {
    this.connection?.answered(this.#streamed)
    this.#end(null)
  }

  onError(error: Error): void {
    this.#end(error)
  }

  #end(error: Error | null): void {
    this.isOver = true
    const body = Buffer.concat(this.#chunks)
    this.#over.resolve({ status: this.#status, headers: this.#headers, body, error })
  }
}
