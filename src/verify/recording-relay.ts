import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { type Asked, send } from './ask.ts'
import { endToEnd, type SeenRequest } from './seen-exchange.ts'

/** A request, and how it was answered. */
interface RelayedExchange extends Asked {
  readonly request: SeenRequest
}

/** Stands before an upstream, hands on what it is sent, and remembers both ways. */
export interface RecordingRelay extends AsyncDisposable {
  /** `http://127.0.0.1:<port>` */
  readonly origin: string
  /** In the order in which their answers ended. */
  readonly exchanges: readonly RelayedExchange[]
  /** Settles when every answer that has begun is noted. */
  settled(): Promise<void>
}

/** Listens on a free port of the loopback interface. */
export async function startRecordingRelay(upstreamOrigin: string): Promise<RecordingRelay> {
  const exchanges: RelayedExchange[] = []
  const underWay: Promise<void>[] = []
  const server = createServer((req, res) => {
    const noted = relay(upstreamOrigin, req, res).then(
      (exchange) => {
        exchanges.push(exchange)
        if (exchange.error === null) res.end()
        else res.destroy()
      },
      () => void res.destroy(),
    )
    underWay.push(noted)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    origin: `http://127.0.0.1:${port}`,
    exchanges,
    settled: async () => {
      await Promise.all(underWay)
    },
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

/** Hands a request on, and the answer back as it comes; its end is left to the caller. */
async function relay(
  upstreamOrigin: string,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<RelayedExchange> {
  const request: SeenRequest = {
    method: req.method ?? 'GET',
    target: req.url ?? '/',
    headers: req.rawHeaders,
    body: await buffer(req),
  }
  const left = new AbortController()
  res.once('close', () => left.abort())
  res.sendDate = false
  const asked = await send(upstreamOrigin, request, {
    // Node reads reason phrases and values that it does not write: then this throws.
    head: ({ headers: { 'content-length': length }, rawHeaders, statusCode = 502, statusMessage = '' }) => {
      const framing = length === undefined ? [] : ['Content-Length', length]
      res.writeHead(statusCode, statusMessage, [...endToEnd(rawHeaders).flat(), ...framing]).flushHeaders()
    },
    data: (chunk) => void res.write(chunk),
    signal: left.signal,
  })
  return { request, ...asked }
}
