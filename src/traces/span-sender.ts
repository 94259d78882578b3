import { backoffMs } from '../lib/backoff.ts'
import type { Warn } from '../call/row-observer.ts'
import type { Clock } from '../call/clock.ts'
import { messageOf } from '../lib/errors.ts'
import { retryAfterMs } from '../lib/http/retry-after.ts'
import { maskKeys } from '../secrets/key-shapes.ts'
import type { CallSpan } from './call-span.ts'
import { type JsonSpans, readAcceptance } from './json-spans.ts'
import type { Reply, SpanReceiver } from './span-receiver.ts'

/** The options of {@link SpanSender}. */
export interface SpanSenderOptions {
  readonly encoder: JsonSpans
  readonly receiver: SpanReceiver
  /** The receiver's name in warnings. */
  readonly url: string
  /** Secrets that no message may quote, even if the receiver repeats them. */
  readonly secrets: readonly string[]
  readonly clock: Pick<Clock, 'after' | 'wallTime'>
  readonly warn: Warn
  /** Random numbers from 0 to below 1, for pauses. */
  readonly random?: () => number
}

/** The numbers of held spans, and of all others since the start. */
export interface SpanFigures {
  readonly spans: number
  readonly bytes: number
  readonly sent: number
  readonly dropped: number
}

interface Batch {
  readonly count: number
  readonly body: Buffer
}

const batch = { spans: 512, bytes: 2 ** 20, afterMs: 5000 } as const
/** Most spans, and most bytes, in memory; beyond these limits the oldest are dropped. */
export const bufferLimits = { spans: 10_000, bytes: 16 * 2 ** 20 } as const
/** Pauses (ms): between tries, after a refusal, and the longest that a receiver can ask for. */
const pause = { firstMs: 1000, longestMs: 30_000, refusedMs: 60_000, askedMs: 3_600_000 } as const
/** Time limit (ms) for the last batches. */
const closeMs = 1500
/** The statuses that are tried again (OTLP/HTTP, "Failures"). */
const passing: ReadonlySet<number> = new Set([429, 502, 503, 504])
/** Most characters of a receiver's answer in a warning. */
const longestQuote = 200

/** Sends spans in batches, one after the other. No method throws or waits; memory is bounded, and losses are counted. */
export class SpanSender {
  readonly #options: SpanSenderOptions
  /** Encoded spans that are not in a batch yet. */
  #open: string[] = []
  #openBytes = 0
  /** Batches, the oldest first; the first may be in a running request. */
  readonly #batches: Batch[] = []
  #sending: Promise<void> | null = null
  /** Cancels the timer of the next batch; null without one. */
  #cancelFlush: (() => void) | null = null
  /** Cancels the present pause; null without one. */
  #cancelPause: (() => void) | null = null
  #failures = 0
  #sent = 0
  #dropped = 0
  readonly #closing = new AbortController()
  #isClosed = false

  constructor(options: SpanSenderOptions) {
    this.#options = options
  }

