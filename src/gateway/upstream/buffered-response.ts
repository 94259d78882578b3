import type { TransportAttempt } from './transport.ts'
import type { Connection } from './undici-transport.ts'

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
export class BufferedResponse implements TransportAttempt {
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
