import type { IncomingMessage, ServerResponse } from 'node:http'
import { estimatedTokens, reportedTokens } from '../../call/budget-tokens.ts'
import { type CallIds, formatCallId } from '../../call/call-id.ts'
import { type CallDraft, blankRecord } from '../../call/call-record.ts'
import type { Clock } from '../../call/clock.ts'
import type { Failure } from '../../call/failure.ts'
import type { PayloadCopy, PayloadPort } from '../../call/payload-port.ts'
import type { ResponseHead } from '../../call/response-head.ts'
import type { Placed } from '../../lib/swap-list.ts'
import type { Permit, QueueOrder } from '../admission/admission.ts'
import type { TokenWindow } from '../admission/token-window.ts'
import type { TokenWindows } from '../admission/token-windows.ts'
import type { SessionPlaces } from '../http/caller-headers.ts'
import { ClientResponse } from '../http/client-response.ts'
import { exposedHeaders } from '../http/own-answers.ts'
import { type PathMeaning, pathMeaning } from '../http/path-meaning.ts'
import type { RequestHead } from '../http/request-head.ts'
import type { Target } from '../http/target.ts'
import type { TrustedClients } from '../http/trusted-clients.ts'
import type { LimitStake } from '../limits/owned-limit.ts'
import type { ProviderLimits } from '../limits/provider-limits.ts'
import type { BackgroundResponses } from '../meter/background-responses.ts'
import { CallMeter } from '../meter/call-meter.ts'
import { CallTimeline, completeRecord } from '../recorder/recorder.ts'
import { maskOwnCredentials } from '../routing/credentials.ts'
import type { Endpoint } from '../routing/replicas.ts'
import type { Upstream } from '../routing/upstream.ts'
import type { Fallback, Upstreams } from '../routing/upstreams.ts'
import { CallRequest, type CallRequestOptions, unreadableBody, unreadableModel } from './call-request.ts'
import type { ClientLabels } from './client-labels.ts'

/** A request on a forwarded path, as the server found it. */
export interface ArrivedCall {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  readonly head: RequestHead
  /** The target for the upstream. */
  readonly target: Target
  /** The upstream that the path names; null if it names none. */
  readonly upstream: Upstream | null
}

/** The parts of a gateway that a running call uses. */
export interface RunningCallOptions extends CallRequestOptions {
  readonly clock: Clock
  /** The instance: this process's name in `Via` and in every row. */
  readonly instance: string
  readonly ids: CallIds
  readonly labels: ClientLabels
  readonly tokens: TokenWindows
  readonly providerLimits: ProviderLimits
  readonly sessionPlaces: SessionPlaces
  readonly upstreams: Upstreams
  /** Decides which clients may use the gateway's keys. */
  readonly trusted: TrustedClients
  readonly clientStallTimeoutMs: number
  readonly rawLog: PayloadPort
  readonly background: BackgroundResponses
}

/** The state of one call while it runs. Only this class changes it. */
export class RunningCall implements Placed {
  readonly arrived: ArrivedCall
  /** The call's record, which is filled in step by step. */
  readonly record: CallDraft
  readonly clock: Clock
  readonly timeline: CallTimeline
  readonly client: ClientResponse
  readonly request: CallRequest
  /** The copy of the payloads; null if they are neither logged nor watched. */
  readonly payloads: PayloadCopy | null
  /** The index in the list of running calls. */
  index = -1
  readonly #options: RunningCallOptions
  #path: PathMeaning
  #upstream: Upstream
  #endpoint: Endpoint
  #usesGatewayKey = false
  /** The model's name at the fallback where it differs; null if the call keeps its name. */
  #modelAtFallback: string | null = null
  /** Measures the newest attempt. */
  #meter: CallMeter | null = null
  #permit: Permit | null = null
  #stake: LimitStake | null = null
  /** The reserved tokens of the budgets; null before, and without budgets. */
  #reservation: Disposable | null = null
  #waitsSince: number | null = null
  #failure: Failure | null = null

