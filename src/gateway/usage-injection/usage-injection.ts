import type { Clock } from '../../call/clock.ts'
import type { CallRecord } from '../../call/call-record.ts'
import { noBytes } from '../../lib/byte-gather.ts'
import { uncoded } from '../../lib/http/header-list.ts'
import { isObject } from '../../lib/message-shape.ts'
import type { RequestFacts } from '../http/request-peek.ts'
import type { CallMeter } from '../meter/call-meter.ts'
import { type TransportRequest, isHeld } from '../upstream/transport.ts'
import type { AnswerSink } from '../http/client-response.ts'
import { InjectedAnswer, namesUsageField } from './injected-answer.ts'

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

/** The member that asks for usage. */
const option = '"include_usage":true'

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

/** The request with the field that asks for usage; null if the field cannot be added. */
function requestForUsage(request: TransportRequest, facts: RequestFacts): TransportRequest | null {
  const { body, bodyBytes } = request
  if (!isHeld(body) || bodyBytes === null) return null
  const spliced = spliceUsageOption(body, bodyBytes, facts)
  // A compressed stream cannot be filtered.
  return spliced === null ? null : { ...request, ...spliced, headers: uncoded(request.headers) }
}

/** A request body with the field that asks for usage spliced in. */
interface SplicedBody {
  /** The chunks of the body. Only those at the splice differ from the client's. */
  readonly body: readonly Uint8Array[]
  readonly bodyBytes: number
}

/**
 * Adds `stream_options.include_usage` to the bytes of a JSON object that asks for a stream and has no such
 * key. Other bytes are neither changed nor read. Returns `null` if `stream_options` is no object.
 */
export function spliceUsageOption(
  chunks: readonly Uint8Array[],
  bytes: number,
  { streamOptions: options, firstAt }: Pick<RequestFacts, 'streamOptions' | 'firstAt'>,
): SplicedBody | null {
  const spliced = (start: number, end: number, piece: string): SplicedBody => {
    const before = slice(chunks, 0, start)
    const after = slice(chunks, end, bytes)
    // The three pieces are joined, so that the number of writes stays the same.
    const mended = Buffer.concat([before.pop() ?? noBytes, Buffer.from(piece), after.shift() ?? noBytes])
    return { body: [...before, mended, ...after], bodyBytes: bytes + piece.length - (end - start) }
  }
  // Inserted after the first brace. The object has a `stream`, so a comma follows.
  if (options === null) return spliced(firstAt + 1, firstAt + 1, `"stream_options":{${option}},`)
  if (options.value === null) return spliced(options.start, options.end, `{${option}}`)
  if (!isObject(options.value)) return null
  const isEmpty = Object.keys(options.value).length === 0
  return spliced(options.start + 1, options.start + 1, isEmpty ? option : `${option},`)
}

/** The bytes of a body from `start` to before `end`, as views of its chunks. */
function slice(chunks: readonly Uint8Array[], start: number, end: number): Uint8Array[] {
  const pieces: Uint8Array[] = []
  let at = 0
  for (const chunk of chunks) {
    const piece = chunk.subarray(Math.max(0, start - at), Math.max(0, end - at))
    if (piece.length > 0) pieces.push(piece)
    at += chunk.length
  }
  return pieces
}
