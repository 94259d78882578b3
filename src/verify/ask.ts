import { type IncomingMessage, request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { endToEnd, type SeenAnswer, type SeenRequest } from './seen-exchange.ts'

/** Follows an answer while it comes. */
export interface AnswerFollower {
  /** What it throws ends the exchange. */
  head(answer: IncomingMessage): void
  data(chunk: Buffer): void
  /** Breaks the exchange off. */
  readonly signal: AbortSignal
}

/** How a request was answered. */
export interface Asked {
  /** `null` if not even a status came. */
  readonly answer: SeenAnswer | null
  /** Why the answer did not come or broke off; `null` if it came whole. */
  readonly error: Error | null
}

/** Sends a request on a connection of its own, and notes the answer as it comes. Never rejects. */
export async function send(origin: string, request: SeenRequest, follower?: AnswerFollower): Promise<Asked> {
  const url = new URL(origin)
  const headers = ['Host', url.host, ...endToEnd(request.headers).flat(), 'Connection', 'close']
  if (request.body.length > 0) headers.push('Content-Length', String(request.body.length))
  const { promise, resolve } = Promise.withResolvers<Error | null>()
  const chunks: Buffer[] = []
  const arrivals: { atMs: number; bytes: number }[] = []
  let bytes = 0
  let head: IncomingMessage | null = null
  const sentMs = performance.now()
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
      signal: follower?.signal,
    },
    (answer) => {
      head = answer
      answer.on('data', (chunk: Buffer) => {
        chunks.push(chunk)
        bytes += chunk.length
        arrivals.push({ atMs: performance.now() - sentMs, bytes })
        follower?.data(chunk)
      })
      answer.on('end', () => resolve(null)).on('error', resolve)
      try {
        follower?.head(answer)
      } catch (error) {
        asked.destroy(error instanceof Error ? error : new Error(String(error)))
      }
    },
  )
  asked.on('error', resolve).end(request.body)
  const error = await promise
  return { answer: head === null ? null : seenAnswer(head, Buffer.concat(chunks), arrivals), error }
}

function seenAnswer(
  { statusCode = 0, statusMessage = '', rawHeaders, complete }: IncomingMessage,
  body: Buffer,
  arrivals: SeenAnswer['arrivals'],
): SeenAnswer {
  return {
    status: statusCode,
    statusText: statusMessage,
    headers: rawHeaders,
    body,
    isComplete: complete,
    arrivals,
  }
}

/** Sends a request and waits for the whole of the answer. Rejects if none began. */
export async function ask(origin: string, request: SeenRequest): Promise<SeenAnswer> {
  const { answer, error } = await send(origin, request)
  if (answer === null) throw error ?? new Error('there was no answer')
  return answer
}
