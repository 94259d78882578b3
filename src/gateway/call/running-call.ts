import type { IncomingMessage, ServerResponse } from 'node:http'
import type { LiveState } from '../../api/live-calls.ts'
import { type CallIds, formatCallId } from '../../call/call-id.ts'
import type { Call, CallStart } from '../../call/call.ts'
import type { CallObserver } from '../../call/call-observer.ts'
import type { Clock } from '../../call/clock.ts'
import type { Failure } from '../../call/failure.ts'
import type { PayloadTaps } from '../../call/payload-log.ts'
import type { Placed } from './swap-list.ts'
import type { Destination } from './attempt.ts'
import { CallTimeline } from '../recorder/call-timeline.ts'
import { ClientAnswer } from '../http/client-answer.ts'
import type { ClientLabels } from './client-labels.ts'
import { CallMeter } from '../meter/call-meter.ts'
import { ObserverGuard } from '../meter/observer-guard.ts'
import { TapGuard } from '../raw-log/tap-guard.ts'
import type { EndedCall } from '../recorder/recorder.ts'
import type { RelayedCall } from './relay.ts'
import type { RetriedCall } from './retries-429.ts'
import type { RequestHead } from '../http/request-head.ts'
import { type RequestFacts, RequestPeek } from '../http/request-peek.ts'
import type { ForwardedPath, Target } from '../http/target.ts'
import type { InjectedAnswer } from '../usage-injection/injected-answer.ts'

/** A request on a forwarded path, as the server found it. */
export interface ArrivedCall {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  readonly head: RequestHead
  readonly target: Target
  readonly path: ForwardedPath
}

/** What a running call needs of its gateway. */
export interface RunningCallOptions {
  readonly clock: Clock
  /** The mark of this very process in `Via` and in every row. */
  readonly instance: string
  readonly ids: CallIds
  readonly labels: ClientLabels
  /** Where calls go. */
  readonly destination: Destination
  readonly clientStallTimeoutMs: number
  readonly taps: PayloadTaps
  /** Learns of a fault of our own that no call shall suffer from. */
  readonly onFault: (error: unknown) => void
}

/** All that is known of one call while it runs. */
export class RunningCall implements RelayedCall, RetriedCall, Placed {
  readonly arrived: ArrivedCall
  readonly call: Call
  readonly clock: Clock
  readonly timeline: CallTimeline
  readonly client: ClientAnswer
  /** Shown what passes; null where nobody wants to know. */
  readonly tap: TapGuard | null
  readonly #options: RunningCallOptions
  readonly #peek = new RequestPeek()
  #meter: CallMeter | null = null
  #observer: CallObserver | null = null
  /** What its body says; `null` until that has been read. */
  facts: RequestFacts | null = null
  /** In the list of running calls. */
  place = -1
  /** Body bytes received from the client. */
  requestBytes = 0
  /** Where its next attempt goes. */
  destination: Destination
  /** The client brings no credential, and may use the gateway's. */
  borrowsKey = false
  /** The answer of an attempt that the gateway itself asked for usage. */
  injected: InjectedAnswer | null = null
  /** Holds what the call may use of the token budget until it is over; `null` where nothing is reserved. */
  reservation: Disposable | null = null
  backsOff = false
  /** What ended the call before its answer was complete. */
  failure: Failure | null = null

  constructor(arrived: ArrivedCall, options: RunningCallOptions) {
    const { res } = arrived
    this.#options = options
    this.arrived = arrived
    this.destination = options.destination
    this.clock = options.clock
    this.timeline = new CallTimeline(options.clock.now())
    this.call = identify(arrived, options)
    this.tap = options.taps.isOpen ? this.#newTap() : null
    this.client = new ClientAnswer(res, options.clientStallTimeoutMs, this.tap)
  }

  /** Measures the answer; asked for only when the request has been read, as it wants to know what was asked. */
  get meter(): CallMeter {
    this.#meter ??= this.#newMeter()
    return this.#meter
  }

  /** The meter, behind a guard: a fault of it ends the measuring, never the call. */
  get observer(): CallObserver {
    this.#observer ??= new ObserverGuard(this.meter, this.#options.onFault)
    return this.#observer
  }

  /** Inference requests are read whole before they queue; any other body is passed on as it comes. */
  get isReadWhole(): boolean {
    return this.arrived.path.inference
  }

