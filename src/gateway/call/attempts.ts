import type { RawHeaders, ResponseHead } from '../../call/response-head.ts'
import { Failure, type FailureCode } from '../../call/failure.ts'
import { upstreamPath } from '../http/target.ts'
import { headersWithoutCredentials, queryWithoutCredentials } from '../routing/credentials.ts'
import type { Endpoint, TakenReplica } from '../routing/replicas.ts'
import type { Upstream } from '../routing/upstream.ts'
import type { Fallback, Upstreams } from '../routing/upstreams.ts'
import type { TransportRequest } from '../upstream/transport.ts'
import type { InjectedAnswer } from '../usage-injection/injected-answer.ts'
import { isFinalRefusal } from './final-refusal.ts'
import { relay } from './relay.ts'
import { readRetryHint } from './retry-after.ts'
import { type RetriesSoFar, noRetries, retryWaitMs } from './retry-wait.ts'
import type { RunningCall } from './running-call.ts'

/** Statuses of an upstream that did not work on the call, so that another one may. */
const fallbackStatuses: ReadonlySet<number> = new Set([429, 502, 503, 529])

/** Answers and failures of a replica that is worth less than others. */
const brokenAnswers: ReadonlySet<number> = new Set([500, 502, 503, 504, 529])
const brokenOff: ReadonlySet<FailureCode> = new Set([
  'upstream_unreachable',
  'upstream_protocol_error',
  'upstream_timeout',
  'upstream_reset',
])

export interface AttemptsOptions {
  readonly upstreams: Upstreams
  /** How often a call may be sent again after a 429; 0 for never. */
  readonly retry429Max: number
  /** The gateway's own `Via`, or nothing. */
  readonly via: RawHeaders
}

/** An attempt that is under way. */
interface Attempt {
  readonly replica: TakenReplica
  readonly request: TransportRequest
  /** Takes its answer, if the gateway itself asked for usage. */
  readonly injected: InjectedAnswer | null
}

/** Makes the attempts of one call: nothing is sent again of which something may have been done. */
export class Attempts {
  readonly #call: RunningCall
  readonly #options: AttemptsOptions
  /** Upstreams where it has been. */
  #been: readonly Upstream[] = []
  /** Where it goes on if its upstream cannot take it. */
  #fallback: Fallback | null
  /** Addresses of its upstream that nobody could connect to. */
  #tried: Set<string> | undefined
  #lastFailure: Failure | null = null
  #asksUsage = true
  #needsFreshConnection = false
  /** When it came to its upstream, or came back there. */
  #sentMs: number
  #retries: RetriesSoFar = noRetries
  /** What its upstream asks it to wait, or it waits by itself. */
  #pauseMs: number | null = null

  constructor(call: RunningCall, options: AttemptsOptions) {
    this.#call = call
    this.#options = options
    this.#sentMs = call.clock.now()
    this.#fallback = this.#findFallback()
  }

  /** Keeps an answer from the client that another attempt is to follow. */
  withholds(head: ResponseHead): boolean {
    const { clock, request } = this.#call
    if (!request.isRepeatable) return false
    if (head.status === 429) {
      const hint = readRetryHint(head.headers, clock.wallTime())
      this.#pauseMs = retryWaitMs(hint, this.#retries, this.#options.retry429Max, Math.random())
    }
    return this.#pauseMs !== null || (this.#fallback !== null && fallbackStatuses.has(head.status))
  }

