import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { once } from 'node:events'
import { type Socket, Server as SocketServer } from 'node:net'
import type { Clock } from '../../call/clock.ts'
import type { HealthReport } from '../../api/health-report.ts'
import { Failure } from '../../call/failure.ts'
import { hostName, isAllowedHost, isCrossSite } from '../../lib/http/request-source.ts'
import { drainRetryAfterS } from '../admission/admission.ts'
import type { SessionPlaces } from './caller-headers.ts'
import { ClientConnections, type ConnectionTaker } from './client-connections.ts'
import type { CallHandler } from '../call/handle-call.ts'
import { type Health, publicReport } from './health.ts'
import { asFailure, sendJson, writeErrorAnswer } from './own-answers.ts'
import { listen } from './listen.ts'
import { refuseMalformed, refuseTunnel } from './malformed-requests.ts'
import { PipelinedRequests } from './pipelined-requests.ts'
import type { RawLogRoutes } from '../raw-log/raw-log-routes.ts'
import type { Upstreams } from '../routing/upstreams.ts'
import { RequestHead, headerRules } from './request-head.ts'
import { type Target, forwardedPath, parseTarget, rawLogPath } from './target.ts'
import type { TrustedClients } from './trusted-clients.ts'
import { baseUrlAdvice } from './wrong-base-url.ts'
import { METHODS } from '../../lib/http/http.ts'
import { reportFault } from '../../lib/fault.ts'

/**
 * The shortest time (ms) for which a replaced gateway keeps an idle connection. A request that crosses the close of its
 * connection is lost, so an answer on each busy connection first tells the client to close it.
 */
const leastPatienceMs = 2000
/** Interval of the search for idle connections to pass on; connections of ended calls are passed on at once. */
const passEveryMs = 100
const usualMethods = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'

export interface GatewayServerOptions {
  readonly calls: CallHandler
  readonly upstreams: Upstreams
  readonly health: Health
  readonly rawLog: RawLogRoutes
  /** Answers scrapes of Prometheus; null if that is switched off. */
  readonly metrics: {
    answer(report: HealthReport, full: boolean, res: ServerResponse): Promise<void>
  } | null
  readonly trusted: TrustedClients
  /** Host names for which own routes answer, in addition to loopback names and addresses. */
  readonly allowedHosts: readonly string[]
  readonly sessionPlaces: SessionPlaces
}

/** The gateway's HTTP side: own routes, forwarded paths, and refusals of everything else. */
export class GatewayServer {
  readonly #options: GatewayServerOptions
  readonly #server: Server
  readonly #pipelined = new PipelinedRequests()
  readonly #connections: ClientConnections
  /** The rules for the headers of requests. */
  readonly #ruleOf: ReturnType<typeof headerRules>
  #draining = false
  #isLeft = false
  /**
   * True at the end of a handoff: requests on open connections follow one another without a gap in which the
   * connection could be passed on.
   */
  #isLate = false
  /** Resolves when no connection is left; `null` while the server listens. */
  #closed: Promise<unknown> | null = null

  /** Takes over a listener that has not answered any request yet. */
  constructor(listener: Server, options: GatewayServerOptions) {
    this.#options = options
    this.#server = listener
    this.#ruleOf = headerRules(options.sessionPlaces)
    this.#connections = new ClientConnections(listener, () => options.calls.running)
    const onRequest = (req: IncomingMessage, res: ServerResponse): void => {
      this.#connections.requested(req)
      this.#onRequest(req, res)
    }
    this.#server.on('request', onRequest)
    // An unknown expectation may be ignored (RFC 9110 §10.1.1). By default Node would answer 417.
    this.#server.on('checkExpectation', onRequest)
    this.#server.on('clientError', refuseMalformed)
    this.#server.on('connect', (_req: IncomingMessage, socket: Socket) => refuseTunnel(socket))
  }

