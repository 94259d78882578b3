import type { RawHeaders } from '../../call/call-observer.ts'
import { Failure, type FailureCode } from '../../call/failure.ts'
import type { Permit } from '../admission/admission.ts'
import type { AnswerSink } from '../http/client-answer.ts'
import type { HeldBody } from '../http/request-body.ts'
import type { TrustedClients } from '../http/trusted-clients.ts'
import type { InjectedCall } from '../usage-injection/usage-injection.ts'
import { type Attempt, attemptOf } from './attempt.ts'
import type { CallUpstream, Replicas, Routes, Routing, TakenReplica } from './call-upstream.ts'
import { relay } from './relay.ts'
import type { RunningCall } from './running-call.ts'
import { WithheldAnswer } from './withheld-answer.ts'

/** Answers of an upstream that did not work on the call, so that another one may. */
const notWorkedOn: ReadonlySet<number> = new Set([429, 502, 503, 529])

/** Answers and failures of a replica that is worth less than others. */
const brokenAnswers: ReadonlySet<number> = new Set([500, 502, 503, 504, 529])
const brokenOff: ReadonlySet<FailureCode> = new Set([
  'upstream_unreachable',
  'upstream_protocol_error',
  'upstream_timeout',
  'upstream_reset',
])

export interface AttemptsOptions {
  readonly routing: Routing
  /** Who is lent a destination's key, so that nobody else can spend it. */
  readonly trusted: TrustedClients
  /** The gateway's own `Via`, or nothing. */
  readonly via: RawHeaders
}

/** Makes the attempts of calls: nothing is sent again of which something may have been done. */
export class Attempts {
  readonly #options: AttemptsOptions

  constructor(options: AttemptsOptions) {
    this.#options = options
  }

  /**
   * Attempts until there is an answer for the client. Rejects with the failure that ended the last one, and with what
   * {@link Admission.acquire} rejects with. What is passed on as it comes cannot be sent again.
   */
  make(running: RunningCall, permit: Permit | null, body: HeldBody): Promise<void> {
    const { routes } = this.#options.routing
    if (routes === null || !isRepeatable(running) || !routes.mayGoOn(running))
      return this.#atUpstream(running, permit, body, running.client)
    return this.#atUpstreams(routes, running, permit, body)
  }

