import { type CallIds, formatCallId } from '../call/call-id.ts'
import type { CallSink } from '../call/call-sink.ts'
import type { Clock } from '../call/clock.ts'
import { Failure } from '../call/failure.ts'
import type { Admission } from './admission/admission.ts'
import type { Budget } from './admission/budget.ts'
import type { Permit } from './admission/permit.ts'
import type { ClientLabels } from './client-labels.ts'
import { asFailure } from './error-answer.ts'
import { recordOf } from './recorder/recorder.ts'
import { relay } from './relay.ts'
import { type BodyLimits, HeldBody, readBody, streamBody } from './request-body.ts'
import { type ArrivedCall, RunningCall } from './running-call.ts'
import { type UpstreamBase, upstreamPath } from './target.ts'
import type { Upstream, UpstreamRequest } from './upstream/upstream.ts'
import type { UpstreamKey } from './upstream-key.ts'

export interface CallHandlerOptions {
  readonly clock: Clock
  /** The mark of this very process in `Via` and in every row. */
  readonly instance: string
  readonly ids: CallIds
  readonly labels: ClientLabels
  readonly base: UpstreamBase
  readonly upstream: Upstream
  readonly upstreamKey: UpstreamKey
  readonly admission: Admission
  readonly budget: Budget
  readonly sink: CallSink
  readonly limits: BodyLimits
  readonly clientStallTimeoutMs: number
  /** Whether requests carry our `Via`, by which a loop is seen (RFC 9110 §7.6.3). */
  readonly via: boolean
}

/** The spine: a call's life, from its head to its row. */
export class CallHandler {
  readonly #options: CallHandlerOptions
  readonly #viaName: string
  #running = 0
  #drained: PromiseWithResolvers<void> | null = null

  constructor(options: CallHandlerOptions) {
    this.#options = options
    this.#viaName = `tokenweir-${options.instance}`
  }

  /** Handles one call. Never rejects: whatever happens is answered and becomes its one row. */
  async handle(arrived: ArrivedCall): Promise<void> {
    this.#running++
    const running = new RunningCall(arrived, this.#options)
    try {
      using body = new HeldBody(this.#options.limits)
      this.#check(running)
      await this.#receive(running, body)
      using _permit = await this.#admit(running)
      await this.#attempt(running, this.#requestOf(running, body))
    } catch (error) {
      running.failure = asFailure(error)
      running.client.refuse(running.failure, formatCallId(running.call.id))
    }
    await running.client.closed
    running.timeline.closedAt = this.#options.clock.now()
    await running.meter.settled()
    this.#record(running)
    if (--this.#running === 0) this.#drained?.resolve()
  }

  /** Refuses waiting and new calls; resolves when those in flight are over. */
  drain(): Promise<void> {
    this.#drained ??= Promise.withResolvers()
    this.#options.admission.drain()
    if (this.#running === 0) this.#drained.resolve()
    return this.#drained.promise
  }

  /** What must not reach the upstream is refused before anything is read. */
  #check({ arrived: { head } }: RunningCall): void {
    if (head.flaw !== null) throw new Failure('invalid_request', head.flaw)
    if (head.via?.includes(this.#viaName)) {
      throw new Failure(
        'loop_detected',
        'This call came from this very gateway: --upstream leads back to it.',
      )
    }
    if (head.upgrade !== null && head.upgrade.toLowerCase() !== 'h2c') {
      throw new Failure('upgrade_not_supported', `An upgrade to ${head.upgrade} is not supported.`)
    }
    if (this.#drained !== null) throw new Failure('draining', 'The gateway is stopping.', { retryAfterS: 5 })
  }

  /** An inference request is read whole before it queues; any other body is passed on as it comes. */
  async #receive(running: RunningCall, body: HeldBody): Promise<void> {
    const { req, head, path } = running.arrived
    if (path.inference && req.method === 'POST') {
      await readBody(req, head, body, this.#options.limits, (chunk) => running.peek(chunk))
      running.requestBytes = body.bytes
    }
    running.timeline.bodyReadAt = this.#options.clock.now()
  }

  /** Only POSTs are counted; every other method passes at once. */
  async #admit(running: RunningCall): Promise<Permit | null> {
    const { admission, clock } = this.#options
    if (running.client.gone !== null) throw running.client.gone
    const needsSlot = running.arrived.req.method === 'POST'
    const permit = needsSlot
      ? (admission.tryAcquire() ?? (await admission.acquire(running.client.signal)))
      : null
    const now = clock.now()
    running.timeline.admittedAt = now
    running.observer.admitted(now)
    return permit
  }

  /** One attempt; a second one only where nothing can have been done twice. */
  async #attempt(running: RunningCall, request: UpstreamRequest): Promise<void> {
    this.#options.sink.begin(running.start())
    try {
      await relay(this.#options.upstream, request, running)
    } catch (error) {
      if (!isRepeatable(error, request.method) || running.client.gone !== null) throw error
      await relay(this.#options.upstream, request, running)
    }
  }

  #requestOf(running: RunningCall, body: HeldBody): UpstreamRequest {
    const { req, head, target, path } = running.arrived
    const headers = head.endToEnd
    if (this.#options.via) headers.push('Via', `1.1 ${this.#viaName}`)
    const authorization = this.#options.upstreamKey.authorizationFor(head, req.socket.remoteAddress)
    if (authorization !== null) headers.push('Authorization', authorization)
    const streamed = head.hasBody && !(path.inference && req.method === 'POST')
    return {
      method: req.method ?? 'GET',
      path: upstreamPath(this.#options.base, target),
      headers,
      body: streamed
        ? streamBody(req, (bytes) => (running.requestBytes += bytes))
        : head.hasBody
          ? body.chunks
          : null,
      bodyBytes: streamed ? head.contentLength : body.bytes,
    }
  }

  #record(running: RunningCall): void {
    const { clock, sink, budget } = this.#options
    const record = recordOf(running.ended())
    sink.finish(record)
    const tokens = (record.inputTokens ?? 0) + (record.outputTokens ?? 0)
    if (tokens > 0) budget.add(clock.wallTime(), tokens)
  }
}

/** A safe request that met a connection which the upstream was just closing (RFC 9110 §9.2.2). */
function isRepeatable(error: unknown, method: string): boolean {
  const isSafe = method === 'GET' || method === 'HEAD'
  return (
    isSafe && error instanceof Failure && error.code === 'upstream_unreachable' && error.shouldRetry === true
  )
}
