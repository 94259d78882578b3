import { estimatedTokens, reportedTokens } from '../../call/budget-tokens.ts'
import { formatCallId } from '../../call/call-id.ts'
import type { CallSink } from '../../call/call-sink.ts'
import { Failure } from '../../call/failure.ts'
import { type Permit, drainRetryAfterS } from '../admission/admission.ts'
import type { Budget } from '../admission/budget.ts'
import { noBudgets, ownersOf } from '../admission/client-limits.ts'
import { Attempts } from './attempts.ts'
import type { Routing } from './call-upstream.ts'
import { SwapList } from '../../lib/swap-list.ts'
import { asFailure } from '../http/error-answer.ts'
import { type BodyLimits, HeldBody, beginsAsObject, endReading, readBody } from '../http/request-body.ts'
import type { RequestHead } from '../http/request-head.ts'
import { type ArrivedCall, RunningCall, type RunningCallOptions } from './running-call.ts'
import type { TrustedClients } from '../http/trusted-clients.ts'

export interface CallHandlerOptions extends RunningCallOptions {
  /** Who is lent the destination's key, so that nobody else can spend it. */
  readonly trusted: TrustedClients
  readonly routing: Routing
  readonly budget: Budget
  readonly sink: CallSink
  readonly limits: BodyLimits
  /** Requests carry our `Via`, by which a loop is seen (RFC 9110 §7.6.3). */
  readonly via: boolean
}

/** The spine: a call's life, from its head to its row. */
export class CallHandler {
  readonly #options: CallHandlerOptions
  readonly #viaName: string
  readonly #attempts: Attempts
  /** By requests that are still coming: how much had come when a replaced gateway last looked. */
  readonly #bytesBefore = new WeakMap<RunningCall, number>()
  readonly #running = new SwapList<RunningCall>()
  #drained: PromiseWithResolvers<void> | null = null

  constructor(options: CallHandlerOptions) {
    this.#options = options
    this.#viaName = `tokenweir-${options.instance}`
    const via = options.via ? ['Via', `1.1 ${this.#viaName}`] : []
    this.#attempts = new Attempts({ ...options, via })
  }

  /**
   * Handles one call. Never rejects: whatever happens is answered and becomes its one row; or is counted as dropped,
   * with a throw if nothing was answered either, if a fault of our own leaves no row to be made.
   */
  handle(arrived: ArrivedCall): Promise<void> {
    let running: RunningCall
    try {
      running = new RunningCall(arrived, this.#options)
    } catch (error) {
      this.#options.onFault(error)
      this.#options.sink.lose(null)
      throw error
    }
    return this.#run(running, arrived)
  }

  async #run(running: RunningCall, arrived: ArrivedCall): Promise<void> {
    const { routing, sink, clock, limits, budget, trusted } = this.#options
    this.#running.add(running)
    const { client } = running
    const body = new HeldBody(limits)
    let permit: Permit | null = null
    try {
      this.#check(arrived.head)
      if (!running.isReadWhole && running.mayNameModel)
        running.isReadWhole = await beginsAsObject(arrived.req)
      if (running.isReadWhole) {
        await readBody(arrived.req, arrived.head, body, (chunk) => running.peek(chunk))
        if (arrived.head.contentEncoding !== null) await running.readCopy(body)
      }
      running.received(body.bytes)
      const { routes } = routing
      if (routes !== null && arrived.upstream === undefined) running.goTo(routes.byModel(running))
      if (running.wantsKey) running.borrowsKey = await trusted.include(arrived.head, arrived.req.socket)
      if (running.needsSlot) {
        budget.check(clock.wallTime(), running.tokensAsked)
        // Not even an iterator for those, most of all calls, that have none.
        const own = running.ownBudgets
        if (own !== noBudgets) for (const each of own) await each.check(running.tokensAsked)
        const { admission } = running.upstream
        permit =
          admission.tryAcquire(running.record) ??
          (await admission.acquire(client.signal, 'arrival', running.record))
        if (own !== noBudgets) running.reserveOf(own)
        running.reservation = budget.reserve(clock.wallTime(), running.tokensAsked)
      }
      running.timeline.admittedAt = clock.now()
      running.noteUpstream()
      await sink.begin(running.record)
      await this.#attempts.make(running, permit, body)
    } catch (error) {
      running.failure = asFailure(error)
      running.requestIsOver()
      this.#refuse(running, running.failure)
    } finally {
      permit?.release()
      body[Symbol.dispose]()
    }
    await client.closed
    running.timeline.closedAt = clock.now()
    const settled = running.meter?.settled() ?? null
    if (settled !== null) await settled
    this.#record(running)
    running.reservation?.[Symbol.dispose]()
    running.reserveOf(noBudgets)
    this.#running.remove(running)
    if (this.#running.size === 0) this.#drained?.resolve()
  }

  /** An answer that cannot be written must still end: what is awaited next is that the client has it or is gone. */
  #refuse({ client, record }: RunningCall, failure: Failure): void {
    try {
      client.refuse(failure, formatCallId(record.id))
    } catch (error) {
      this.#options.onFault(error)
      client.cut()
    }
  }

