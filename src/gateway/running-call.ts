import type { IncomingMessage, ServerResponse } from 'node:http'
import { type CallIds, formatCallId } from '../call/call-id.ts'
import type { Call, CallStart } from '../call/call.ts'
import type { CallObserver } from '../call/call-observer.ts'
import type { Clock } from '../call/clock.ts'
import type { Failure } from '../call/failure.ts'
import { CallTimeline } from './call-timeline.ts'
import { ClientAnswer } from './client-answer.ts'
import type { ClientLabels } from './client-labels.ts'
import { identifyCall } from './identify-call.ts'
import { CallMeter } from './observer/call-meter.ts'
import type { EndedCall } from './recorder/recorder.ts'
import type { RelayedCall } from './relay.ts'
import type { RequestHead } from './request-head.ts'
import { RequestPeek } from './request-peek.ts'
import type { ForwardedPath, Target, UpstreamBase } from './target.ts'

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
  readonly instance: string
  readonly ids: CallIds
  readonly labels: ClientLabels
  readonly base: UpstreamBase
  readonly clientStallTimeoutMs: number
}

/** All that is known of one call while it runs. */
export class RunningCall implements RelayedCall {
  readonly arrived: ArrivedCall
  readonly call: Call
  readonly clock: Clock
  readonly timeline: CallTimeline
  readonly client: ClientAnswer
  readonly #options: RunningCallOptions
  readonly #peek = new RequestPeek()
  #meter: CallMeter | null = null
  /** Body bytes received from the client. */
  requestBytes = 0
  /** What ended the call before its answer was complete. */
  failure: Failure | null = null

  constructor(arrived: ArrivedCall, options: RunningCallOptions) {
    const { req, res, head, target, path } = arrived
    this.#options = options
    this.arrived = arrived
    this.clock = options.clock
    this.timeline = new CallTimeline(options.clock.now())
    this.call = identifyCall(req.method ?? 'GET', target, path, head, options.ids, options.labels)
    this.client = new ClientAnswer(res, options.clientStallTimeoutMs)
  }

  /** Measures the answer; asked for only when the request has been read, as it wants to know what was asked. */
  get meter(): CallMeter {
    this.#meter ??= new CallMeter(this.call, this.#peek.result().stream)
    return this.#meter
  }

  get observer(): CallObserver {
    return this.meter
  }

  /** Learns from a piece of the request's body. */
  peek(chunk: Uint8Array): void {
    this.#peek.push(chunk)
  }

  start(): CallStart {
    const facts = this.#peek.result()
    return {
      ...this.call,
      model: facts.model,
      stream: facts.stream,
      upstream: this.#options.base.host,
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
    const facts = this.#peek.result()
    return {
      call: this.call,
      model: facts.model,
      stream: facts.stream,
      upstream: this.#options.base.host,
      instance: this.#options.instance,
      requestBytes: this.requestBytes,
      marks: this.timeline,
      status: this.client.status,
      failure: this.failure,
      gone: this.client.gone,
      reading: this.meter.reading(),
    }
  }
}
