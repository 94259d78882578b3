import type { RawHeaders, ResponseHead } from '../../call/response-head.ts'
import { asBuffer } from '../../lib/byte-gather.ts'
import { readAnswerHead } from '../meter/answer-head.ts'
import { formBegunBy } from '../meter/begun-form.ts'
import type { AnswerSink } from '../http/client-response.ts'
import { UsageEventFilter } from './usage-event-filter.ts'

/** Refusals longer than this are passed on unread, in bytes. */
const longestRefusal = 65_536
const fieldNames = ['stream_options', 'include_usage']
/** Statuses with which an upstream may refuse the field. Programs that know no further fields send the last two. */
const refusalStatuses: ReadonlySet<number> = new Set([400, 422, 500, 501])
const noBytes: Uint8Array = new Uint8Array(0)

interface HeldRefusal {
  readonly head: ResponseHead
  readonly chunks: Uint8Array[]
  bytes: number
}

/**
 * The answer to a request to which the gateway added the wish for usage. The client gets it without the usage
 * event, and gets nothing of an answer that refuses the added field. Everything else passes unchanged.
 */
export class InjectedAnswer implements AnswerSink {
  readonly #client: AnswerSink
  #filter: UsageEventFilter | null = null
  #isUndecided = false
  /** A refusal that may be about the field; held until it is known. */
  #refusal: HeldRefusal | null = null
  /** The upstream named the field in its refusal; the client has seen nothing of it. */
  isRefused = false
  /** The answer came in a content coding after all. */
  isCoded = false
  /** True if the answer has a length, so that nothing could be removed from it. */
  hasLength = false

  constructor(client: AnswerSink) {
    this.#client = client
  }

  /** Usage events that the client did not get; `null` if the answer was not looked through. */
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

  /** An answer that is no stream of events by its type may be one by its first bytes. */
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

/** True if the words of a refusal are about the wish for usage. */
export function namesUsageField(text: string): boolean {
  return fieldNames.some((name) => text.includes(name))
}
