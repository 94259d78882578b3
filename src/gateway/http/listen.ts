import type { Server } from 'node:http'
import type { Server as SocketServer } from 'node:net'
import { createServer } from '../../lib/http/http.ts'

/** Largest head of a request or of an upstream's answer, in bytes: long cookies and JWTs pass Node's 16 KiB. */
export const maxHeaderBytes: number = 64 * 1024
/** Most fields of a request's head: Node's own limit, which the refusal names. */
export const maxHeaderFields = 1000
/** Longer than the pools of common clients keep a connection, so that the client is the one to close it. */
const keepAliveTimeoutMs = 75_000
const tcpKeepAliveDelayMs = 30_000
const headTimeoutMs = 60_000
/** Interval of the search for late heads. */
const headCheckMs = 5000
/**
 * Connections that the kernel completes before they are accepted, as far as it allows (`net.core.somaxconn`). With
 * Node's 511, the SYNs of a crowd beyond that are dropped, and come again only after a second (RFC 6298 §2).
 */
export const listenBacklog = 4096

/** The address on which a gateway accepts calls. */
export interface Listener {
  /** The server, which may begin to listen later. */
  readonly server: Server
  readonly port: number
}

/** A server that does not listen yet. */
export function makeServer(): Server {
  const server = createServer({
    maxHeaderSize: maxHeaderBytes,
    keepAliveTimeout: keepAliveTimeoutMs,
    headersTimeout: headTimeoutMs,
    connectionsCheckingInterval: headCheckMs,
    // A call may queue, and a body may come, for longer than any bound that Node could know.
    requestTimeout: 0,
    // Ours to refuse, in our words.
    requireHostHeader: false,
    keepAlive: true,
    keepAliveInitialDelay: tcpKeepAliveDelayMs,
  })
  server.maxHeadersCount = maxHeaderFields
  return server
}

/**
 * Binds the port, which is the lock that keeps two gateways apart, before anything else is touched. Requests
 * are answered once a `GatewayServer` takes the listener over, in the turn in which this resolves. Rejects with
 * the socket's error.
 */
export function listen<S extends SocketServer = Server>(
  port: number,
  host: string,
  server: S = makeServer() as SocketServer as S,
): Promise<S> {
  const { promise, resolve, reject } = Promise.withResolvers<S>()
  server.once('error', reject)
  server.listen({ port, host, backlog: listenBacklog }, () => {
    server.off('error', reject)
    resolve(server)
  })
  return promise
}

/** The port that a listener got. */
export function portOf(server: Server): number {
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new TypeError('the listener has no port')
  return address.port
}