  /** A quota that is used up is not there again after a wait. */
  isFinal({ status, headers }: ResponseHead, body: Buffer): boolean {
    if (status !== 429 || this.#pauseMs === null || !isFinalRefusal(headers, body)) return false
    this.#pauseMs = null
    return this.#fallback === null
  }

  /**
   * Makes one attempt. Resolves with true once the client has an answer; with false if another attempt is to follow, for which
   * all is ready. Rejects with the failure that ended the call, and with what {@link Admission.acquire} rejects with.
   */
  next(): Promise<boolean> {
    const call = this.#call
    const { replicas, usageInjection } = call.upstream
    if (this.#fallback !== null && replicas.allRest) return this.#fallBack(this.#fallback)
    const replica = replicas.take(call.promptCache, this.#tried)
    if (replica === null) {
      if (this.#fallback !== null) return this.#fallBack(this.#fallback)
      return Promise.reject(
        this.#lastFailure ?? new Failure('upstream_unreachable', 'The upstream has no address.'),
      )
    }
    const { endpoint } = replica
    const request = this.#requestAt(endpoint)
    const { facts } = call.request
    const asked =
      this.#asksUsage && facts !== null
        ? usageInjection.ask(call.path.name, facts, request, call.client)
        : null
    const injected = asked?.answer ?? null
    call.attemptAt(endpoint, injected)
    const attempt = { replica, request, injected }
    const sent = asked?.request ?? request
    return relay(call, sent, endpoint.transport, injected ?? call.client, this).then(
      (isWithheld) => this.#ended(attempt, isWithheld),
      (error: unknown) => this.#failed(attempt, error),
    )
  }

  #ended({ replica, injected }: Attempt, isWithheld: boolean): boolean | Promise<boolean> {
    const { upstream, path, client } = this.#call
    noteAnswer(replica, this.#call, null)
    replica[Symbol.dispose]()
    if (isWithheld) {
      if (this.#pauseMs !== null) return this.#pause(this.#pauseMs)
      if (this.#fallback !== null) return this.#fallBack(this.#fallback)
    }
    if (injected?.isRefused === true) {
      // The upstream refuses to be asked for usage: the call goes as its client made it.
      upstream.usageInjection.refused(path.name)
      this.#asksUsage = false
      return false
    }
    const isRefused = client.status === 400 || client.status === 422
    if (!this.#asksUsage && isRefused) upstream.usageInjection.refusedAnyway(path.name)
    return true
  }

  /** Throws the error where it is the call's end. */
  #failed({ replica, request }: Attempt, error: unknown): boolean {
    const { client, timeline } = this.#call
    replica[Symbol.dispose]()
    const isUnreachable = error instanceof Failure && error.code === 'upstream_unreachable'
    // The attempt found no connection: its upstream has seen nothing of the call.
    if (isUnreachable && timeline.startedAt === null) {
      replica.failed(error.message, true)
      this.#tried ??= new Set()
      this.#tried.add(replica.url)
      this.#lastFailure = error
      if (client.over === null) return false
    } else {
      noteAnswer(replica, this.#call, error)
      const isSafe = (request.method === 'GET' || request.method === 'HEAD') && request.body === null
      const mayRepeat = isSafe && !this.#needsFreshConnection && client.gone === null
      this.#needsFreshConnection = mayRepeat && metClosingConnection(error)
      if (this.#needsFreshConnection) return false
    }
    throw error
  }

  /** Waits without a slot, as the upstream asked for. Then it comes behind the calls that have waited longer than it was there. */
  async #pause(pauseMs: number): Promise<boolean> {
    const call = this.#call
    const atUpstreamMs = call.clock.now() - this.#sentMs
    call.leaveUpstream()
    await call.clock.delay(pauseMs, call.client.signal)
    await call.comeBack(atUpstreamMs)
    call.upstream.retries429++
    const { retries, waitedMs } = this.#retries
    this.#arrived({ retries: retries + 1, waitedMs: waitedMs + pauseMs })
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

  /** It has what it needs for the next attempt. */
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
    // In a coded body no name can be put in the place of another.
    if (next.model !== null && facts?.modelPlace === null) return null
    return call.mayUse(next.upstream) ? next : null
  }

  /** What is in it belongs to this attempt alone: the next one may go elsewhere. */
  #requestAt({ base, keyHeader, stripsCredentials }: Endpoint): TransportRequest {
    const call = this.#call
    const { record, request } = call
    const { head, target } = call.arrived
    const { via } = this.#options
    const headers = stripsCredentials ? headersWithoutCredentials(head.endToEnd) : head.endToEnd
    const query = stripsCredentials ? queryWithoutCredentials(target.query) : target.query
    const isHeld = request.isRepeatable
    return {
      method: record.method,
      path: upstreamPath(base, stripsCredentials ? { path: target.path, query } : target),
      headers: call.usesGatewayKey ? headers.concat(keyHeader, via) : headers.concat(via),
      body: isHeld ? (head.hasBody ? request.body.chunks : null) : request.stream(),
      bodyBytes: isHeld ? request.body.bytes : head.contentLength,
      // The client's own retry may come of a connection that was dead.
      freshConnection: this.#needsFreshConnection || (record.clientRetry ?? 0) > 0,
    }
  }
}

/** Tells a replica what its answer, or the lack of one, says of it. Nothing, where its client did not wait for one. */
function noteAnswer(replica: TakenReplica, call: RunningCall, error: unknown): void {
  const status = call.meter?.status ?? 0
  const isBroken = error instanceof Failure && brokenOff.has(error.code) && !metClosingConnection(error)
  if (isBroken) replica.failed(error.message, false)
  else if (brokenAnswers.has(status)) replica.failed(`The upstream answers ${status}.`, false)
  else if (status > 0) replica.answered()
}

/** The upstream was just closing this kept connection: a safe request may be sent again (RFC 9110 §9.2.2). */
function metClosingConnection(error: unknown): boolean {
  return error instanceof Failure && error.code === 'upstream_unreachable' && error.shouldRetry === true
}