  /** Refuses waiting and new calls; resolves when those in flight are over. */
  drain(): Promise<void> {
    this.#drained ??= Promise.withResolvers()
    this.#options.upstream.admission.drain()
    this.#options.routing.drain()
    for (const { backsOffSince, client } of this.#running) {
      if (backsOffSince !== null) client.abandon(draining('The gateway is stopping and tries no call again.'))
    }
    if (this.#running.size === 0) this.#drained.resolve()
    return this.#drained.promise
  }

  /** The calls that are not over yet, in no order. */
  get running(): Iterable<RunningCall> {
    return this.#running
  }

  /**
   * Ends a call because somebody wants it: it is answered 503, or cut where its answer has begun, and the upstream is
   * left at once. False if no such call is under way.
   */
  cancel(id: number): boolean {
    for (const running of this.#running) {
      if (running.record.id === id)
        return running.cancel(new Failure('cancelled', 'This call was cancelled.'))
    }
    return false
  }

  /** Ends all calls that are under way, with this. */
  cancelAll(failure: Failure): void {
    for (const running of this.#running) running.cancel(failure)
  }

  /** Gives up what is still in flight: it is answered 503, or cut where its answer has begun. Resolves when all is over. */
  abandon(): Promise<void> {
    const failure = draining('The gateway stopped before this call was over.')
    for (const { client, timeline, arrived } of this.#running) {
      client.abandon(failure)
      if (timeline.bodyReadAt === null) endReading(arrived.req, failure)
    }
    return this.drain()
  }

  /** Ends calls whose request has not come on since this was asked last. One that waits for its upstream is let be. */
  endStalled(): void {
    for (const running of this.#running) {
      const { arrived, client, record, timeline } = running
      if (arrived.req.complete || arrived.req.readableLength > 0) continue
      if (this.#bytesBefore.get(running) === record.requestBytes) {
        const failure = draining('This gateway has been replaced, and the rest of the request did not come.')
        client.abandon(failure)
        if (timeline.bodyReadAt === null) endReading(arrived.req, failure)
      }
      this.#bytesBefore.set(running, record.requestBytes)
    }
  }

  /** What must not reach the upstream is refused before anything is read. */
  #check(head: RequestHead): void {
    if (head.flaw !== null) throw new Failure('invalid_request', head.flaw)
    if (head.via?.includes(this.#viaName) === true) {
      throw new Failure(
        'loop_detected',
        'This call came from this very gateway: --upstream leads back to it.',
      )
    }
    if (this.#drained !== null) throw draining('The gateway is stopping.')
  }

  #record(running: RunningCall): void {
    const { clock, sink, budget, onFault } = this.#options
    const { record, meter, tap, upstream } = running
    let isRecorded = false
    try {
      running.complete()
      sink.finish(record)
      isRecorded = true
      const own = running.ownBudgets
      const reported = reportedTokens(record)
      const estimated = estimatedTokens(record)
      budget.add(clock.wallTime(), reported, estimated, ownersOf(own))
      if (own !== noBudgets) for (const each of own) each.budget.add(clock.wallTime(), reported, estimated)
      if (tap !== null) tap.ended(record)
      if (meter !== null)
        upstream.usageInjection.learn(running.path.name, running.facts, running.injected, meter, record)
    } catch (error) {
      if (!isRecorded) sink.lose(record)
      onFault(error)
    }
  }
}

function draining(message: string): Failure {
  return new Failure('draining', message, { retryAfterS: drainRetryAfterS })
}
