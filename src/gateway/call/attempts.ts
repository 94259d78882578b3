import type { RawHeaders, ResponseHead } from '../../call/response-head.ts'
import { Failure, type FailureCode } from '../../call/failure.ts'
import { asFailure } from '../http/own-answers.ts'
import { upstreamPath } from '../http/target.ts'
import { headersAt, queryWithoutCredentials } from '../routing/credentials.ts'
import type { Endpoint, ReplicaAttempt } from '../routing/replicas.ts'
import type { Upstream } from '../routing/upstream.ts'
import type { Fallback, Upstreams } from '../routing/upstreams.ts'
import type { TransportRequest } from '../upstream/transport.ts'
import type { InjectedAnswer } from '../usage-injection/injected-answer.ts'
import { type RelayEnd, relay } from './relay.ts'
import { readRetryHint } from '../limits/limit-headers.ts'
import { type RetriesSoFar, isFinalRefusal, noRetries, retryWaitMs } from './retry-rules.ts'
import type { RunningCall } from './running-call.ts'

/** Statuses of an upstream that has not worked on the call. The call may fall back after these. */
const fallbackStatuses: ReadonlySet<number> = new Set([429, 502, 503, 529])

/** Statuses after which a replica counts as failing. */
const brokenAnswers: ReadonlySet<number> = new Set([500, 502, 503, 504, 529])
const brokenOff: ReadonlySet<FailureCode> = new Set([
  'upstream_unreachable',
  'upstream_protocol_error',
  'upstream_timeout',
  'upstream_reset',
])

const noAddress = new Failure('upstream_unreachable', 'The upstream has no address.')

export interface AttemptsOptions {
  readonly upstreams: Upstreams
  /** Most retries of a call after a 429; 0 for none. */
  readonly retry429Max: number
  /** The gateway's `Via` header; empty without one. */
  readonly via: RawHeaders
}

/** Makes the attempts of one call. A request is sent again only if no upstream can have worked on it. */
export class Attempts {
  readonly #call: RunningCall
  readonly #options: AttemptsOptions
  /** Upstreams that the call has tried and left. */
  #been: readonly Upstream[] = []
  /** The upstream for the call if its own cannot take it; null without a fallback. */
  #fallback: Fallback | null
  /** Addresses of its upstream that refused a connection. */
  #tried: Set<string> | undefined
  #lastFailure: Failure | null = null
  #asksUsage = true
  #needsFreshConnection = false
  /** The replica of the attempt under way. */
  #replica: ReplicaAttempt | null = null
  /** Filters the answer if the gateway has asked for usage; null if not. */
  #injected: InjectedAnswer | null = null
  /** When the call got its slot for the newest attempt (monotonic ms). */
  #sentMs: number
  #retries: RetriesSoFar = noRetries
  /** How long to wait before the next attempt, in ms; null for no further attempt. */
  #pauseMs: number | null = null

  constructor(call: RunningCall, options: AttemptsOptions) {
    this.#call = call
    this.#options = options
    this.#sentMs = call.clock.now()
    this.#fallback = this.#findFallback()
  }

  /** True if another attempt will follow, so that the client does not get this answer. */
  withholds(head: ResponseHead): boolean {
    const { clock, request } = this.#call
    if (!request.isRepeatable) return false
    if (head.status === 429) {
      const hint = readRetryHint(head.headers, clock.wallTime())
      this.#pauseMs = retryWaitMs(hint, this.#retries, this.#options.retry429Max, Math.random())
    }
    return this.#pauseMs !== null || (this.#fallback !== null && fallbackStatuses.has(head.status))
  }