  /**
   * Accepts no more connections, and answers 503 on open ones. Resolves when the calls in flight have
   * ended; idle connections are kept until then, so that a request on its way gets an answer.
   */
  async refuseNew(): Promise<void> {
    this.#draining = true
    this.stopListening().catch(reportFault)
    await this.#options.calls.refuseNew()
    this.#server.closeIdleConnections()
  }

  /** Takes over a connection that another process has accepted, and on which no request has begun. */
  take(connection: Socket): void {
    this.#server.emit('connection', connection)
  }

  /**
   * Accepts no more connections, because another process does, and finishes the calls of open ones. Each connection is
   * passed on when it has no request. If that is impossible, its next answer tells its client to close it, and an
   * idle one is closed after `patienceMs`. A request that stops arriving is then ended. Resolves when no connection is left,
   * and none can come because `apart` has resolved.
   */
  async handOff(
    clock: Clock,
    patienceMs: number,
    taker: ConnectionTaker,
    apart: Promise<void>,
  ): Promise<void> {
    this.#isLeft = true
    this.#connections.taker = taker
    const stallMs = Math.max(leastPatienceMs, patienceMs)
    this.#server.headersTimeout = Math.min(this.#server.headersTimeout, stallMs)
    const over = new AbortController()
    const every = (ms: number, act: () => void): void => {
      const again = (): void => {
        if (over.signal.aborted) return
        act()
        clock.after(ms, again, { background: true })
      }
      clock.after(ms, again, { background: true })
    }
    every(stallMs, () => {
      this.#isLate = true
      this.#options.calls.endStalled()
      // Waits until input that has arrived is read.
      setImmediate(() => this.#connections.closeIdle())
    })
    every(passEveryMs, () => this.#connections.pass())
    this.stopListening().catch(reportFault)
    this.#connections.pass()
    await apart
    await this.#connections.allClosed()
    over.abort()
  }

  /** Listens again after the other process did not take the socket. Rejects with the socket's error. */
  async resume(port: number, host: string): Promise<void> {
    if (this.#closed === null) return
    this.#closed = null
    await listen(port, host, this.#server)
  }

  /** Closes the connections that are still open. */
  close(): void {
    this.stopListening().catch(reportFault)
    this.#server.closeAllConnections()
  }

  /**
   * Stops listening, so that another process can accept connections on this port. `http.Server.close` would
   * also close idle connections; the method of the socket server does not.
   */
  stopListening(): Promise<unknown> {
    this.#closed ??= once(this.#server, 'close')
    SocketServer.prototype.close.call(this.#server)
    return this.#closed
  }

  #onRequest(req: IncomingMessage, res: ServerResponse): void {
    // The request came in the same read as an earlier one, and the refusal of that has ended the connection.
    if (!req.socket.writable) return
    if (res.socket === null) {
      this.#pipelined.wait(req, res, () => this.#onRequest(req, res))
      return
    }
    try {
      this.#route(req, res)
    } catch (error) {
      writeErrorAnswer(res, asFailure(error), null)
    }
  }

  #route(req: IncomingMessage, res: ServerResponse): void {
    if (this.#draining || (this.#isLeft && (this.#isLate || this.#connections.taker?.takes !== true)))
      res.shouldKeepAlive = false
    const head = new RequestHead(req.rawHeaders, req.httpVersion, this.#ruleOf)
    // Node's parser reads RTSP/1.0 as HTTP/1.0.
    if (req.httpVersion === '1.0' && !METHODS.includes(req.method ?? '')) {
      throw new Failure('invalid_request', 'The method is not one of HTTP.')
    }
    // An answer to TRACE would show credentials that proxies added (RFC 9110 §9.3.8).
    if (req.method === 'TRACE') {
      throw new Failure('method_not_allowed', 'TRACE is not forwarded.', { headers: ['Allow', usualMethods] })
    }
    if (req.url === '*' && req.method === 'OPTIONS') {
      res.writeHead(204, { Allow: usualMethods }).end()
      return
    }
    const target = parseTarget(req.url ?? '')
    // Java's HTTP client offers h2c in its first request, and continues without it (RFC 9110 §7.8).
    if (head.flaw === null && head.upgrade !== null && head.upgrade.toLowerCase() !== 'h2c') {
      const message = `This gateway speaks HTTP/1.1: ${head.upgrade} is not supported.`
      throw new Failure('upgrade_not_supported', message, { headers: ['Upgrade', 'HTTP/1.1'] })
    }
    const { upstreams } = this.#options
    const named = upstreams.byPath(target.path)
    const path = named?.path ?? forwardedPath(upstreams.default.endpoint.base, target.path)
    if (path !== null) {
      const { query } = target
      this.#call({ req, res, head, target: { path, query }, upstream: named?.upstream ?? null })
      return
    }
    this.#ownRoute(req, res, head, target).catch((error: unknown) => {
      writeErrorAnswer(res, asFailure(error), null)
    })
  }

  #call(arrived: Parameters<CallHandler['handle']>[0]): void {
    this.#options.calls.handle(arrived).then(this.#onOver, (error: unknown) => {
      reportFault(error)
      arrived.res.destroy()
    })
  }

