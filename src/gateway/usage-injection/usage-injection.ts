import type { Clock } from '../../call/clock.ts'
import type { CallRecord } from '../../call/call-record.ts'
import type { RequestFacts } from '../http/request-peek.ts'
import type { CallMeter } from '../meter/call-meter.ts'
import { type TransportRequest, isHeld } from '../upstream/transport.ts'
import type { AnswerSink } from '../http/client-response.ts'
import { InjectedAnswer, namesUsageField } from './injected-answer.ts'
import { spliceUsageOption } from './splice-usage-option.ts'

/** Paths whose streams report usage only on request. */
const askedPaths: ReadonlySet<string> = new Set(['/v1/chat/completions', '/v1/completions'])

/**
 * An upstream's reaction to the wish for usage on one of its paths. `unasked`: usage comes without the wish. `kept`:
 * the usage event cannot be removed again. `refused`: the upstream does not know the field. `needed`: usage was
 * expected without the wish, and did not come.
 */
type UsageTreatment = 'unasked' | 'kept' | 'refused' | 'needed'

/** Upstreams change: the gateway learns again after this time. */
const keptMs = 7 * 24 * 3_600_000

/** A call to which the gateway adds the wish for usage. */
export interface InjectedCall<Request> {
  readonly request: Request
  /** Takes the upstream's answer in the client's place. */
  readonly answer: InjectedAnswer
}

/**
 * Asks one upstream for the usage of streams that would come without it, unless the upstream is known to need no wish or
 * to refuse it. What this learns ends with the process.
 */
export class UsageInjection {
  readonly #isEnabled: boolean
  readonly #clock: Pick<Clock, 'now'>
  readonly #learned = new Map<string, { readonly treatment: UsageTreatment; readonly untilMs: number }>()

  constructor(isEnabled: boolean, clock: Pick<Clock, 'now'>) {
    this.#isEnabled = isEnabled
    this.#clock = clock
  }

  /** The request with the wish for usage; `null` if the request goes as its client made it. */
  ask<Request extends TransportRequest>(
    path: string,
    facts: RequestFacts,
    request: Request,
    client: AnswerSink,
  ): InjectedCall<Request> | null {
    if (!this.#concerns(path, facts) || (this.#treatment(path) ?? 'needed') !== 'needed') return null
    const { body, bodyBytes } = request
    if (!isHeld(body) || bodyBytes === null) return null
    const spliced = spliceUsageOption(body, bodyBytes, facts)
    if (spliced === null) return null
    const headers = withIdentity(request.headers)
    return { request: { ...request, ...spliced, headers }, answer: new InjectedAnswer(client) }
  }

  /** The upstream named the field in its refusal. */
  refused(path: string): void {
    this.#learn(path, 'refused')
  }

  /** The upstream also refuses the call without the field, so the field was not the reason. */
  refusedAnyway(path: string): void {
    this.#learned.delete(path)
  }

  /**
   * Learns from a call that is over; `facts` are `null` where its request was not read, `injected` is the answer to what
   * {@link ask} made of it, if anything.
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
      for (const each of askedPaths) if (this.#treatment(each) === undefined) this.#learn(each, 'unasked')
    }
    const isKept = injected?.isCoded === true || (injected?.hasLength === true && meter.usageEvents > 0)
    if (isKept) this.#learn(path, 'kept')
    const isRefused =
      injected !== null && meter.answerEnding === 'stream_error' && namesUsageField(errorMessage ?? '')
    if (isRefused) this.#learn(path, 'refused')
    if (facts !== null && meter.answerEnding === 'complete' && this.#concerns(path, facts)) {
      const treatment = this.#treatment(path)
      if (injected === null) {
        // An upstream that was expected to send usage and did not is asked for it from now on.
        if (treatment === 'unasked' && usageSource === 'none') this.#learn(path, 'needed')
      } else if (treatment === undefined) {
        const { removedEvents } = injected
        if (removedEvents !== null && meter.usageEvents > removedEvents) this.#learn(path, 'unasked')
      }
    }
  }

  #treatment(path: string): UsageTreatment | undefined {
    const known = this.#learned.get(path)
    return known === undefined || known.untilMs <= this.#clock.now() ? undefined : known.treatment
  }

  #learn(path: string, treatment: UsageTreatment): void {
    this.#learned.set(path, { treatment, untilMs: this.#clock.now() + keptMs })
  }

  #concerns(path: string, facts: RequestFacts): boolean {
    const { stream, isObject, hasIncludeUsage } = facts
    return this.#isEnabled && stream && isObject && !hasIncludeUsage && askedPaths.has(path)
  }
}

/** The headers with `Accept-Encoding: identity`: a compressed stream cannot be filtered. */
function withIdentity(headers: readonly string[]): readonly string[] {
  const out: string[] = []
  let named = false
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const name = headers[i] ?? ''
    const isCoding = name.length === 15 && name.toLowerCase() === 'accept-encoding'
    if (isCoding && named) continue
    named ||= isCoding
    out.push(name, isCoding ? 'identity' : (headers[i + 1] ?? ''))
  }
  if (!named) out.push('accept-encoding', 'identity')
  return out
}
