import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http'
import { type FastifyInstance, fastify } from 'fastify'
import type { Clock } from '../call/clock.ts'
import type { ThisMachine } from '../lib/this-machine.ts'
import type { JobStarter } from '../supervisor/database-jobs.ts'
import type { GatewayProcess } from '../supervisor/gateway-process.ts'
import type { PriceSyncer } from '../supervisor/price-sync-job.ts'
import { answerError, answerErrors } from './http/answer-errors.ts'
import { BeatTopic } from './events/beat-topic.ts'
import { addCallRoutes } from './routes/call-routes.ts'
import { CallTopic } from './events/call-topic.ts'
import { addCostRoutes } from './routes/cost-routes.ts'
import { addDatabaseRoutes } from './routes/database-routes.ts'
import { EventHub } from './events/event-hub.ts'
import { addEventRoutes } from './routes/event-routes.ts'
import { Guard } from './http/guard.ts'
import { takeJsonBodies } from './http/json-body.ts'
import { JobTopic } from './events/job-topic.ts'
import type { LogSource } from './routes/log-source.ts'
import { LogTopic } from './events/log-topic.ts'
import { PageAssets } from './http/page-assets.ts'
import { addPageRoutes, openPaths } from './routes/page-routes.ts'
import { answerMalformed, answerProblem } from './http/plain-answer.ts'
import { PayloadTopic } from './events/payload-topic.ts'
import { addProcessRoutes } from './routes/process-routes.ts'
import type { PriceWriter } from './routes/price-writer.ts'
import { QueryReplies } from './routes/query-reply.ts'
import type { QuerySource } from './routes/query-source.ts'
import { addRawLogRoutes } from './routes/raw-log-routes.ts'
import type { RawLogSource } from './routes/raw-log-source.ts'
import { RequestProblem } from './http/request-problem.ts'
import { addSessionRoutes } from './routes/session-routes.ts'
import { SignIn } from './http/sign-in.ts'
import { StateTopic } from './events/state-topic.ts'

const bodyLimitBytes = 64 * 1024
/** A part of a path that is a name: a model's, of some hundred characters, and each may be three as it is escaped. */
const maxParamLength = 2000
/** Beyond these, connections are dropped: far more than the pages that may be open. */
const maxConnections = 256
/** How long answers that are under way may go on when the server closes. */
const lastWordsMs = 1000

const socketLimits = {
  maxHeaderSize: 16 * 1024,
  headersTimeout: 5000,
  /** For the request alone; an answer may take any time. */
  requestTimeout: 15_000,
  connectionsCheckingInterval: 1000,
  keepAliveTimeout: 30_000,
  // Ours to refuse, in our words.
  requireHostHeader: false,
}

/** What a dashboard's server is made of. */
export interface DashboardServerOptions {
  readonly process: GatewayProcess
  readonly log: LogSource
  readonly queries: QuerySource
  readonly rawLog: RawLogSource
  readonly jobs: JobStarter
  readonly sync: PriceSyncer
  readonly prices: PriceWriter
  readonly adminToken: string | null
  readonly thisMachine: ThisMachine
  /** Whether everybody must bring the admin token: where the address that is bound is not a loopback one. */
  readonly demandsToken: boolean
  /** Names besides loopback ones and addresses under which the dashboard answers. */
  readonly allowedHosts: readonly string[]
  readonly clock: Clock
  /** Told of faults of our own, which are never shown to who asked. */
  readonly onFault: (error: unknown) => void
}

/** The dashboard's HTTP side: the page, the API, and the guard before both. */
export class DashboardServer {
  readonly #app: FastifyInstance
  readonly #hub: EventHub
  readonly #guard: Guard
  readonly #signIn: SignIn | null
  #closing = false

  constructor(options: DashboardServerOptions) {
    const { process, log, queries, rawLog, jobs, adminToken, clock, onFault } = options
    const gateway = new StateTopic({
      name: 'gateway',
      clock,
      look: () => process.status(),
      passing: 'uptime_s',
      onFault,
    })
    const live = new StateTopic({ name: 'live', clock, look: () => process.live(), onFault })
    const calls = new CallTopic(queries, clock, onFault)
    const others = [new JobTopic(jobs), new BeatTopic(clock), new PayloadTopic(rawLog)]
    this.#hub = new EventHub([gateway, new LogTopic(log), calls, live, ...others], clock)
    this.#signIn = adminToken === null ? null : new SignIn(adminToken, clock)
    const assets = new PageAssets(new URL('../../dist/ui/', import.meta.url))
    const rules = { ...options, openPaths: openPaths(assets) }
    this.#guard = new Guard(rules, options.thisMachine, this.#signIn)
    this.#app = fastify({
      logger: false,
      bodyLimit: bodyLimitBytes,
      routerOptions: { maxParamLength },
      // What a request says is taken as it is: no value becomes another, none is left out.
      ajv: { customOptions: { coerceTypes: false, removeAdditional: false, allowUnionTypes: true } },
      serverFactory: (handler) => this.#listener(handler),
      frameworkErrors: (error, _request, reply) => void answerError(error, reply, onFault),
      clientErrorHandler: answerMalformed,
    })
    takeJsonBodies(this.#app)
    answerErrors(this.#app, onFault)
    addPageRoutes(this.#app, { assets, guard: this.#guard, signIn: this.#signIn })
    addSessionRoutes(this.#app, this.#signIn, clock)
    addProcessRoutes(this.#app, { process, log, onChange: () => gateway.refresh() })
    const replies = new QueryReplies()
    addCallRoutes(this.#app, { queries, replies, rawLog })
    addRawLogRoutes(this.#app, { rawLog, queries, replies })
    addDatabaseRoutes(this.#app, jobs)
    addCostRoutes(this.#app, options)
    addEventRoutes(this.#app, this.#hub)
  }

  /** Resolves with the port that it got; rejects with the socket's error. */
  async listen(port: number, host: string): Promise<number> {
    await this.#app.listen({ port, host })
    const address = this.#app.server.address()
    if (typeof address !== 'object' || address === null) throw new TypeError('the listener has no port')
    return address.port
  }

  /** Path and query that sign a browser in, once and for a quarter of an hour. */
  signInLink(): string {
    return this.#signIn === null ? '/' : `/?token=${this.#signIn.newCode()}`
  }

  /** Ends the event streams, lets answers under way finish for a moment, and breaks what is then still open. */
  async close(): Promise<void> {
    this.#closing = true
    this.#hub.close()
    const patience = setTimeout(() => this.#app.server.closeAllConnections(), lastWordsMs)
    try {
      await this.#app.close()
    } finally {
      clearTimeout(patience)
    }
  }

  /** Every request passes the guard before fastify sees it, whatever its path, method or shape. */
  #listener(handler: (req: IncomingMessage, res: ServerResponse) => void): Server {
    const onRequest = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
      // No route would hear that the client has left already.
      if (!(await this.#guard.admits(req, res)) || req.socket.destroyed) return
      if (this.#closing) answerProblem(req, res, closing)
      else handler(req, res)
    }
    const server = createServer(socketLimits)
    server.maxConnections = maxConnections
    // An expectation that is not known may be ignored (RFC 9110 §10.1.1); Node's own answer would be a bare 417.
    for (const event of ['request', 'checkExpectation']) {
      server.on(event, (req: IncomingMessage, res: ServerResponse) => void onRequest(req, res))
    }
    return server
  }
}

const closing = new RequestProblem(503, 'closing', 'The dashboard is closing.', {
  headers: { 'retry-after': '2' },
})
