import type { IncomingMessage, ServerResponse } from 'node:http'
import { type CallIds, formatCallId } from '../../call/call-id.ts'
import { type CallDraft, blankRecord } from '../../call/call-record.ts'
import type { CallObserver } from '../../call/call-observer.ts'
import type { Clock } from '../../call/clock.ts'
import type { Failure } from '../../call/failure.ts'
import type { PayloadTaps } from '../../call/payload-log.ts'
import type { Placed } from '../../lib/swap-list.ts'
import type { Destination } from './attempt.ts'
import type { CallUpstream, Routing } from './call-upstream.ts'
import { type ClientBudget, type ClientLimits, noBudgets } from '../admission/client-limits.ts'
import { CallTimeline } from '../recorder/call-timeline.ts'
import type { SessionPlaces } from '../caller/caller-headers.ts'
import { ClientAnswer } from '../http/client-answer.ts'
import { showDecoded } from '../http/decoded-copy.ts'
import { sessionInMetadata, tagsOfBody } from './caller-tags.ts'
import type { ClientLabels } from './client-labels.ts'
import { CallMeter } from '../meter/call-meter.ts'
import { type GuardedTap, guardTap } from '../raw-log/tap-guard.ts'
import { completeRecord } from '../recorder/recorder.ts'
import { storedText } from '../recorder/stored-text.ts'
import type { RelayedCall } from './relay.ts'
import type { RetriedCall } from './retries-429.ts'
import { type HeldBody, endReading, mayBeObject } from '../http/request-body.ts'
import type { RequestHead } from '../http/request-head.ts'
import { type RequestFacts, RequestPeek, factsOfCopy } from '../http/request-peek.ts'
import type { Target } from '../http/target.ts'
import { type PathMeaning, pathMeaning } from '../http/path-meaning.ts'
import type { InjectedAnswer } from '../usage-injection/injected-answer.ts'

/** A request on a forwarded path, as the server found it. */
export interface ArrivedCall {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  readonly head: RequestHead
  /** As the upstream is to see it. */
  readonly target: Target
  /** The upstream that its path has named. */
  readonly upstream?: CallUpstream | undefined
}

/** What a running call needs of its gateway. */
export interface RunningCallOptions {
  readonly clock: Clock
  /** The mark of this very process in `Via` and in every row. */
  readonly instance: string
  readonly ids: CallIds
  readonly labels: ClientLabels
  /** What people said of clients and keys. */
  readonly clients: Pick<ClientLimits, 'budgetsOf' | 'budgetAt'>
  readonly sessionPlaces: SessionPlaces
  /** The default one. */
  readonly upstream: CallUpstream
  /** Whether there are others, so that answers say whose they are. */
  readonly routing: Routing
  readonly clientStallTimeoutMs: number
  readonly taps: PayloadTaps
  /** Learns of a fault of our own that no call shall suffer from. */
  readonly onFault: (error: unknown) => void
}

const none: readonly Disposable[] = []
/** Longest name of a content coding that is repeated. */
const longestCoding = 40

/** All that is known of one call while it runs. */
export class RunningCall implements RelayedCall, RetriedCall, Placed {
  readonly arrived: ArrivedCall
  /** Its row, filled in as it goes. */
  readonly record: CallDraft
  readonly clock: Clock
  readonly timeline: CallTimeline
  readonly client: ClientAnswer
  /** Shown what passes; null where nobody wants to know. */
  readonly tap: GuardedTap | null
  readonly #options: RunningCallOptions
  readonly #peek = new RequestPeek()
  /** Measures the newest attempt. */
  #meter: CallMeter | null = null
  /** What its body says; `null` until that has been read. */
  facts: RequestFacts | null = null
  /** What it asks of its upstream. */
  path: PathMeaning
  /** Its body is read whole before it queues; any other is passed on as it comes. */
  isReadWhole: boolean
  /** In the list of running calls. */
  place = -1
  upstream: CallUpstream
  /** Where its next attempt goes. */
  destination: Destination
  /** The client brings no credential, and may use the gateway's. */
  borrowsKey = false
  /** The answer of an attempt that the gateway itself asked for usage. */
  injected: InjectedAnswer | null = null
  /** Holds what the call may use of the token budget until it is over; `null` where nothing is reserved. */
  reservation: Disposable | null = null
  /** The same of its client's own, and its upstream's. */
  #ownReservations: readonly Disposable[] = none
  backsOffSince: number | null = null
  /** What ended the call before its answer was complete. */
  failure: Failure | null = null

  constructor(arrived: ArrivedCall, options: RunningCallOptions) {
    const { res } = arrived
    this.#options = options
    this.arrived = arrived
    this.upstream = arrived.upstream ?? options.upstream
    this.destination = this.upstream.destination
    this.path = pathMeaning(this.destination.base, arrived.target, arrived.req.method ?? 'GET')
    this.isReadWhole = this.path.inference || (arrived.head.contentEncoding !== null && this.mayNameModel)
    this.clock = options.clock
    this.timeline = new CallTimeline(options.clock.now())
    this.record = identify(arrived, this.path, options)
    this.tap = options.taps.isOpen ? this.#newTap() : null
    this.client = new ClientAnswer(res, options.clientStallTimeoutMs, this.tap)
  }

