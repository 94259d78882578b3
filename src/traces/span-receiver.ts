import { gzipSync } from 'node:zlib'
import { isLoopbackBind } from '../lib/request-source.ts'
import type { TraceSettings } from './trace-settings.ts'

/** What a receiver answers. */
export interface Reply {
  readonly status: number
  readonly retryAfter: string | null
  /** At most its first 64 KiB. */
  readonly body: Buffer
}

/** Takes spans. */
export interface SpanReceiver {
  /** Rejects if there is no answer in time, or `signal` says that it is no longer waited for. */
  post(parts: readonly Buffer[], contentType: string, signal: AbortSignal): Promise<Reply>
  close(): void
}

/** As OpenTelemetry's own exporters have it. */
const answerLimitMs = 10_000
const longestBody = 64 * 1024

/** The receiver at an address, over a connection that is kept; through the proxy of the environment, but on this machine. */
export function httpReceiver(
  { url, headers, isGzip }: Pick<TraceSettings, 'url' | 'headers' | 'isGzip'>,
  env: NodeJS.ProcessEnv,
  limitMs = answerLimitMs,
): SpanReceiver {
  const { protocol, hostname } = new URL(url)
  const { Agent, request } = process.getBuiltinModule(protocol === 'https:' ? 'node:https' : 'node:http')
  const isHere = isLoopbackBind(hostname.replace(/^\[(.*)\]$/, '$1'))
  const agent = new Agent({ keepAlive: true, maxSockets: 1, ...(!isHere && { proxyEnv: env }) })

  const post: SpanReceiver['post'] = (parts, contentType, signal) =>
    new Promise((resolve, reject) => {
      const sent = isGzip ? [gzipSync(Buffer.concat(parts), { level: 1 })] : parts
      const length = sent.reduce((sum, part) => sum + part.length, 0)
      const coding = isGzip ? { 'content-encoding': 'gzip' } : {}
      const req = request(url, {
        agent,
        method: 'POST',
        headers: { ...headers, ...coding, 'content-type': contentType, 'content-length': length },
        signal,
      })
      const tooLate = setTimeout(
        () => req.destroy(new Error(`it did not answer within ${limitMs / 1000} s`)),
        limitMs,
      )
      const end = (settle: () => void): void => {
        clearTimeout(tooLate)
        settle()
      }
      req.on('error', (error) => {
        const isStale = req.reusedSocket && 'code' in error && error.code === 'ECONNRESET'
        // It was closed while nothing was sent; the next one is new.
        end(() => (isStale ? resolve(post(parts, contentType, signal)) : reject(error)))
      })
      req.on('response', (res) => {
        const body: Buffer[] = []
        let bytes = 0
        const { statusCode: status = 0, headers: told } = res
        const reply = (): void =>
          end(() => resolve({ status, retryAfter: told['retry-after'] ?? null, body: Buffer.concat(body) }))
        res.on('data', (piece: Buffer) => {
          body.push(piece)
          bytes += piece.length
          if (bytes <= longestBody) return
          reply()
          req.destroy()
        })
        res.on('end', reply)
        res.on('error', (error) => end(() => reject(error)))
      })
      for (const part of sent) req.write(part)
      req.end()
    })
  return { post, close: () => agent.destroy() }
}