  constructor(arrived: ArrivedCall, options: RunningCallOptions) {
    const { req, res, head, target } = arrived
    const { labels, rawLog, onFault } = options
    this.#options = options
    this.arrived = arrived
    this.#upstream = arrived.upstream ?? options.upstreams.default
    this.#endpoint = this.#upstream.endpoint
    this.#path = pathMeaning(this.#endpoint.base, target, req.method ?? 'GET')
    this.clock = options.clock
    this.timeline = new CallTimeline(options.clock.now())
    this.record = blankRecord()
    this.record.id = options.ids.next()
    this.record.callType = this.#path.callType
    this.record.endpoint = labels.header(target.path) ?? '/'
    this.record.method = req.method ?? 'GET'
    this.record.instance = options.instance
    labels.noteHead(this.record, head)
    this.payloads = rawLog.isOpen
      ? rawLog.begin({
          call: this.record,
          path: target.path + target.query,
          headers: req.rawHeaders,
          receivedAtMs: this.timeline.receivedAt,
          onFault,
        })
      : null
    this.request = new CallRequest(arrived, this.#path, this.record, this.payloads, options)
    this.client = new ClientResponse(res, options.clientStallTimeoutMs, this.payloads)
  }

  /** The meaning of the path. */
  get path(): PathMeaning {
    return this.#path
  }

  get upstream(): Upstream {
    return this.#upstream
  }

  /** The endpoint of the newest attempt. */
  get endpoint(): Endpoint {
    return this.#endpoint
  }

  /** True if the client may use the gateway's key, and sends no credential that counts. */
  get usesGatewayKey(): boolean {
    return this.#usesGatewayKey
  }

  /** The meter of the answering attempt; a lost attempt's measures are dropped, because the client got nothing of it. */
  get meter(): CallMeter | null {
    return this.timeline.dispatchedAt === null ? null : this.#meter
  }

  /** Begin of the wait before the next attempt (monotonic ms), without a slot; null without such a wait. */
  get waitsSince(): number | null {
    return this.#waitsSince
  }

  /** True if the call uses a model. Other calls pass at once, and count for no limit. */
  get needsSlot(): boolean {
    return this.#path.usesModel
  }

  /** The name of a prompt prefix that a replica may have cached: the session, or the cache key. Null without one. */
  get promptCache(): string | null {
    return this.record.session ?? this.request.facts?.promptCacheKey ?? null
  }

  /** Output tokens that the request allows; 0 if it sets no bound. */
  get tokensAsked(): number {
    const { facts } = this.request
    if (facts === null) return 0
    return facts.isUnreadable && this.#path.isInference ? Infinity : facts.tokensAsked
  }

  /** Call it when the body is read, or is not needed before the queue. */
  received(): void {
    const { labels, sessionPlaces } = this.#options
    const facts = this.request.received()
    const model = facts.model ?? (this.#path.isInference ? this.#path.model : null)
    this.record.model = model === null ? null : labels.text(model)
    this.record.stream = facts.stream
    labels.noteBody(this.record, this.arrived.head, facts, sessionPlaces.inBody)
    this.timeline.bodyReadAt = this.clock.now()
    if (this.request.isRepeatable) this.request.over()
    if (this.client.gone !== null) throw this.client.gone
  }

  /** Chooses the upstream by path, else by model. Throws a `Failure` if the model cannot be read. */
  route(): void {
    const { upstreams } = this.#options
    if (!upstreams.areSeveral || this.arrived.upstream !== null) return
    if (this.request.facts?.isUnreadable === true && upstreams.haveModels)
      throw unreadableModel(this.arrived.head)
    this.#goTo(upstreams.ofModel(this.request.facts?.model ?? this.#path.model))
  }

  #goTo(upstream: Upstream): void {
    this.#upstream = upstream
    this.#endpoint = upstream.endpoint
    this.#path = pathMeaning(this.#endpoint.base, this.arrived.target, this.arrived.req.method ?? 'GET')
    this.record.callType = this.#path.callType
  }

  /** True if the client may use the gateway's keys. */
  isTrusted(): Promise<boolean> {
    return this.#options.trusted.include(this.arrived.head, this.arrived.req.socket)
  }

  /**
   * Decides whether the call uses the gateway's key. Call it when the call has its slot, because the upstream's
   * credentials may change while it waits. Null if the gateway has no key, or the request has a credential that counts.
   */
  askForKey(): Promise<void> | null {
    const { keyHeader, stripsCredentials } = this.#upstream.endpoint
    this.#usesGatewayKey = false
    if (keyHeader.length === 0 || (!stripsCredentials && this.arrived.head.credential !== null)) return null
    return this.isTrusted().then((isTrusted) => void (this.#usesGatewayKey = isTrusted))
  }

  /** Throws a `Failure` if too few tokens are left. Returns a promise while earlier use is unknown. */
  checkTokens(windows: readonly TokenWindow[] = this.#windows): Promise<void> | null {
    const pendingCheck = this.#options.tokens.check(windows, this.tokensAsked, this.client)
    if (pendingCheck === null) return null
    this.#waitsSince = this.clock.now()
    return pendingCheck.finally(() => (this.#waitsSince = null))
  }

  /** Takes a slot; false if none is free. */
  tryTakeSlot(): boolean {
    this.#stake = this.#options.providerLimits.stakeOf(this)
    this.#permit = this.#upstream.admission.tryAcquire(this.record, 'arrival', this.#stake)
    return this.#permit !== null
  }

  /** Waits for a slot. `heldMs`: how long the call has held a slot before. Rejects as `SlotLimiter.acquire` does. */
  async waitForSlot(order: QueueOrder, heldMs?: number): Promise<void> {
    const { admission } = this.#upstream
    const stake = (): LimitStake | null => (this.#stake = this.#options.providerLimits.stakeOf(this))
    this.request.readAhead()
    this.#permit = await admission.acquire(this.client.signal, order, this.record, heldMs, stake)
  }

  /** The share of limits a minute that the newest attempt takes; null without a limit. */
  get stake(): LimitStake | null {
    return this.#stake
  }

  /** The model's name as the newest attempt's upstream knows it. */
  get modelThere(): string | null {
    return this.#modelAtFallback ?? this.record.model
  }

  /** Notes that the call is ready to be sent. */
  admitted(): void {
    this.timeline.admittedAt = this.clock.now()
    this.#noteUpstream()
  }

  #giveSlotBack(): void {
    this.#permit?.release()
    this.#permit = null
  }

  /** Gives the slot back after a lost attempt, before another one. */
  leaveUpstream(): void {
    this.#giveSlotBack()
    if (this.#stake !== null) this.#options.providerLimits.lost(this.#stake, this.timeline.startedAt !== null)
    this.timeline.attemptLost()
    this.#waitsSince = this.clock.now()
  }

  /** Waits again for a slot of the same upstream, which the call had for `heldMs`. */
  async comeBack(heldMs: number): Promise<void> {
    this.#waitsSince = this.clock.now()
    if (this.needsSlot) await this.waitForSlot('back', heldMs)
    await this.askForKey()
    this.#waitsSince = null
  }

  /** Continues the call at another upstream. */
  async moveTo({ upstream, model }: Fallback): Promise<void> {
    this.#goTo(upstream)
    if (model !== null && this.request.rename(model)) this.#modelAtFallback = this.#options.labels.text(model)
    if (this.needsSlot) {
      await this.checkTokens(this.#options.tokens.at(upstream.name))
      await this.waitForSlot('arrival')
      this.reserveTokens()
    }
    await this.askForKey()
    this.#waitsSince = null
  }

  /** Notes the endpoint of a new attempt. */
  attemptAt(endpoint: Endpoint): void {
    this.#endpoint = endpoint
  }

  /** A new meter, for an attempt that goes to the transport now. */
  newMeter(atMs: number): CallMeter {
    this.#meter = new CallMeter(this.record, this.record.stream, atMs, this.#options.onFault)
    return this.#meter
  }

  /** Notes the head of an attempt's answer. */
  answered(head: ResponseHead): void {
    this.timeline.answeredAt = this.clock.now()
    this.record.metLimit = this.#options.providerLimits.answered(this, this.#stake, head)
  }

  /** Headers that the gateway adds to the answer. */
  addedHeaders(): readonly string[] {
    const { bodyReadAt, admittedAt, dispatchedAt, answeredAt } = this.timeline
    const queueMs = (admittedAt ?? 0) - (bodyReadAt ?? 0)
    const upstreamMs = (answeredAt ?? 0) - (dispatchedAt ?? 0)
    const headers = [
      'x-tokenweir-call-id',
      formatCallId(this.record.id),
      'server-timing',
      `queue;dur=${queueMs.toFixed(1)}, upstream;dur=${upstreamMs.toFixed(1)}`,
    ]
    if (this.#options.upstreams.areSeveral) headers.push('x-tokenweir-upstream', this.#upstream.name)
    if (this.arrived.head.origin !== null) headers.push(...exposedHeaders)
    return headers
  }

  /** Notes the endpoint in the row. */
  #noteUpstream(): void {
    this.record.upstream = this.#endpoint.base.host
    if (this.#options.upstreams.areSeveral) this.record.upstreamName = this.#upstream.name
  }

  /** The budgets that count the call's tokens. */
  get #windows(): readonly TokenWindow[] {
    return this.#options.tokens.of(this.record, this.#upstream.name)
  }

  /** Reserves the tokens that the call may still use, again at each attempt. Throws a `Failure` if they are too many. */
  reserveTokens(): void {
    this.giveTokensBack()
    this.#reservation = this.#options.tokens.reserve(this.#windows, this.tokensAsked)
  }

  /** True if an upstream's own budget has enough left for the call, as far as that is known. */
  mayUse({ name }: Upstream): boolean {
    return this.#options.tokens.hasEnough(name, this.tokensAsked)
  }

  /** Notes the failure that ended the call before its answer was complete. */
  failed(failure: Failure): void {
    this.#failure = failure
    this.request.over()
  }

  /** Ends the call at any step. False if it has ended already. */
  cancel(failure: Failure): boolean {
    if (!this.client.cancel(failure)) return false
    this.#failure ??= failure
    this.#endReading(failure)
    return true
  }

  /** Ends all work for the call. The failure becomes its answer. */
  abandon(failure: Failure): void {
    this.client.abandon(failure)
    this.#endReading(failure)
  }

  #endReading(failure: Failure): void {
    if (this.timeline.bodyReadAt === null) this.request.endReading(failure)
  }

  /** Frees slot and body, because nothing more goes to an upstream. */
  release(): void {
    this.#giveSlotBack()
    this.#waitsSince = null
    this.request[Symbol.dispose]()
  }

  /** Completes the row after the call has ended and its answer is measured. */
  complete(): void {
    const { meter, record, timeline, client } = this
    this.#noteUpstream()
    const late = record.model === null ? this.request.modelOnTheWay : null
    if (late !== null) record.model = this.#options.labels.text(late)
    meter?.complete(record, this.tokensAsked, this.#options.background, this.#path.response)
    const { answerEnding: ending = 'none', isImplausible = false } = meter ?? {}
    const end = { status: client.status, failure: this.#failure, gone: client.gone, ending, isImplausible }
    completeRecord(record, timeline, end, this.#options.labels.text, this)
    if (this.request.facts?.isUnreadable === true) record.errorMessage ??= unreadableBody(this.arrived.head)
  }

  /** A text without the call's own credentials. */
  masked(text: string): string {
    return maskOwnCredentials(text, this.arrived.req.rawHeaders, this.#endpoint.keyHeader)
  }

  /** Counts the used tokens against the budgets. */
  countTokens(): void {
    const { record } = this
    this.#options.tokens.add(this.#windows, reportedTokens(record), estimatedTokens(record))
    if (this.#stake !== null) this.#options.providerLimits.ended(this, this.#stake)
  }

  /** Gives the reserved tokens back to the budgets. */
  giveTokensBack(): void {
    this.#reservation?.[Symbol.dispose]()
    this.#reservation = null
  }
}
