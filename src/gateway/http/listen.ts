import type { Server } from 'node:http'
import type { Server as SocketServer } from 'node:net'
import { createServer } from '../../lib/http/http.ts'

/** Largest head of a request or of an upstream's answer, in bytes: long cookies and JWTs pass Node's 16 KiB. */
export const maxHeaderBytes: number = 64 * 1024
/** Most fields of a request's head: Node's own limit, which the refusal names. */
export const maxHeaderFields = 1000
/** Longer than the pools of common clients keep a connection, so that the client closes it first. */
const keepAliveTimeoutMs = 75_000
const tcpKeepAliveDelayMs = 30_000
const headTimeoutMs = 60_000
/** Interval of checks for heads that do not arrive in time. */
const headCheckMs = 5000
/**
 * Connections that the kernel completes before they are accepted, as far as it allows (`net.core.somaxconn`). With
 * Node's 511, the SYNs of a crowd beyond that are dropped, and come again only after a second (RFC 6298 §2).
 */
export const listenBacklog = 4096

/** The address on which a gateway accepts calls. */
export interface Listener {
  /** The server, which may listen later. */
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
    // No bound: a call may queue, and a body may arrive, for any time.
    requestTimeout: 0,
    // The gateway itself refuses a request without a Host header.
    requireHostHeader: false,
    keepAlive: true,
    keepAliveInitialDelay: tcpKeepAliveDelayMs,
  })
  server.maxHeadersCount = maxHeaderFields
  return server
}

/**
 * Binds the port, before anything else is touched: the port is the lock against a second gateway. A
 * `GatewayServer` must take the listener over in the turn in which this resolves. Rejects with the socket's
 * error.
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

/** The port on which a server listens. */
export function portOf(server: Server): number {
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new TypeError('the listener has no port')
  return address.port
}
