import { once } from 'node:events'
import type { RequestListener, Server, ServerOptions } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

/**
 * The used part of `node:http`. An `import` would read all exports, and so load Node's undici for its
 * WebSocket, which takes 30 ms more at the start.
 */
export const { METHODS, STATUS_CODES, request } = process.getBuiltinModule('node:http')

/**
 * Creates a server that no connection can crash. Node removes its error listener from a socket that it hands
 * over, as for `CONNECT`. Without another listener, the next reset would be an uncaught exception.
 */
export function createServer(options: ServerOptions, onRequest?: RequestListener): Server {
  const server = process.getBuiltinModule('node:http').createServer(options, onRequest)
  // An error of accepting loses one connection. An error of listening also reaches the code that waits for it.
  server.on('error', ignore)
  server.on('connection', (socket: Socket) => void socket.on('error', ignore))
  return server
}

/** Ignores errors of a server's sockets, because `close` follows. */
function ignore(): void {}

/** The text of a stream; null if it is longer than `maxBytes`. Rejects with the stream's error. */
export async function readAtMost(maxBytes: number, stream: AsyncIterable<Buffer>): Promise<string | null> {
  const chunks: Buffer[] = []
  let byteLength = 0
  for await (const chunk of stream) {
    byteLength += chunk.length
    if (byteLength > maxBytes) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

/** A server that listens on the loopback interface. */
export interface LoopbackServer extends AsyncDisposable {
  /** `http://127.0.0.1:<port>` */
  readonly origin: string
  /** Closes the server and all connections, also in the middle of a response. */
  close(): Promise<void>
}

/** Lets a server listen on a free port of the loopback interface. */
export async function listenOnLoopback(server: Server): Promise<LoopbackServer> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const close = async (): Promise<void> => {
    if (!server.listening) return
    const closed = once(server, 'close')
    server.close()
    server.closeAllConnections()
    await closed
  }
  return { origin: `http://127.0.0.1:${port}`, close, [Symbol.asyncDispose]: close }
}

/** An event of a text/event-stream (HTML Standard §9.2.6). Name and id must not contain line breaks. */
export function sseEvent(name: string | null, data: string, id?: string): string {
  const lines = data.split(/\r\n|\r|\n/).map((line) => `data: ${line}\n`)
  return `${name === null ? '' : `event: ${name}\n`}${id === undefined ? '' : `id: ${id}\n`}${lines.join('')}\n`
}

/** The field that sets a client's wait before it reconnects, in milliseconds. */
export function sseRetry(ms: number): string {
  return `retry: ${ms}\n\n`
}

/** A comment, which is no event and keeps the connection in use. */
export const sseComment = ':\n\n'
