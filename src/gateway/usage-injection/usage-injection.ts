import type { Clock } from '../../call/clock.ts'
import type { CallRecord } from '../../call/call-record.ts'
import type { RequestFacts } from '../http/request-peek.ts'
import type { CallMeter } from '../meter/call-meter.ts'
import type { TransportRequest } from '../upstream/transport.ts'
import type { AnswerSink } from '../http/client-response.ts'
import { InjectedAnswer, namesUsageField } from './injected-answer.ts'
import { requestForUsage } from './usage-request.ts'

/** Paths whose streams report usage only on request. */
const askedPaths: ReadonlySet<string> = new Set(['/v1/chat/completions', '/v1/completions'])

/**
 * How an upstream reacts on a path if it is asked for usage.
 * - `unasked`: usage comes without being asked for.
 * - `kept`: the usage event cannot be removed.
 * - `refused`: the upstream refuses the field.
 * - `needed`: usage was expected unasked, and did not come.
 */
type UsageTreatment = 'unasked' | 'kept' | 'refused' | 'needed'

/** The gateway learns again after this time, because upstreams change. */
const keptMs = 7 * 24 * 3_600_000

/** A call for which the gateway asks for usage. */
export interface InjectedCall {
  readonly request: TransportRequest
  /** Filters the upstream's answer before the client gets it. */
  readonly answer: InjectedAnswer
}

/**
 * Asks an upstream for the usage of a stream if its client did not. Upstreams that are known to send usage unasked,
 * or to refuse the field, are not asked. The knowledge ends with the process.
 */
export class UsageInjection {
  readonly #isEnabled: boolean
  readonly #clock: Pick<Clock, 'now'>
  readonly #learned = new Map<string, { readonly treatment: UsageTreatment; readonly untilMs: number }>()

  constructor(isEnabled: boolean, clock: Pick<Clock, 'now'>) {
    this.#isEnabled = isEnabled
    this.#clock = clock
  }

  /** The request that asks for usage; `null` if the request is sent as its client made it. */
  ask(path: string, facts: RequestFacts, request: TransportRequest, client: AnswerSink): InjectedCall | null {
    if (!this.#concerns(path, facts) || (this.#treatment(path) ?? 'needed') !== 'needed') return null
    const asking = requestForUsage(request, facts)
    return asking === null ? null : { request: asking, answer: new InjectedAnswer(client) }
  }

  /** Call it when the upstream has refused the field. */
  refused(path: string): void {
    this.#learn(path, 'refused')
  }

  /** Call it when the upstream has also refused the call without the field, which was not the reason then. */
  refusedAnyway(path: string): void {
    this.#learned.delete(path)
  }

  /**
   * Learns from an ended call. `facts` is `null` if the request was not read. `injected` is the answer to a
   * request of {@link ask}; null if there was none.
   */
  learn(
    path: string,
    facts: RequestFacts | null,
    injected: InjectedAnswer | null,
    meter: CallMeter,
    { usageSource, errorMessage }: Pick<CallRecord, 'usageSource' | 'errorMessage'>,
  ): void {
    if (!this.#isEnabled) return
    if (meter.isLlamaCpp) {
      for (const askedPath of askedPaths)
        if (this.#treatment(askedPath) === undefined) this.#learn(askedPath, 'unasked')
    }
    const isKept = injected?.isCoded === true || (injected?.hasLength === true && meter.usageEvents > 0)
    if (isKept) this.#learn(path, 'kept')
    const isRefused =
      injected !== null && meter.answerEnding === 'stream_error' && namesUsageField(errorMessage ?? '')
    if (isRefused) this.#learn(path, 'refused')
    if (facts !== null && meter.answerEnding === 'complete' && this.#concerns(path, facts)) {
      const treatment = this.#treatment(path)
      if (injected === null) {
        // Usage was expected unasked and did not come, so the upstream is asked from now on.
        if (treatment === 'unasked' && usageSource === 'none') this.#learn(path, 'needed')
      } else if (treatment === undefined) {
        const { removedEvents } = injected
        if (removedEvents !== null && meter.usageEvents > removedEvents) this.#learn(path, 'unasked')
      }
    }
  }

  #treatment(path: string): UsageTreatment | undefined {
    const learned = this.#learned.get(path)
    return learned === undefined || learned.untilMs <= this.#clock.now() ? undefined : learned.treatment
  }

  #learn(path: string, treatment: UsageTreatment): void {
    this.#learned.set(path, { treatment, untilMs: this.#clock.now() + keptMs })
  }

  #concerns(path: string, facts: RequestFacts): boolean {
    const { stream, isObject, hasIncludeUsage } = facts
    return this.#isEnabled && stream && isObject && !hasIncludeUsage && askedPaths.has(path)
  }
}
