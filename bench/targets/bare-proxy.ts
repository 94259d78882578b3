/**
 * The yardstick: the fair, natural, fast reverse proxy of node:http and undici, recording nothing. What
 * tokenweir costs above it is what tokenweir's own work costs.
 * Usage: node bare-proxy.ts <upstream origin>; prints `listening on http://127.0.0.1:<port>`.
 */
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http'
import { type Dispatcher, Pool } from 'undici'

const hopByHop = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** Forwards head and chunks as they arrive; applies back-pressure, and stops when the client leaves. */
class Relay implements Dispatcher.DispatchHandler {
  readonly #response: ServerResponse
  #controller: Dispatcher.DispatchController | undefined

  constructor(response: ServerResponse) {
    this.#response = response
    response.on('close', () => {
      if (!response.writableFinished) this.#controller?.abort(new Error('the client left'))
    })
    response.on('drain', () => this.#controller?.resume())
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#response.destroyed) controller.abort(new Error('the client left'))
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    statusCode: number,
    _headers: unknown,
    statusMessage?: string,
  ): void {
    const raw = controller.rawHeaders
    const headers: string[] = []
    for (let i = 0; Array.isArray(raw) && i + 1 < raw.length; i += 2) {
      const name = raw[i]!.toString('latin1')
      if (!hopByHop.has(name.toLowerCase())) headers.push(name, raw[i + 1]!.toString('latin1'))
    }
    this.#response.writeHead(statusCode, statusMessage ?? '', headers)
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.#response.write(chunk)) controller.pause()
  }

  onResponseEnd(): void {
    this.#response.end()
  }

  onResponseError(): void {
    if (this.#response.headersSent) this.#response.destroy()
    else this.#response.writeHead(502).end()
  }
}

function forwardedHeaders(raw: readonly string[], host: string): string[] {
  const headers = ['Host', host]
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = raw[i]!.toLowerCase()
    if (name !== 'host' && !hopByHop.has(name)) headers.push(raw[i]!, raw[i + 1]!)
  }
  return headers
}

const origin = new URL(process.argv[2]!)
const pool = new Pool(origin, { headersTimeout: 0, bodyTimeout: 0 })
const server = createServer(
  { requestTimeout: 0, headersTimeout: 0, keepAliveTimeout: 0 },
  (request: IncomingMessage, response: ServerResponse) => {
    response.sendDate = false
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () => {
      const body = pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)
      const headers = forwardedHeaders(request.rawHeaders, origin.host)
      // node:http admits only methods that it knows.
      const method = request.method as Dispatcher.HttpMethod
      pool.dispatch({ path: request.url!, method, headers, body }, new Relay(response))
    })
  },
)
server.listen(0, '127.0.0.1', 4096, () => {
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  console.log(`listening on http://127.0.0.1:${port}`)
})
// Its parent ends it by closing the pipe, even when the parent itself is killed.
process.stdin.on('end', () => process.exit()).resume()