  readonly #onOver = (): void => {
    if (this.#connections.taker !== null) this.#connections.pass()
  }

  async #ownRoute(
    req: IncomingMessage,
    res: ServerResponse,
    head: RequestHead,
    target: Target,
  ): Promise<void> {
    if (head.flaw !== null) throw new Failure('invalid_request', head.flaw)
    const isRawLog = target.path.startsWith(rawLogPath)
    const metrics = target.path === '/metrics' ? this.#options.metrics : null
    if (!isRawLog && metrics === null && target.path !== '/' && target.path !== '/health') {
      const advice = baseUrlAdvice(target.path, head.host)
      if (advice !== null) this.#options.health.wrongBaseUrlCalls++
      throw new Failure('not_found', advice ?? `There is nothing under ${target.path}; calls go to /v1/…`)
    }
    if (head.host !== null && !isAllowedHost(head.host, this.#options.allowedHosts)) {
      const name = hostName(head.host)
      const message = `This route is not served under the host name ${name}; --allow-host ${name} allows it.`
      throw new Failure('forbidden', message)
    }
    if (!isRawLog && req.method !== 'GET' && req.method !== 'HEAD') {
      throw new Failure('method_not_allowed', `${target.path} accepts only GET.`)
    }
    const isTrusted = await this.#options.trusted.include(head, req.socket, metrics !== null)
    if (req.socket.destroyed) return
    if (metrics !== null) {
      await metrics.answer(this.#options.health.report(this.#draining), isTrusted, res)
      return
    }
    if (!isRawLog) {
      this.#answerHealth(res, isTrusted)
      return
    }
    if (isCrossSite(head)) {
      throw new Failure('forbidden', "The raw log is not answered to other sites' pages.")
    }
    if (!isTrusted) throw new Failure('forbidden', rawLogRefusal(this.#options.trusted.tokenIsSet))
    if (this.#draining || this.#isLeft) {
      // A change here would be lost, because the next connection reaches the new gateway.
      throw new Failure('draining', 'This gateway is stopping.', { retryAfterS: drainRetryAfterS })
    }
    this.#options.rawLog.answer(target.path.slice(rawLogPath.length), target.query, req, res)
  }

  #answerHealth(res: ServerResponse, isTrusted: boolean): void {
    const report = this.#options.health.report(this.#draining)
    // The instance is also shown to clients that do not get the whole report.
    const headers = { 'x-tokenweir-instance': report.instance }
    sendJson(res, isTrusted ? report : publicReport(report), this.#draining ? 503 : 200, headers)
  }
}

/** The text of the refusal of a raw log request: how to get access. */
function rawLogRefusal(tokenIsSet: boolean): string {
  const how = tokenIsSet
    ? 'Others need the admin token, as x-tokenweir-admin-token.'
    : 'TOKENWEIR_ADMIN_TOKEN sets an admin token, with which it is answered to others too.'
  return `The raw log is answered to this machine's root and to the user who runs the gateway. ${how}`
}
