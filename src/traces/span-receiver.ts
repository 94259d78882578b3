import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { gzipSync } from 'node:zlib'
import { codeOf } from '../lib/errors.ts'
import { isLoopbackBind } from '../lib/http/request-source.ts'
import type { TraceSettings } from './trace-settings.ts'

/** A receiver's answer. */
export interface Reply {
  readonly status: number
  readonly retryAfter: string | null
  /** The first bytes of the body. */
  readonly body: Buffer
}

/** Sends spans to a receiver. */
export interface SpanReceiver {
  /** Sends a request. Rejects if there is no answer within 10 s, or `signal` is aborted. */
  post(body: Buffer, signal: AbortSignal): Promise<Reply>
  close(): void
}

/** The default time limit of OpenTelemetry's exporters. */
const answerLimitMs = 10_000
const enoughOfBody = 64 * 1024

/**
 * The receiver at an address, over one kept connection, and through the environment's proxy unless it is on
 * this machine.
 */
export function httpReceiver(
  { url, headers, isGzip }: Pick<TraceSettings, 'url' | 'headers' | 'isGzip'>,
  env: NodeJS.ProcessEnv,
  limitMs = answerLimitMs,
): SpanReceiver {
  const { protocol, hostname } = new URL(url)
  const { Agent, request } = process.getBuiltinModule(protocol === 'https:' ? 'node:https' : 'node:http')
  const isHere = isLoopbackBind(hostname.replace(/^\[(.*)\]$/, '$1'))
  const agent = new Agent({ keepAlive: true, maxSockets: 1, ...(!isHere && { proxyEnv: env }) })
  const form = { 'content-type': 'application/json', ...(isGzip && { 'content-encoding': 'gzip' }) }

  const post: SpanReceiver['post'] = async (body, signal) => {
    const encoded = isGzip ? gzipSync(body, { level: 1 }) : body
    const sentHeaders = { ...headers, ...form, 'content-length': encoded.length }
    const tooLate = AbortSignal.timeout(limitMs)
    const either = AbortSignal.any([signal, tooLate])
    const req = request(url, { agent, method: 'POST', headers: sentHeaders, signal: either })
    // The listener keeps a second error, or an error after the answer began, from ending the process.
    req.on('error', () => {})
    try {
      req.end(encoded)
      const [res]: IncomingMessage[] = await once(req, 'response')
      return await replyOf(res as IncomingMessage)
    } catch (error) {
      // The receiver had closed the idle connection; the next one is new.
      if (req.reusedSocket && codeOf(error) === 'ECONNRESET') return post(body, signal)
      throw tooLate.aborted ? new Error(`it did not answer within ${limitMs / 1000} s`) : error
    }
  }
  return { post, close: () => agent.destroy() }
}

async function replyOf(res: IncomingMessage): Promise<Reply> {
  const body: Buffer[] = []
  let bytes = 0
  for await (const piece of res as AsyncIterable<Buffer>) {
    body.push(piece)
    bytes += piece.length
    if (bytes > enoughOfBody) break
  }
  const { statusCode: status = 0, headers } = res
  return { status, retryAfter: headers['retry-after'] ?? null, body: Buffer.concat(body) }
}
