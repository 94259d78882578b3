import type { MeterReading } from '../../call/meter-reading.ts'
import type { RequestFacts } from '../request-peek.ts'
import type { UpstreamRequest } from '../upstream/upstream.ts'
import type { AnswerSink } from '../relay.ts'
import { AskedAnswer } from './asked-answer.ts'
import { spliceUsageOption } from './splice-usage-option.ts'

/**
 * What is known of the upstream at one of its paths, where there is anything to know. `unasked`: usage comes
 * without being asked for. `kept`: it cannot be taken out again. `refused`: the field is not known there.
 * `needed`: usage was thought to come unasked, and did not.
 */
type Habit = 'unasked' | 'kept' | 'refused' | 'needed'

/** Of these alone the answers have a form for usage that is sent only where it is asked for. */
const askedPaths: ReadonlySet<string> = new Set(['/v1/chat/completions', '/v1/completions'])

/** A call whose upstream is asked for usage on the gateway's own account. */
export interface AskedCall {
  readonly request: UpstreamRequest
  /** Takes the upstream's answer in the client's place. */
  readonly answer: AskedAnswer
}

/**
 * Asks for the usage of streams that would come without, and remembers, as long as the gateway runs, what its
 * upstream makes of that, for each path on its own.
 */
export class UsageInjection {
  readonly #enabled: boolean
  readonly #habits = new Map<string, Habit>()

  constructor(enabled: boolean) {
    this.#enabled = enabled
  }

  /** The call asked otherwise than its client did, or `null` where it goes as it is. */
  ask(path: string, facts: RequestFacts, request: UpstreamRequest, client: AnswerSink): AskedCall | null {
    if (!this.#concerns(path, facts)) return null
    const habit = this.#habits.get(path) ?? 'needed'
    if (habit !== 'needed') return null
    const { body, bodyBytes } = request
    if (!isList(body) || bodyBytes === null) return null
    const spliced = spliceUsageOption(body, bodyBytes, facts)
    if (spliced === null) return null
    return {
      request: {
        ...request,
        headers: withIdentity(request.headers),
        body: spliced.chunks,
        bodyBytes: spliced.bytes,
      },
      answer: new AskedAnswer(client),
    }
  }

  /** The upstream named the field in its refusal. */
  refused(path: string): void {
    this.#habits.set(path, 'refused')
  }

  /** It refuses the call without the field as well: that was not the reason. */
  refusedAnyway(path: string): void {
    this.#habits.delete(path)
  }

  /** Learns from a call that is over; `asked` is the answer to what {@link ask} made of it, if anything. */
  learn(path: string, facts: RequestFacts, asked: AskedAnswer | null, reading: MeterReading): void {
    const isKept = asked?.isCoded === true || (asked?.hasLength === true && reading.usageEvents > 0)
    if (isKept) this.#habits.set(path, 'kept')
    if (reading.ending !== 'complete' || !this.#concerns(path, facts)) return
    const habit = this.#habits.get(path)
    if (asked === null) {
      // Whoever was thought to send usage unasked, and did not, is asked from now on.
      if (habit === 'unasked' && reading.usage === null) this.#habits.set(path, 'needed')
    } else if (habit === undefined) {
      const { removedEvents } = asked
      if (removedEvents !== null && reading.usageEvents > removedEvents) this.#habits.set(path, 'unasked')
    }
  }

  #concerns(path: string, facts: RequestFacts): boolean {
    return this.#enabled && facts.stream && facts.isObject && !facts.hasIncludeUsage && askedPaths.has(path)
  }
}

/** The answer is to be read as it comes: what is coded cannot be taken apart. */
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

function isList(body: UpstreamRequest['body']): body is readonly Uint8Array[] {
  return Array.isArray(body)
}
