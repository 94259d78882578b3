import type { RawHeaders, ResponseHead } from '../../call/call-observer.ts'
import { readAnswerHead } from '../meter/answer-head.ts'
import type { AnswerSink } from '../call/relay.ts'
import { UsageEventFilter } from './usage-event-filter.ts'

/** Refusals longer than this are passed on unread, in bytes. */
const longestRefusal = 65_536
const fieldNames = ['stream_options', 'include_usage']
const nothing: Uint8Array = new Uint8Array(0)

interface HeldRefusal {
  readonly head: ResponseHead
  readonly added: readonly string[]
  readonly chunks: Uint8Array[]
  bytes: number
}

/**
 * The answer to a request that asks for usage though its client did not: the client gets it without the usage
 * event, and gets nothing of an answer that refuses the very field. In all else what comes goes on.
 */
export class InjectedAnswer implements AnswerSink {
  readonly #client: AnswerSink
  #filter: UsageEventFilter | null = null
  /** A refusal that may be about the field; held until it is known. */
  #refusal: HeldRefusal | null = null
  #isRefused = false
  #isCoded = false
  #hasLength = false

  constructor(client: AnswerSink) {
    this.#client = client
  }

  /** The upstream named the field in its refusal; the client has seen nothing of it. */
  get isRefused(): boolean {
    return this.#isRefused
  }

  /** The answer came in a content coding after all. */
  get isCoded(): boolean {
    return this.#isCoded
  }

  /** The answer told its length, so that nothing could be taken out of it. */
  get hasLength(): boolean {
    return this.#hasLength
  }

  /** Usage events that the client did not get; `null` where the answer was not looked through. */
  get removedEvents(): number | null {
    return this.#filter?.removedEvents ?? null
  }

  head(head: ResponseHead, added: readonly string[]): void {
    const { form, coding, isLlamaCpp } = readAnswerHead(head.headers)
    this.#isCoded = coding !== null
    this.#hasLength = head.contentLength !== null
    if (isRefusal(head) && coding === null) {
      this.#refusal = { head, added, chunks: [], bytes: 0 }
      return
    }
    const isPlainStream = coding === null && !this.#hasLength
    if (isPlainStream && (form === 'events' || form === null)) {
      this.#filter = new UsageEventFilter({ restoresTimings: isLlamaCpp })
    }
    this.#client.head(head, added)
  }

  write(chunk: Uint8Array): boolean {
    if (this.#refusal !== null) return this.#hold(this.#refusal, chunk)
    const passed = this.#filter === null ? chunk : this.#filter.push(chunk)
    return this.#client.write(passed ?? nothing)
  }

  end(trailers: RawHeaders): void {
    if (this.#refusal !== null) {
      this.#isRefused = namesField(this.#refusal.chunks)
      if (this.#isRefused) return
      this.#letGo(this.#refusal)
    }
    this.#pass(this.#filter?.finish() ?? null)
    this.#client.end(trailers)
  }

  breakOff(): void {
    if (this.#refusal !== null) this.#letGo(this.#refusal)
    this.#pass(this.#filter?.release() ?? null)
  }

  #hold(refusal: HeldRefusal, chunk: Uint8Array): boolean {
    refusal.chunks.push(Buffer.from(chunk))
    refusal.bytes += chunk.length
    return refusal.bytes <= longestRefusal || this.#letGo(refusal)
  }

  #letGo({ head, added, chunks }: HeldRefusal): boolean {
    this.#refusal = null
    this.#client.head(head, added)
    return this.#client.write(Buffer.concat(chunks))
  }

  #pass(bytes: Uint8Array | null): void {
    if (bytes !== null) this.#client.write(bytes)
  }
}

function isRefusal({ status, contentLength }: ResponseHead): boolean {
  return (status === 400 || status === 422) && (contentLength ?? 0) <= longestRefusal
}

function namesField(chunks: readonly Uint8Array[]): boolean {
  const text = Buffer.concat(chunks).toString('latin1')
  return fieldNames.some((name) => text.includes(name))
}