  /** As it may be stored. */
  get #model(): string | null {
    const model = this.facts?.model ?? null
    return model === null ? null : this.#options.labels.text(model)
  }

  get acceptsTrailers(): boolean {
    return this.arrived.head.acceptsTrailers
  }

  /** Only POSTs are counted; every other method passes at once. */
  get needsSlot(): boolean {
    return this.call.method === 'POST'
  }

  /** There is a key, and the request brings none. */
  get wantsKey(): boolean {
    return this.destination.keyHeader.length > 0 && this.arrived.head.credential === null
  }

  /** Where it is; of one that is over, where it was. */
  get state(): LiveState {
    if (this.timeline.bodyReadAt === null) return 'receiving'
    if (this.timeline.admittedAt === null) return 'waiting'
    return this.backsOff ? 'backing_off' : 'running'
  }

  /** Tokens that it may use as far as it says; 0 where it does not. */
  get tokensAsked(): number {
    return this.facts?.tokensAsked ?? 0
  }

  /** Learns from a piece of the request's body. */
  peek(chunk: Uint8Array): void {
    if (this.tap !== null) this.tap.requestData(chunk)
    try {
      this.#peek.push(chunk)
    } catch (error) {
      this.#options.onFault(error)
    }
  }

  /** The body is here, or needs no reading before the queue. */
  received(bytes: number): void {
    this.requestBytes = bytes
    this.facts = this.#peek.result()
    this.timeline.bodyReadAt = this.clock.now()
    if (this.tap !== null && (this.isReadWhole || !this.arrived.head.hasBody)) this.requestIsOver()
    if (this.client.gone !== null) throw this.client.gone
  }

  /** A piece of a body that is passed on as it comes. */
  passedOn(piece: Uint8Array): void {
    this.requestBytes += piece.length
    if (this.tap !== null) this.tap.requestData(piece)
  }

  /** Nothing more of the request will come. */
  requestIsOver(): void {
    if (this.tap !== null) this.tap.requestEnd(this.#model, this.facts?.stream ?? false)
  }

  /** A slot is held, or none is needed. */
  admitted(): void {
    this.timeline.admittedAt = this.clock.now()
  }

  start(): CallStart {
    return {
      ...this.call,
      model: this.#model,
      stream: this.facts?.stream ?? false,
      upstream: this.destination.base.host,
      requestBytes: this.requestBytes,
    }
  }

  addedHeaders(): readonly string[] {
    const { bodyReadAt, admittedAt, dispatchedAt, answeredAt } = this.timeline
    const queueMs = (admittedAt ?? 0) - (bodyReadAt ?? 0)
    const upstreamMs = (answeredAt ?? 0) - (dispatchedAt ?? 0)
    return [
      'x-tokenweir-call-id',
      formatCallId(this.call.id),
      'server-timing',
      `queue;dur=${queueMs.toFixed(1)}, upstream;dur=${upstreamMs.toFixed(1)}`,
    ]
  }

  ended(): EndedCall {
    // What was measured of a lost attempt is nothing that the client got.
    const answered = this.timeline.dispatchedAt === null ? this.#newMeter() : this.meter
    return {
      call: this.call,
      model: this.#model,
      stream: this.facts?.stream ?? false,
      upstream: this.destination.base.host,
      instance: this.#options.instance,
      requestBytes: this.requestBytes,
      timeline: this.timeline,
      status: this.client.status,
      failure: this.failure,
      gone: this.client.gone,
      reading: answered.reading(),
    }
  }

  #newTap(): TapGuard | null {
    const { call, clock, timeline } = this
    const { req, target } = this.arrived
    const { taps, onFault } = this.#options
    try {
      const path = target.path + target.query
      const tap = taps.begin({ call, path, headers: req.rawHeaders, receivedAtMs: timeline.receivedAt })
      return tap === null ? null : new TapGuard(tap, clock, onFault)
    } catch (error) {
      onFault(error)
      return null
    }
  }

  #newMeter(): CallMeter {
    return new CallMeter(this.call, this.facts?.stream ?? false)
  }
}

/** What a call is, as far as its head tells. */
function identify({ req, head, target, path }: ArrivedCall, { ids, labels }: RunningCallOptions): Call {
  const { userAgent, credential, clientLabel, session } = head
  return {
    id: ids.next(),
    type: path.callType,
    endpoint: labels.header(target.path) ?? '/',
    method: req.method ?? 'GET',
    client: clientOf(clientLabel, userAgent, labels),
    userAgent: labels.header(userAgent),
    session: labels.header(session),
    keyFingerprint: credential === null ? null : labels.fingerprint(credential),
    clientRetry: head.clientRetry,
  }
}

function clientOf(label: string | null, userAgent: string | null, labels: ClientLabels): string | null {
  const chosen = labels.header(label)
  if (chosen !== null) return chosen
  const product = userAgent === null ? '' : labels.product(userAgent)
  return product === '' ? null : product
}
