import { once } from 'node:events'
import { type IncomingMessage, type ServerResponse, request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { endToEnd, type SeenAnswer, type SeenRequest } from './seen-exchange.ts'

/** How a request was answered. */
export interface Asked {
  /** `null` if not even a status came. */
  readonly answer: SeenAnswer | null
  /** Why the answer did not come or broke off; `null` if it came whole. */
  readonly error: Error | null
}

/**
 * Sends a request on a connection of its own, and notes the answer as it comes. All but its end is handed on at once if
 * there is an `onward`; when that is closed, the exchange is broken off. Never rejects.
 */
export async function send(origin: string, request: SeenRequest, onward?: ServerResponse): Promise<Asked> {
  const url = new URL(origin)
  const headers = ['Host', url.host, ...endToEnd(request.headers).flat(), 'Connection', 'close']
  if (request.body.length > 0) headers.push('Content-Length', String(request.body.length))
  const chunks: Buffer[] = []
  const arrivals: { atMs: number; bytes: number }[] = []
  let bytes = 0
  let head: IncomingMessage | null = null
  let error: Error | null = null
  const sentMs = performance.now()
  const asked = (url.protocol === 'https:' ? httpsRequest : httpRequest)({
    protocol: url.protocol,
    // `URL` keeps the brackets of an IPv6 address, which a socket does not take.
    hostname: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port,
    method: request.method,
    path: request.target,
    headers,
    agent: false,
  })
  // Once an answer has begun, it tells what befalls it.
  asked.on('error', () => {})
  onward?.once('close', () => asked.destroy())
  try {
    const [answer] = (await once(asked.end(request.body), 'response')) as [IncomingMessage]
    head = answer
    // Node reads reason phrases and values that it does not write: then this throws.
    if (onward !== undefined) handOnHead(answer, onward)
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      chunks.push(chunk)
      bytes += chunk.length
      arrivals.push({ atMs: performance.now() - sentMs, bytes })
      onward?.write(chunk)
    }
  } catch (caught) {
    error = caught as Error
    asked.destroy()
  }
  if (head === null) return { answer: null, error }
  const { statusCode: status = 0, statusMessage: statusText = '', rawHeaders, complete: isComplete } = head
  const body = Buffer.concat(chunks)
  return { answer: { status, statusText, headers: rawHeaders, body, isComplete, arrivals }, error }
}

function handOnHead(answer: IncomingMessage, onward: ServerResponse): void {
  const { headers, rawHeaders, statusCode = 502, statusMessage = '' } = answer
  const length = headers['content-length']
  const framing = length === undefined ? [] : ['Content-Length', length]
  onward.sendDate = false
  onward.writeHead(statusCode, statusMessage, [...endToEnd(rawHeaders).flat(), ...framing]).flushHeaders()
}

/** Sends a request and waits for the whole of the answer. Rejects if none began. */
export async function ask(origin: string, request: SeenRequest): Promise<SeenAnswer> {
  const { answer, error } = await send(origin, request)
  if (answer === null) throw error ?? new Error('there was no answer')
  return answer
}
