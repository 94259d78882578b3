import type { CallSink } from '../../call/call-sink.ts'
import { formatCallId } from '../../call/call-id.ts'
import { Failure } from '../../call/failure.ts'
import { SwapList } from '../../lib/swap-list.ts'
import { drainRetryAfterS } from '../admission/admission.ts'
import { asFailure } from '../http/own-answers.ts'
import type { RequestHead } from '../http/request-head.ts'
import { BackgroundResponses } from '../meter/background-responses.ts'
import { Attempts, type AttemptsOptions } from './attempts.ts'
import { asksForAllModels, listModels } from './list-models.ts'
import { type ArrivedCall, RunningCall, type RunningCallOptions } from './running-call.ts'

export interface CallHandlerOptions
  extends Omit<RunningCallOptions, 'background'>, Omit<AttemptsOptions, 'via'> {
  readonly sink: CallSink
  /** True to add a `Via` header to requests, which reveals loops (RFC 9110 §7.6.3). */
  readonly via: boolean
}

/** Handles each call from its head to its row. */
export class CallHandler {
  readonly #options: CallHandlerOptions & RunningCallOptions
  readonly #viaName: string
  readonly #attemptsOptions: AttemptsOptions
  /** Bytes of each request that still arrives, at the last check of a replaced gateway. */
  readonly #bytesBefore = new WeakMap<RunningCall, number>()
  readonly #running = new SwapList<RunningCall>()
  #drained: PromiseWithResolvers<void> | null = null

  constructor(options: CallHandlerOptions) {
    this.#options = { ...options, background: new BackgroundResponses() }
    this.#viaName = `tokenweir-${options.instance}`
    this.#attemptsOptions = { ...options, via: options.via ? ['Via', `1.1 ${this.#viaName}`] : [] }
  }

  /**
   * Handles a call. Every end gets an answer and becomes one row. An internal error that leaves no row is
   * counted as dropped; only if the call has no answer either does this reject with it.
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
    return this.#run(running)
  }

  async #run(call: RunningCall): Promise<void> {
    this.#running.add(call)
    const { client } = call
    let attempts: Attempts | null = null
    try {
      this.#check(call.arrived.head)
      await call.request.read()
      call.received()
      call.route()
      if (call.needsSlot) {
        const untilKnown = call.checkTokens()
        if (untilKnown !== null) await untilKnown
        if (!call.tryTakeSlot()) await call.waitForSlot('arrival')
        call.reserveTokens()
      }
      const isTrusted = call.askForKey()
      if (isTrusted !== null) await isTrusted
      call.admitted()
      this.#options.sink.begin(call.record)
      attempts = new Attempts(call, this.#attemptsOptions)
      let isAnswered =
        asksForAllModels(call, this.#options.upstreams) && (await listModels(call, this.#attemptsOptions))
      while (!isAnswered) {
        const next = attempts.after(await attempts.send())
        isAnswered = typeof next === 'boolean' ? next : await next
      }
    } catch (error) {
      const failure = asFailure(error)
      call.failed(failure)
      this.#refuse(call, failure)
    } finally {
      call.release()
    }
    await client.closed
    call.timeline.closedAt = call.clock.now()
    const settled = call.meter?.settled() ?? null
    if (settled !== null) await settled
    this.#record(call, attempts)
    call.giveTokensBack()
    this.#running.remove(call)
    if (this.#running.size === 0) this.#drained?.resolve()
  }

  /** Answers with a failure. An answer that cannot be written must still end, because the call waits for that end. */
  #refuse({ client, record }: RunningCall, failure: Failure): void {
    try {
      client.refuse(failure, formatCallId(record.id))
    } catch (error) {
      this.#options.onFault(error)
      client.cut()
    }
  }

  /** Refuses waiting and new calls; resolves when those in flight are over. */
  refuseNew(): Promise<void> {
    this.#drained ??= Promise.withResolvers()
    this.#options.upstreams.refuseNew()
    const failure = draining('The gateway is stopping and does not retry calls.')
    for (const call of this.#running) if (call.waitsSince !== null) call.abandon(failure)
    if (this.#running.size === 0) this.#drained.resolve()
    return this.#drained.promise
  }

  /** The calls in flight or waiting, in no order. */
  get running(): Iterable<RunningCall> & { readonly size: number } {
    return this.#running
  }

  /**
   * Cancels a call: the client gets 503, or a broken connection if the answer has begun, and the upstream's
   * work ends at once. False if no such call is in progress.
   */
  cancel(id: number): boolean {
    for (const call of this.#running) {
      if (call.record.id === id) return call.cancel(new Failure('cancelled', 'This call was cancelled.'))
    }
    return false
  }

  /** Ends all calls with this failure. */
  cancelAll(failure: Failure): void {
    for (const call of this.#running) call.cancel(failure)
  }

  /**
   * Ends all calls in progress: each client gets 503, or a broken connection if the answer has begun.
   * Resolves when all calls have ended.
   */
  abandon(): Promise<void> {
    const failure = draining('The gateway stopped before this call ended.')
    for (const call of this.#running) call.abandon(failure)
    return this.refuseNew()
  }

  /** Ends calls whose request has stopped arriving since the last check. Calls that wait for their upstream continue. */
  endStalled(): void {
    const failure = draining('This gateway has been replaced, and the rest of the request did not arrive.')
    for (const call of this.#running) {
      const { arrived, request } = call
      if (arrived.req.complete || arrived.req.readableLength > 0) continue
      if (this.#bytesBefore.get(call) === request.arrivedBytes) call.abandon(failure)
      this.#bytesBefore.set(call, request.arrivedBytes)
    }
  }

  /** Throws the failure of a call that must not reach the upstream, before its body is read. */
  #check(head: RequestHead): void {
    if (head.flaw !== null) throw new Failure('invalid_request', head.flaw)
    if (head.via?.includes(this.#viaName) === true) {
      throw new Failure('loop_detected', 'This call came from this gateway: --upstream leads back to it.')
    }
    if (this.#drained !== null) throw draining('The gateway is stopping.')
  }

  #record(call: RunningCall, attempts: Attempts | null): void {
    const { sink, onFault } = this.#options
    let isRecorded = false
    try {
      call.complete()
      sink.finish(call.record)
      isRecorded = true
      call.countTokens()
      if (call.payloads !== null) call.payloads.ended(call.record)
      attempts?.teachUpstream()
    } catch (error) {
      if (!isRecorded) sink.lose(call.record)
      onFault(error)
    }
  }
}

function draining(message: string): Failure {
  return new Failure('draining', message, { retryAfterS: drainRetryAfterS })
}
