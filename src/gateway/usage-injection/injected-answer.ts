import type { RawHeaders, ResponseHead } from '../../call/response-head.ts'
import { asBuffer, noBytes } from '../../lib/byte-gather.ts'
import { formBegunBy, readAnswerHead } from '../meter/answer-form.ts'
import type { AnswerSink } from '../http/client-response.ts'
import { UsageEventFilter } from './usage-event-filter.ts'

/** Most bytes of a refusal that is read; a longer one is passed on unread. */
const longestRefusal = 65_536
const fieldNames = ['stream_options', 'include_usage']
/** Statuses with which an upstream may refuse the field. Some programs answer 500 or 501 to an unknown field. */
const refusalStatuses: ReadonlySet<number> = new Set([400, 422, 500, 501])

interface HeldRefusal {
  readonly head: ResponseHead
  readonly chunks: Uint8Array[]
  bytes: number
}

/**
 * The answer to a request in which the gateway has asked for usage. The client gets the answer without the
 * usage event, and gets nothing of an answer that refuses the added field. Everything else passes unchanged.
 */
export class InjectedAnswer implements AnswerSink {
  readonly #client: AnswerSink
  #filter: UsageEventFilter | null = null
  #isUndecided = false
  /** A refusal that may be about the field, held until that is known; null without one. */
  #refusal: HeldRefusal | null = null
  /** True if the upstream has refused the field. The client has then got nothing of the answer. */
  isRefused = false
  /** True if the answer has a content coding, although the gateway asked for none. */
  isCoded = false
  /** True if the answer has a `Content-Length`, so that nothing can be removed. */
  hasLength = false

  constructor(client: AnswerSink) {
    this.#client = client
  }

  /** Number of usage events that were removed; `null` if the answer was not filtered. */
  get removedEvents(): number | null {
    return this.#filter?.removedEvents ?? null
  }

  head(head: ResponseHead): void {
    const { form, coding, isLlamaCpp } = readAnswerHead(head.headers)
    this.isCoded = coding !== null
    this.hasLength = head.contentLength !== null
    if (isRefusal(head) && coding === null) {
      this.#refusal = { head, chunks: [], bytes: 0 }
      return
    }
    if (coding === null && !this.hasLength) {
      this.#filter = new UsageEventFilter(isLlamaCpp)
      this.#isUndecided = form !== 'events'
    }
    this.#client.head(head)
  }

  write(chunk: Uint8Array): boolean {
    if (this.#refusal !== null) return this.#hold(this.#refusal, chunk)
    if (this.#isUndecided) this.#decide(asBuffer(chunk))
    if (this.#filter === null) return this.#client.write(chunk)
    return this.#client.write(this.#filter.push(chunk) ?? noBytes)
  }

  end(trailers: RawHeaders): void {
    if (this.#refusal !== null) {
      this.isRefused = namesField(this.#refusal.chunks)
      if (this.isRefused) return
      this.#letGo(this.#refusal)
    }
    this.#endFilter(true)
    this.#client.end(trailers)
  }

  breakOff(): void {
    if (this.#refusal !== null) this.#letGo(this.#refusal)
    this.#endFilter(false)
  }

  /** Decides by the first bytes whether an answer of another type is a stream of events. */
  #decide(chunk: Buffer): void {
    const form = formBegunBy(chunk)
    this.#isUndecided = false
    if (form === 'json' || form === 'words') this.#filter = null
  }

  #hold(refusal: HeldRefusal, chunk: Uint8Array): boolean {
    refusal.chunks.push(Buffer.from(chunk))
    refusal.bytes += chunk.length
    return refusal.bytes <= longestRefusal || this.#letGo(refusal)
  }

  #letGo({ head, chunks }: HeldRefusal): boolean {
    this.#refusal = null
    this.#client.head(head)
    return this.#client.write(Buffer.concat(chunks))
  }

  #endFilter(isComplete: boolean): void {
    const rest = this.#filter?.end(isComplete) ?? null
    if (rest !== null) this.#client.write(rest)
  }
}

function isRefusal({ status, contentLength }: ResponseHead): boolean {
  return refusalStatuses.has(status) && (contentLength ?? 0) <= longestRefusal
}

function namesField(chunks: readonly Uint8Array[]): boolean {
  return namesUsageField(Buffer.concat(chunks).toString('latin1'))
}

/** True if the text of a refusal names the field that asks for usage. */
export function namesUsageField(text: string): boolean {
  return fieldNames.some((name) => text.includes(name))
}
