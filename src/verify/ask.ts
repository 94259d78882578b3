import { type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { endToEnd, type SeenAnswer, type SeenRequest } from './seen-exchange.ts'

/** Follows an answer while it comes. */
export interface AnswerFollower {
  head(answer: IncomingMessage): void
  data(chunk: Buffer): void
  end(): void
  /** The answer broke off, or never began. */
  failed(error: Error): void
}

/** Sends a request on a connection of its own, and tells of the answer as it comes. */
export function send(origin: string, request: SeenRequest, follower: AnswerFollower): ClientRequest {
  const url = new URL(origin)
  const headers = ['Host', url.host, ...endToEnd(request.headers).flat(), 'Connection', 'close']
  if (request.body.length > 0) headers.push('Content-Length', String(request.body.length))
  const asked = (url.protocol === 'https:' ? httpsRequest : httpRequest)(
    {
      protocol: url.protocol,
      // `URL` keeps the brackets of an IPv6 address, which a socket does not take.
      hostname: url.hostname.replace(/^\[|\]$/g, ''),
      port: url.port,
      method: request.method,
      path: request.target,
      headers,
      agent: false,
    },
    (answer) => {
      follower.head(answer)
      answer.on('data', (chunk: Buffer) => follower.data(chunk))
      answer.on('end', () => follower.end())
      answer.on('error', (error) => follower.failed(error))
    },
  )
  asked.on('error', (error) => follower.failed(error))
  asked.end(request.body)
  return asked
}

/** Notes an answer as it comes. */
export class AnswerNotes {
  readonly #sentMs = performance.now()
  readonly #chunks: Buffer[] = []
  readonly #arrivals: { atMs: number; bytes: number }[] = []
  #bytes = 0
  #head: IncomingMessage | null = null

  head(answer: IncomingMessage): void {
    this.#head = answer
  }

  data(chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#bytes += chunk.length
    this.#arrivals.push({ atMs: performance.now() - this.#sentMs, bytes: this.#bytes })
  }

  /** What came; `null` where not even a status did. */
  seen(): SeenAnswer | null {
    const head = this.#head
    if (head === null) return null
    return {
      status: head.statusCode ?? 0,
      statusText: head.statusMessage ?? '',
      headers: head.rawHeaders,
      body: Buffer.concat(this.#chunks),
      isComplete: head.complete,
      arrivals: this.#arrivals,
    }
  }
}

/** Sends a request and waits for the whole of the answer. Rejects where none began. */
export function ask(origin: string, request: SeenRequest): Promise<SeenAnswer> {
  const notes = new AnswerNotes()
  return new Promise((resolve, reject) => {
    const over = (error: Error): void => {
      const seen = notes.seen()
      if (seen === null) reject(error)
      else resolve(seen)
    }
    send(origin, request, {
      head: (answer) => notes.head(answer),
      data: (chunk) => notes.data(chunk),
      end: () => over(new Error('there was no answer')),
      failed: over,
    })
  })
}