  get figures(): SpanFigures {
    const spans = this.#batches.reduce((sum, { count }) => sum + count, this.#open.length)
    const bytes = this.#batches.reduce((sum, { body }) => sum + body.length, this.#openBytes)
    return { spans, bytes, sent: this.#sent, dropped: this.#dropped }
  }

  add(span: CallSpan): void {
    if (this.#isClosed) {
      this.#drop(1)
      return
    }
    const text = this.#options.encoder.encode(span)
    this.#open.push(text)
    this.#openBytes += Buffer.byteLength(text)
    if (this.#open.length >= batch.spans || this.#openBytes >= batch.bytes) {
      this.#seal()
      this.#send()
    } else if (this.#open.length === 1) {
      this.#cancelFlush = this.#options.clock.after(batch.afterMs, () => {
        this.#cancelFlush = null
        this.#send()
      })
    }
  }

  /** Sends the last batches for up to 1.5 s if the receiver was well, drops the rest, and closes the connection. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#seal()
    const cancel = this.#options.clock.after(closeMs, () => this.#closing.abort())
    this.#send()
    await this.#sending
    cancel()
    this.#cancelPause?.()
    this.#options.receiver.close()
    const unsentSpans = this.#batches.splice(0).reduce((sum, { count }) => sum + count, 0)
    if (unsentSpans > 0) this.#drop(unsentSpans)
  }

  /** Makes a batch of the spans that wait, and room for the next one. */
  #seal(): void {
    this.#cancelFlush?.()
    this.#cancelFlush = null
    if (this.#open.length === 0) return
    this.#batches.push({ count: this.#open.length, body: this.#options.encoder.request(this.#open) })
    this.#open = []
    this.#openBytes = 0
    const onItsWay = this.#sending === null ? 0 : 1
    let dropped = 0
    for (;;) {
      const { spans, bytes } = this.figures
      // Leaves room for the batch that is filled next.
      if (spans <= bufferLimits.spans - batch.spans && bytes <= bufferLimits.bytes - batch.bytes) break
      const [oldest] = this.#batches.splice(onItsWay, 1)
      if (oldest === undefined) break
      dropped += oldest.count
    }
    if (dropped > 0) this.#drop(dropped)
  }

  #drop(count: number): void {
    this.#dropped += count
    const { url } = this.#options
    const message = `${this.#dropped} spans were dropped since the start: ${url} accepted them too slowly, or none for too long`
    this.#options.warn('otlp loss', { code: 'otlp_dropped', message })
  }

  #send(): void {
    if (this.#sending === null && this.#cancelPause === null && this.#next() !== undefined) {
      this.#sending = this.#sendAll()
    }
  }

  /** The oldest batch; spans that are due become a batch first. */
  #next(): Batch | undefined {
    if (this.#batches.length === 0 && this.#cancelFlush === null) this.#seal()
    return this.#batches[0]
  }

  async #sendAll(): Promise<void> {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      const pauseMs = await this.#try(next)
      if (pauseMs === null) continue
      this.#cancelPause = this.#options.clock.after(pauseMs, () => {
        this.#cancelPause = null
        this.#send()
      })
      break
    }
    this.#sending = null
  }

  /** Sends a batch. Resolves with the pause before the next one in milliseconds; null without a pause. */
  async #try(next: Batch): Promise<number | null> {
    let reply: Reply
    try {
      reply = await this.#options.receiver.post(next.body, this.#closing.signal)
    } catch (error) {
      const reason = messageOf(error)
      return this.#again(
        reason === '' && error instanceof AggregateError ? messageOf(error.errors[0]) : reason,
      )
    }
    const { status, retryAfter } = reply
    if (passing.has(status)) return this.#again(`it answers ${status}`, retryAfter)
    this.#batches.shift()
    this.#failures = 0
    if (status < 200 || status > 299) return this.#refused(next, status)
    this.#accepted(next, reply.body)
    return null
  }

  #again(reason: string, retryAfter: string | null = null): number {
    const { url, clock, random = Math.random } = this.#options
    const { spans, dropped } = this.figures
    const message = `${url} does not accept spans: ${reason}; ${spans} wait, ${dropped} were dropped since the start; calls are served and recorded as before`
    this.#options.warn('otlp', { code: 'otlp_unreachable', message })
    const longestMs = backoffMs(pause, ++this.#failures)
    const askedMs = retryAfterMs(retryAfter, clock.wallTime())
    if (askedMs !== null) return Math.min(pause.askedMs, Math.max(pause.firstMs, askedMs))
    return longestMs * (0.5 + random() / 2)
  }

  #refused({ count }: Batch, status: number): number {
    this.#dropped += count
    const hint =
      status === 401 || status === 403
        ? 'see OTEL_EXPORTER_OTLP_HEADERS'
        : status === 415
          ? 'it does not accept JSON: send the spans through an OpenTelemetry Collector'
          : 'see --otlp-endpoint: it may be the address of something else'
    const message = `${this.#options.url} refused ${count} spans with status ${status}; ${this.#dropped} were dropped since the start, and the next ones are sent in a minute; ${hint}`
    this.#options.warn('otlp', { code: 'otlp_refused', message })
    return pause.refusedMs
  }

  /** Counts a batch that the receiver accepted, at least in part. */
  #accepted({ count }: Batch, body: Buffer): void {
    const { url, warn } = this.#options
    let [rejected, message] = [0, '']
    try {
      ;({ rejected, message } = readAcceptance(body))
    } catch {
      // Some receivers send another body, or none; they have accepted the spans all the same.
    }
    const lostSpans = Math.min(count, Math.max(0, rejected))
    this.#dropped += lostSpans
    this.#sent += count - lostSpans
    const quoted = message === '' ? '' : `: ${this.#quoted(message)}`
    const rejection = `${url} rejected ${rejected} of the spans${quoted}`
    warn('otlp', null)
    warn('otlp loss', rejected > 0 || quoted !== '' ? { code: 'otlp_rejected', message: rejection } : null)
  }

  /** The receiver's text without secrets and control characters. */
  #quoted(text: string): string {
    let quoted = text.slice(0, longestQuote * 4)
    for (const secret of this.#options.secrets) quoted = quoted.replaceAll(secret, '…')
    return maskKeys(quoted, true)
      .replaceAll(/\p{C}+/gu, ' ')
      .slice(0, longestQuote)
  }
}