  async #atUpstreams(
    routes: Routes,
    running: RunningCall,
    permit: Permit | null,
    body: HeldBody,
  ): Promise<void> {
    if (await routes.listModels(running, this.#options)) return
    const tried = new Set<CallUpstream>()
    let held = permit
    try {
      for (;;) {
        const { upstream } = running
        tried.add(upstream)
        const next = routes.fallback(running, tried)
        if (next === null || !running.mayUse(next.upstream)) {
          await this.#atUpstream(running, held, body, running.client)
          return
        }
        if (upstream.replicas?.allRest !== true) {
          const isAnswered = await this.#unlessNotWorkedOn(running, held, body)
          if (isAnswered) return
        }
        held?.release()
        held = null
        running.timeline.attemptLost()
        running.backsOffSince = running.clock.now()
        running.goTo(next.upstream)
        if (next.model !== null) running.rename(next.model, body)
        if (running.needsSlot) {
          await running.checkUpstreamBudget()
          held = await next.upstream.admission.acquire(running.client.signal, 'arrival', running.record)
          running.reserveOf(running.ownBudgets)
        }
        running.borrowsKey = running.wantsKey && (await this.#isTrusted(running))
        running.backsOffSince = null
      }
    } finally {
      running.backsOffSince = null
      held?.release()
    }
  }

  /** False if another upstream may have the call. */
  async #unlessNotWorkedOn(running: RunningCall, permit: Permit | null, body: HeldBody): Promise<boolean> {
    using answer = new WithheldAnswer(running, running.client, ({ status }) => notWorkedOn.has(status))
    try {
      await this.#atUpstream(running, permit, body, answer)
    } catch (error) {
      const mayGoOn = answer.isWithheld || wasNotSent(running, error)
      if (!mayGoOn || running.client.over !== null) throw error
      return false
    }
    return !answer.isWithheld
  }

  #isTrusted({ arrived }: RunningCall): Promise<boolean> {
    return this.#options.trusted.include(arrived.head, arrived.req.socket)
  }

  #atUpstream(
    running: RunningCall,
    permit: Permit | null,
    body: HeldBody,
    answer: AnswerSink,
  ): Promise<void> {
    const { retries } = running.upstream
    if (!retries.enabled || !isRepeatable(running)) return this.#attempt(running, body, answer)
    return retries.run(running, permit, (to) => this.#attempt(running, body, to), answer)
  }

  #attempt(running: RunningCall, body: HeldBody, answer: AnswerSink): Promise<void> {
    const { replicas } = running.upstream
    return replicas === null
      ? this.#attemptOnce(running, body, answer)
      : this.#atReplicas(running, body, answer, replicas)
  }

  /** One after the other, until one can be connected to. */
  async #atReplicas(
    running: RunningCall,
    body: HeldBody,
    answer: AnswerSink,
    replicas: Replicas,
  ): Promise<void> {
    const tried = new Set<string>()
    let last: Failure | null = null
    for (;;) {
      using replica = replicas.take(running.promptCache, tried)
      if (replica === null) throw last ?? new Failure('upstream_unreachable', 'The upstream has no address.')
      running.destination = replica.destination
      try {
        await this.#attemptOnce(running, body, answer)
        noteAnswer(replica, running, null)
        return
      } catch (error) {
        if (!wasNotSent(running, error)) {
          noteAnswer(replica, running, error)
          throw error
        }
        replica.unreachable(error.message)
        tried.add(replica.url)
        if (running.client.over !== null) throw error
        last = error
      }
    }
  }

  /** One attempt; a second one only if nothing can have been done twice. */
  #attemptOnce(running: RunningCall, body: HeldBody, answer: AnswerSink): Promise<void> {
    const attempt = attemptOf(running, body, this.#options.via)
    const { facts, path } = running
    const { usageInjection } = running.upstream
    const injected = facts === null ? null : usageInjection.ask(path.name, facts, attempt, answer)
    running.injected = injected?.answer ?? null
    if (injected !== null) return this.#attemptAsked(running, injected, attempt, answer)
    const answered = relay(attempt, running, answer)
    const isSafe = attempt.method === 'GET' || attempt.method === 'HEAD'
    if (!isSafe || attempt.body !== null) return answered
    return answered.catch((error: unknown) => {
      if (!metClosingConnection(error) || running.client.gone !== null) throw error
      return relay({ ...attempt, freshConnection: true }, running, answer)
    })
  }

  /** Asks for usage; an upstream that refuses that gets the call as its client made it. */
  async #attemptAsked(
    running: RunningCall,
    asked: InjectedCall<Attempt>,
    attempt: Attempt,
    answer: AnswerSink,
  ): Promise<void> {
    await relay(asked.request, running, asked.answer)
    if (!asked.answer.isRefused) return
    const { usageInjection } = running.upstream
    const { name } = running.path
    usageInjection.refused(name)
    try {
      await relay(attempt, running, answer)
    } finally {
      const { status } = running.client
      if (status === 400 || status === 422) usageInjection.refusedAnyway(name)
    }
  }
}

/** Tells a replica what its answer, or the lack of one, says of it. Nothing, where its client did not wait for one. */
function noteAnswer(replica: TakenReplica, running: RunningCall, error: unknown): void {
  const status = running.meter?.status ?? 0
  const isBroken = error instanceof Failure && brokenOff.has(error.code) && !metClosingConnection(error)
  if (isBroken) replica.broken(error.message)
  else if (brokenAnswers.has(status)) replica.broken(`The upstream answers ${status}.`)
  else if (status > 0) replica.answered()
}

/** What is passed on as it comes cannot be sent again. */
function isRepeatable({ isReadWhole, arrived }: RunningCall): boolean {
  return isReadWhole || !arrived.head.hasBody
}

/** The last attempt found no connection: its upstream has seen nothing of the call. */
function wasNotSent({ timeline }: RunningCall, error: unknown): error is Failure {
  return error instanceof Failure && error.code === 'upstream_unreachable' && timeline.startedAt === null
}

/** The upstream was just closing this kept connection: a safe request may be sent again (RFC 9110 §9.2.2). */
function metClosingConnection(error: unknown): boolean {
  return error instanceof Failure && error.code === 'upstream_unreachable' && error.shouldRetry === true
}