  /** The meter of the answering attempt: what was measured of a lost one is nothing that the client got. */
  get meter(): CallMeter | null {
    return this.timeline.dispatchedAt === null ? null : this.#meter
  }

  observe(atMs: number): CallObserver {
    this.#meter = new CallMeter(this.record, this.record.stream, atMs, this.#options.onFault)
    return this.#meter
  }

  /** Its body may name a model, and so where it goes. */
  get mayNameModel(): boolean {
    const { req, head } = this.arrived
    return (
      this.#options.routing.routes !== null &&
      req.method === 'POST' &&
      head.hasBody &&
      mayBeObject(head.contentType)
    )
  }

  /** Reads a decoded copy of its body, which goes on as it came. */
  async readCopy({ chunks }: HeldBody): Promise<void> {
    const copy = new RequestPeek()
    const coding = this.arrived.head.contentEncoding ?? ''
    const isRead = await showDecoded(chunks, coding, (piece) => copy.push(piece))
    this.facts = factsOfCopy(isRead ? copy.result() : null, this.#peek.result())
  }

  get acceptsTrailers(): boolean {
    return this.arrived.head.acceptsTrailers
  }

  /** It works with a model; all else passes at once, and is not counted. */
  get needsSlot(): boolean {
    return this.path.usesModel
  }

  /** There is a key, and the request brings none that counts. */
  get wantsKey(): boolean {
    const { keyHeader, withhold } = this.destination
    return keyHeader.length > 0 && (withhold !== null || this.arrived.head.credential === null)
  }

  /** Tokens that it may use as far as it says; 0 where it does not. */
  get tokensAsked(): number {
    if (this.facts === null) return 0
    return this.facts.isUnreadable && this.path.inference ? Infinity : this.facts.tokensAsked
  }

  /** Learns from a piece of the request's body. */
  peek(chunk: Uint8Array): void {
    this.record.requestBytes += chunk.length
    if (this.tap !== null) this.tap.requestData(chunk)
    try {
      this.#peek.push(chunk)
    } catch (error) {
      this.#options.onFault(error)
    }
  }

  /** The body is here, or needs no reading before the queue. */
  received(bytes: number): void {
    const facts = (this.facts ??= this.#peek.result())
    const model = facts.model ?? (this.path.inference ? this.path.model : null)
    this.record.requestBytes = bytes
    this.record.model = model === null ? null : this.#options.labels.text(model)
    this.record.stream = facts.stream
    this.#noteCaller(facts)
    this.timeline.bodyReadAt = this.clock.now()
    if (this.tap !== null && (this.isReadWhole || !this.arrived.head.hasBody)) this.requestIsOver()
    if (this.client.gone !== null) throw this.client.gone
  }

  /** A piece of a body that is passed on as it comes. */
  passedOn(piece: Uint8Array): void {
    this.record.requestBytes += piece.length
    if (this.tap !== null) this.tap.requestData(piece)
  }

  /** Nothing more of the request will come. */
  requestIsOver(): void {
    if (this.tap !== null) this.tap.requestEnd(this.record.model, this.record.stream)
  }

  /** Ends it, wherever it is. False if it is over already. */
  cancel(failure: Failure): boolean {
    if (!this.client.cancel(failure)) return false
    this.failure ??= failure
    if (this.timeline.bodyReadAt === null) endReading(this.arrived.req, failure)
    return true
  }

  /** Its client's budget and its upstream's, as far as they have their own. */
  get ownBudgets(): readonly ClientBudget[] {
    return this.#options.clients.budgetsOf(this.record, this.upstream.name)
  }

  /** Holds what it may use of these from now on, in place of what it held. Throws as {@link Budget.check}. */
  reserveOf(budgets: readonly ClientBudget[]): void {
    if (budgets === noBudgets && this.#ownReservations === none) return
    for (const each of this.#ownReservations) each[Symbol.dispose]()
    const held: Disposable[] = []
    // Before they are asked: if the second one refuses, what the first one gave is still to be given back.
    this.#ownReservations = held
    for (const budget of budgets) {
      const reservation = budget.reserve(this.tokensAsked)
      if (reservation !== null) held.push(reservation)
    }
  }

  /** Whether an upstream's own budget has enough left for it, as far as that is known. */
  mayUse(upstream: CallUpstream): boolean {
    const own = this.#options.clients.budgetAt(upstream.name)
    try {
      own?.budget.check(this.clock.wallTime(), this.tokensAsked)
      return true
    } catch {
      return false
    }
  }

  /** Rejects if its upstream's own budget is too small for it; waits until it is known what was used before. */
  checkUpstreamBudget(): Promise<void> | null {
    return this.#options.clients.budgetAt(this.upstream.name)?.check(this.tokensAsked) ?? null
  }

  /** Its next attempt goes to this upstream. */
  goTo(upstream: CallUpstream): void {
    this.upstream = upstream
    this.destination = upstream.destination
    const { req, target } = this.arrived
    this.path = pathMeaning(this.destination.base, target, req.method ?? 'GET')
    this.record.callType = this.path.callType
  }

  /** The upstream that it goes to has another name for its model. */
  rename(model: string, body: HeldBody): void {
    const place = this.facts?.modelPlace ?? null
    if (place === null) return
    const bytes = Buffer.concat(body.chunks)
    const renamed = [
      bytes.subarray(0, place.start),
      Buffer.from(JSON.stringify(model)),
      bytes.subarray(place.end),
    ]
    body.replace([Buffer.concat(renamed)])
    const peek = new RequestPeek()
    for (const chunk of body.chunks) peek.push(chunk)
    this.facts = peek.result()
  }

  /** What its prompt shares with others: their upstream may still know the beginning of it. */
  get promptCache(): string | null {
    return this.record.session ?? this.facts?.promptCacheKey ?? null
  }

  addedHeaders(): readonly string[] {
    const { bodyReadAt, admittedAt, dispatchedAt, answeredAt } = this.timeline
    const queueMs = (admittedAt ?? 0) - (bodyReadAt ?? 0)
    const upstreamMs = (answeredAt ?? 0) - (dispatchedAt ?? 0)
    return [
      'x-tokenweir-call-id',
      formatCallId(this.record.id),
      'server-timing',
      `queue;dur=${queueMs.toFixed(1)}, upstream;dur=${upstreamMs.toFixed(1)}`,
      ...(this.#options.routing.routes === null
        ? []
        : ['x-tokenweir-upstream', this.upstream.name ?? 'default']),
    ]
  }

  /** Where it goes, for its row. */
  noteUpstream(): void {
    const { record, upstream, destination } = this
    record.upstream = destination.base.host
    if (this.#options.routing.routes !== null) record.upstreamName = upstream.name ?? 'default'
  }

  /** It is over, and its answer measured: its row is complete. */
  complete(): void {
    const { meter, record, timeline, failure, client } = this
    this.noteUpstream()
    meter?.complete(record, this.tokensAsked)
    const { ending = 'none', isImplausible = false } = meter ?? {}
    const end = { status: client.status, failure, gone: client.gone, ending, isImplausible }
    completeRecord(record, timeline, end, this.#options.labels.text)
    if (this.facts?.isUnreadable === true) record.errorMessage ??= unreadableBody(this.arrived.head)
  }

  /** What the body says of who calls, and the head did not. */
  #noteCaller(facts: RequestFacts): void {
    const { promptCacheKey, user, safetyIdentifier, metadata } = facts
    const hasTags = user !== null || safetyIdentifier !== null || metadata !== undefined
    if (!hasTags && promptCacheKey === null) return
    const { record } = this
    const { labels, sessionPlaces } = this.#options
    if (hasTags) record.tags = labels.tags(this.arrived.head.tags, tagsOfBody(facts))
    if (record.session !== null || !sessionPlaces.inBody) return
    const key = labels.session(promptCacheKey)
    record.session = key ?? labels.session(sessionInMetadata(metadata))
    if (record.session !== null) record.sessionSource = key === null ? 'metadata.user_id' : 'prompt_cache_key'
  }

  #newTap(): GuardedTap | null {
    const { record: call, clock, timeline } = this
    const { req, target } = this.arrived
    const { taps, onFault } = this.#options
    try {
      const path = target.path + target.query
      const tap = taps.begin({ call, path, headers: req.rawHeaders, receivedAtMs: timeline.receivedAt })
      return tap === null ? null : guardTap(tap, clock, onFault)
    } catch (error) {
      onFault(error)
      return null
    }
  }
}

/** Why nobody knows what its body asks for. */
export function unreadableBody({ contentEncoding }: RequestHead): string {
  const coding = storedText(contentEncoding ?? '', longestCoding)
  return `The request body cannot be decoded (Content-Encoding: ${coding}). The gateway reads gzip, deflate, br and zstd.`
}

/** The record of a call, as far as its head tells. */
function identify(
  { req, head, target }: ArrivedCall,
  path: PathMeaning,
  { ids, labels, instance }: RunningCallOptions,
): CallDraft {
  const { userAgent, credential, traceParent } = head
  const record = blankRecord()
  record.id = ids.next()
  record.callType = path.callType
  record.endpoint = labels.header(target.path) ?? '/'
  record.method = req.method ?? 'GET'
  record.instance = instance
  record.clientRetry = head.clientRetry
  record.keyFingerprint = credential === null ? null : labels.fingerprint(credential)
  record.client = labels.client(head, record.keyFingerprint)
  record.userAgent = labels.header(userAgent)
  record.session = labels.session(head.session)
  record.sessionSource = record.session === null ? null : head.sessionSource
  record.tags = labels.tags(head.tags, [])
  record.traceId = traceParent?.traceId ?? null
  record.parentSpanId = traceParent?.spanId ?? null
  return record
}