  /** True if a retry cannot help, because a quota is used up. The client gets this answer. */
  isFinal({ status, headers }: ResponseHead, body: Buffer): boolean {
    if (status !== 429 || this.#pauseMs === null || !isFinalRefusal(headers, body)) return false
    this.#pauseMs = null
    return this.#fallback === null
  }

  /** Makes one attempt. Never rejects. */
  send(): Promise<RelayEnd> {
    const call = this.#call
    const { replicas } = call.upstream
    const isSkipped = this.#fallback !== null && replicas.allUnreachable
    const replica = isSkipped ? null : replicas.choose(call.promptCache, this.#tried)
    this.#replica = replica
    if (replica === null) return Promise.resolve(this.#lastFailure ?? noAddress)
    try {
      return this.#sendTo(replica.endpoint)
    } catch (error) {
      return Promise.resolve(asFailure(error))
    }
  }

  #sendTo(endpoint: Endpoint): Promise<RelayEnd> {
    const call = this.#call
    const request = this.#requestAt(endpoint)
    const { facts } = call.request
    const injection =
      this.#asksUsage && facts !== null
        ? call.upstream.usageInjection.ask(call.path.name, facts, request, call.client)
        : null
    this.#injected = injection?.answer ?? null
    call.attemptAt(endpoint)
    return relay(call, injection?.request ?? request, endpoint.transport, this.#injected ?? call.client, this)
  }

  /**
   * Handles the end of an attempt. True if the client has its answer. False, or a promise of false, if
   * another attempt will follow; then everything is ready for it. Throws or rejects with the failure that
   * ends the call.
   */
  after(end: RelayEnd): boolean | Promise<boolean> {
    using replica = this.#replica
    if (replica === null) {
      if (this.#fallback !== null) return this.#fallBack(this.#fallback)
      throw this.#named(end instanceof Failure ? end : noAddress)
    }
    if (end instanceof Failure) return this.#afterFailure(replica, end)
    noteAnswer(replica, this.#call, null)
    if (end === 'withheld') {
      if (this.#pauseMs !== null) return this.#pause(this.#pauseMs)
      if (this.#fallback !== null) return this.#fallBack(this.#fallback)
    }
    const { upstream, path, client } = this.#call
    if (this.#injected?.isRefused === true) {
      // The upstream refuses the request for usage, so the call is sent as its client made it.
      upstream.usageInjection.refused(path.name)
      this.#asksUsage = false
      return this.#call.stake === null ? false : this.#comeBack()
    }
    const isRefused = client.status === 400 || client.status === 422
    if (!this.#asksUsage && isRefused) upstream.usageInjection.refusedAnyway(path.name)
    return true
  }

  /** Lets the upstream learn from the ended call how it reacts if it is asked for usage. */
  teachUpstream(): void {
    const { meter, upstream, path, request, record } = this.#call
    if (meter !== null) upstream.usageInjection.learn(path.name, request.facts, this.#injected, meter, record)
  }

  /** Handles a failed attempt. Returns false if another attempt will follow; throws the failure if it ends the call. */
  #afterFailure(replica: ReplicaAttempt, failure: Failure): boolean {
    const { arrived, client, record, timeline } = this.#call
    // The attempt got no connection, so the upstream has seen nothing of the call.
    if (failure.code === 'upstream_unreachable' && timeline.startedAt === null) {
      replica.failed(failure.message, true)
      this.#tried ??= new Set()
      this.#tried.add(replica.url)
      this.#lastFailure = failure
      if (client.over === null) return false
    } else {
      noteAnswer(replica, this.#call, failure)
      const isSafe = (record.method === 'GET' || record.method === 'HEAD') && !arrived.head.hasBody
      const mayRepeat = isSafe && !this.#needsFreshConnection && client.gone === null
      this.#needsFreshConnection = mayRepeat && metClosingConnection(failure)
      if (this.#needsFreshConnection) return false
    }
    throw this.#named(failure)
  }

  /** The failure with its upstream's name, if there are several upstreams. */
  #named(failure: Failure): Failure {
    const { upstreams } = this.#options
    if (!upstreams.areSeveral || failure.kind.side !== 'upstream') return failure
    const { name } = this.#call.upstream
    const { code, shouldRetry } = failure
    return new Failure(code, failure.message.replace('he upstream', `he upstream ${name}`), {
      cause: failure,
      headers: ['x-tokenweir-upstream', name],
      ...(shouldRetry === null ? {} : { shouldRetry }),
    })
  }

  /** Waits without a slot for the time that the upstream asked for. */
  async #pause(pauseMs: number): Promise<boolean> {
    const { retries, waitedMs } = this.#retries
    await this.#comeBack(pauseMs)
    this.#call.upstream.admission.tally.retried()
    this.#arrived({ retries: retries + 1, waitedMs: waitedMs + pauseMs })
    return false
  }

  /**
   * Waits for a slot for the next attempt, which counts for limits a minute. The call queues behind calls
   * that have waited longer than it was at the upstream.
   */
  async #comeBack(afterMs = 0): Promise<boolean> {
    const call = this.#call
    const atUpstreamMs = call.clock.now() - this.#sentMs
    call.leaveUpstream()
    if (afterMs > 0) await call.clock.delay(afterMs, call.client.signal)
    await call.comeBack(atUpstreamMs)
    this.#sentMs = call.clock.now()
    return false
  }

  async #fallBack(fallback: Fallback): Promise<boolean> {
    const call = this.#call
    this.#been = [...this.#been, call.upstream]
    call.leaveUpstream()
    await call.moveTo(fallback)
    this.#arrived(noRetries)
    this.#asksUsage = true
    this.#fallback = this.#findFallback()
    return false
  }

  /** Notes that the call is ready for its next attempt. */
  #arrived(retries: RetriesSoFar): void {
    this.#retries = retries
    this.#pauseMs = null
    this.#tried = undefined
    this.#lastFailure = null
    this.#sentMs = this.#call.clock.now()
  }

  #findFallback(): Fallback | null {
    const call = this.#call
    const { upstream, request } = call
    const { facts } = request
    if (upstream.setting.fallback === undefined || !request.isRepeatable) return null
    const next = this.#options.upstreams.fallback(upstream, facts?.model ?? null)
    if (next === null || next.upstream === upstream || this.#been.includes(next.upstream)) return null
    // A compressed body cannot get another model's name.
    if (next.model !== null && facts?.modelPlace === null) return null
    return call.mayUse(next.upstream) ? next : null
  }

  /** The request to an endpoint. Each attempt makes its own, because the next one may go to another endpoint. */
  #requestAt(endpoint: Endpoint): TransportRequest {
    const { base, stripsCredentials } = endpoint
    const call = this.#call
    const { record, request } = call
    const { head, target } = call.arrived
    const query = stripsCredentials ? queryWithoutCredentials(target.query) : target.query
    const isHeld = request.isRepeatable
    return {
      method: record.method,
      path: upstreamPath(base, stripsCredentials ? { path: target.path, query } : target),
      headers: headersAt(head, endpoint, call.usesGatewayKey).concat(this.#options.via),
      body: isHeld ? (head.hasBody ? request.body.chunks : null) : request.stream(call.client),
      bodyBytes: isHeld ? request.body.bytes : head.contentLength,
      // A client that retries may have met a dead connection.
      freshConnection: this.#needsFreshConnection || (record.clientRetry ?? 0) > 0,
    }
  }
}

/** Updates a replica's state after an attempt, unless the client left before an answer. */
function noteAnswer(replica: ReplicaAttempt, call: RunningCall, error: unknown): void {
  const status = call.meter?.status ?? 0
  const isBroken = error instanceof Failure && brokenOff.has(error.code) && !metClosingConnection(error)
  if (isBroken) replica.failed(error.message, false)
  else if (brokenAnswers.has(status)) replica.failed(`The upstream answers ${status}.`, false)
  else if (status > 0) replica.answered()
}

/**
 * True if the upstream was just closing this reused connection. A safe request may then be sent again (RFC
 * 9110 §9.2.2).
 */
function metClosingConnection(error: unknown): boolean {
  return error instanceof Failure && error.code === 'upstream_unreachable' && error.shouldRetry === true
}
