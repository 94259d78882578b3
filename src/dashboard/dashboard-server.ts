import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Clock } from '../call/clock.ts'
import { createServer } from '../lib/http/http.ts'
import type { ThisMachine } from '../lib/this-machine.ts'
import { callTopic } from './events/call-topic.ts'
import { logTopic } from './events/log-topic.ts'
import { payloadTopic } from './events/payload-topic.ts'
import { jobTopic, stateTopic } from './events/state-topic.ts'
import { answerMalformed } from './http/answer.ts'
import { type RouteTable, makeApp } from './http/app.ts'
import { makeGuard } from './http/guard.ts'
import { readPage } from './http/page-assets.ts'
import { SignIn } from './http/sign-in.ts'
import { alertRoutes } from './routes/alert-routes.ts'
import { clientRoutes } from './routes/client-routes.ts'
import { upstreamRoutes } from './routes/upstream-routes.ts'
import { callRoutes } from './routes/call-routes.ts'
import { costRoutes } from './routes/cost-routes.ts'
import type { DashboardDeps } from './routes/dashboard-deps.ts'
import { databaseRoutes } from './routes/database-routes.ts'
import { documentRoutes } from './routes/document-routes.ts'
import { eventRoutes } from './routes/event-routes.ts'
import { exportRoutes } from './routes/export-routes.ts'
import { gatewayRoutes } from './routes/gateway-routes.ts'
import { openPaths, pageRoutes } from './routes/page-routes.ts'
import { processRoutes } from './routes/process-routes.ts'
import { noteRoutes } from './routes/note-routes.ts'
import { rawLogRoutes } from './routes/raw-log-routes.ts'
import { reportRoutes } from './routes/report-routes.ts'
import { sessionRoutes } from './routes/session-routes.ts'

/** Most connections; further ones are dropped. Pages need far fewer. */
const maxConnections = 1024
/** Most connections without a request. Beyond it the longest idle one is closed, so that no page is kept out. */
const maxIdle = 128
/** Time for responses to end when the server closes. */
const closeLimitMs = 1000

const socketLimits = {
  maxHeaderSize: 16 * 1024,
  headersTimeout: 5000,
  /** Time limit for the request; an answer may take any time. */
  requestTimeout: 15_000,
  connectionsCheckingInterval: 1000,
  keepAliveTimeout: 30_000,
  // The guard refuses a request without a Host header.
  requireHostHeader: false,
}

/** The parts of a dashboard's server. */
export interface DashboardServerOptions extends DashboardDeps {
  readonly adminToken: string | null
  readonly thisMachine: ThisMachine
  /** True if every request needs the admin token, because the address is not a loopback one. */
  readonly demandsToken: boolean
  /** Host names for which the dashboard answers, in addition to loopback names and addresses. */
  readonly allowedHosts: readonly string[]
  readonly clock: Clock
  /** Receives internal errors, which clients never see. */
  readonly onFault: (error: unknown) => void
}

/** The dashboard's HTTP side: the page, the API, and the guard before both. */
export interface DashboardServer {
  /** All routes, by path. */
  readonly routes: RouteTable
  /** Resolves with the port that it got; rejects with the socket's error. */
  listen(port: number, host: string): Promise<number>
  /** Path and query that sign a browser in: valid once, for 15 minutes. */
  signInLink(): string
  /** Ends the event streams, waits a moment for other answers, and then closes all connections. */
  close(): Promise<void>
}

/** Makes the dashboard's server, which does not listen yet. */
export function makeDashboardServer(options: DashboardServerOptions): DashboardServer {
  const { process, log, queries, rawLog, jobs, alerts, adminToken, clock, onFault } = options
  const gateway = stateTopic('gateway', { clock, read: () => process.status(), onFault }, 'uptime_s')
  const live = stateTopic('live', { clock, read: () => process.live(), onFault })
  const topics = [
    gateway,
    logTopic(log),
    callTopic(queries, clock, onFault),
    live,
    jobTopic(jobs),
    payloadTopic(rawLog),
    stateTopic('alerts', { clock, read: async () => alerts().active(), onFault }),
    stateTopic('alert_rules', { clock, read: async () => alerts().ruleSettings(), onFault }),
  ]
  const events = eventRoutes(topics, clock)
  const signIn = adminToken === null ? null : new SignIn(adminToken, clock)
  const assets = readPage(new URL('../../dist/ui/', import.meta.url))
  const guard = makeGuard({ ...options, openPaths: openPaths(assets) }, options.thisMachine, signIn)
  const routes = {
    ...pageRoutes(assets, guard, signIn),
    ...documentRoutes,
    ...sessionRoutes(signIn),
    ...processRoutes(
      options,
      () => gateway.refresh(),
      () => live.refresh(),
    ),
    ...callRoutes(options, clock),
    ...noteRoutes(options, clock),
    ...reportRoutes(options, assets, clock),
    ...rawLogRoutes(options),
    ...databaseRoutes(options, clock),
    ...exportRoutes(jobs),
    ...costRoutes(options, clock),
    ...alertRoutes(options),
    ...clientRoutes(options, clock),
    ...upstreamRoutes(options),
    ...gatewayRoutes(options, clock),
    ...events.routes,
  }
  let isClosing = false
  const app = makeApp(routes, { isClosing: () => isClosing, onFault })

  /** Every request of any path, method or shape passes the guard first. */
  const answer = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    // The request came in the same read as an earlier one, and the refusal of that has ended the connection.
    if (!req.socket.writable) return
    // If the client has already left, no route would notice.
    if ((await guard.admits(req, res)) && !req.socket.destroyed) await app(req, res)
  }
  const server = createServer(socketLimits)
  server.maxConnections = maxConnections
  /** Connections without a request, the longest idle first. */
  const idle = new Set<Socket>()
  const rest = (socket: Socket): void => {
    if (socket.destroyed) return
    const [longest = socket] = idle.add(socket)
    if (idle.size > maxIdle && idle.delete(longest)) longest.destroy()
  }
  server.on('connection', (socket: Socket) => {
    socket.once('close', () => idle.delete(socket))
    rest(socket)
  })
  // An unknown expectation may be ignored (RFC 9110 §10.1.1). By default Node would answer 417.
  for (const event of ['request', 'checkExpectation']) {
    server.on(event, (req: IncomingMessage, res: ServerResponse) => {
      idle.delete(req.socket)
      res.once('close', () => rest(req.socket))
      answer(req, res).catch((error: unknown) => {
        onFault(error)
        res.destroy()
      })
    })
  }
  server.on('clientError', answerMalformed)

  return {
    routes,
    listen: async (port, host) => {
      await once(server.listen(port, host), 'listening')
      const address = server.address()
      if (typeof address !== 'object' || address === null) throw new TypeError('the listener has no port')
      return address.port
    },
    signInLink: () => (signIn === null ? '/' : `/?token=${signIn.newCode()}`),
    close: async () => {
      isClosing = true
      events.close()
      if (!server.listening) return
      const patience = setTimeout(() => server.closeAllConnections(), closeLimitMs)
      server.close()
      await once(server, 'close')
      clearTimeout(patience)
    },
  }
}
