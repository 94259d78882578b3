import type { Worker } from 'node:worker_threads'
import type { RawLogStatus } from '../api/raw-log.ts'
import type { Warning } from '../call/call-sink.ts'
import { type Clock, systemClock } from '../call/clock.ts'
import type { PayloadCall, PayloadTap, PayloadTaps } from '../call/payload-log.ts'
import { formatBytes } from '../lib/format-bytes.ts'
import { asksNoCapture } from './tap/asks-no-capture.ts'
import { CallTap } from './tap/call-tap.ts'
import { type CaptureRule, formatCaptureRule, isSampled } from './tap/capture-rule.ts'
import { type FeedListener, FeedListeners } from './feed/feed-listeners.ts'
import { LogSwitch } from './tap/log-switch.ts'
import type { FromPayloadWorker, PayloadQuestion, PayloadSettings } from './payload-messages.ts'
import { measureSegments } from './file/payload-segments.ts'
import { PayloadThread, startPayloadWorker } from './payload-thread.ts'
import { TapSender } from './tap/tap-sender.ts'

export interface PayloadLogOptions {
  /** Of the active file, e.g. `logger/payloads.jsonl`; its folder is made when something is written. */
  readonly filePath: string
  readonly capture: CaptureRule
  readonly maxBodyBytes: number
  /** Of all segments: beyond it the oldest goes. */
  readonly totalBytes: number
  readonly salt: Uint8Array
  /** As the gateway's call ids have them. */
  readonly idBits: number
  readonly enabled?: boolean
  readonly clock?: Clock
  readonly segmentBytes?: number
  /** Held in memory in all, here and in the thread. */
  readonly heldBytesLimit?: number
  /** Of feed that is under way between the threads. */
  readonly fedBytesLimit?: number
  readonly flushAfterMs?: number
  /** How long `close` waits for the disk. */
  readonly closeTimeoutMs?: number
  readonly startWorker?: (settings: PayloadSettings) => Worker
}

/** The active segment is at most so much of all of them. */
const leastSegments = 4
/** A batch that is on its way for longer has met a disk that hangs. */
const stallMs = 10_000
/** A size that is older than this is measured anew when it is asked for. */
const sizeGoodForMs = 1000

/**
 * The raw log of payloads and its live feed, from a thread of its own. What stands here is what calls meet: copying,
 * bounded, into batches. Nothing of it throws into a call, waits, or is there for a call that nobody logs or watches.
 */
export class PayloadLog implements PayloadTaps {
  readonly #options: Required<PayloadLogOptions>
  readonly #clock: Clock
  readonly #thread: PayloadThread
  readonly #sender: TapSender
  readonly #switch: LogSwitch
  readonly #listeners: FeedListeners
  #lastTap = 0
  #trouble: string | null = null
  #dropped = 0
  #threadDropped = 0
  #fileBytes = 0
  #measuredAtMs = Number.NEGATIVE_INFINITY
  #closing: Promise<void> | null = null
  #onClosed: () => void = () => {}

  constructor(options: PayloadLogOptions) {
    this.#options = {
      enabled: false,
      clock: systemClock,
      segmentBytes: Math.min(64 * 2 ** 20, Math.ceil(options.totalBytes / leastSegments)),
      heldBytesLimit: 48 * 2 ** 20,
      fedBytesLimit: 16 * 2 ** 20,
      flushAfterMs: 10,
      closeTimeoutMs: 5000,
      startWorker: startPayloadWorker,
      ...options,
    }
    const { clock, maxBodyBytes, heldBytesLimit, flushAfterMs, startWorker, enabled } = this.#options
    this.#clock = clock
    this.#switch = new LogSwitch(clock, enabled, () => this.#tellMode())
    this.#listeners = new FeedListeners(() => this.#tellMode())
    this.#sender = new TapSender({
      clock,
      maxBodyBytes,
      heldBytesLimit,
      flushAfterMs,
      post: (message, transfer) => this.#thread.post(message, transfer),
    })
    this.#thread = new PayloadThread({
      clock,
      startWorker,
      settings: () => this.#settings(),
      started: () => this.#sender.open(),
      received: (message) => this.#receive(message),
      died: () => this.#lose(),
    })
    if (enabled) this.#thread.need()
    this.#measure()
  }

  get isOpen(): boolean {
    return this.#switch.isOn || this.#listeners.size > 0
  }

  /** Null where nobody logs or watches, the rule or the client leaves the call out, or too much is held already. */
  begin(call: PayloadCall): PayloadTap | null {
    const isWatched = this.#listeners.size > 0
    if (!isWatched && !this.#switch.isOn) return null
    if (!isWatched && !isSampled(this.#options.capture, call.call.id)) return null
    if (asksNoCapture(call.headers) || this.#closing !== null) return null
    if (this.#sender.isFull) {
      this.#sender.lost(2)
      return null
    }
    this.#lastTap = (this.#lastTap + 1) >>> 0
    return new CallTap(this.#sender, this.#lastTap, this.#sender.generation, call)
  }

  get enabled(): boolean {
    return this.#switch.isOn
  }

  /** Ms since the Unix epoch at which it switches itself off; null where it does not. */
  get enabledUntilMs(): number | null {
    return this.#switch.untilMs
  }

  /** With `forMs` it switches itself off again. Ends what an earlier call said, and forgets a trouble. */
  toggle(enabled: boolean, forMs: number | null): void {
    if (this.#closing !== null) return
    this.#trouble = null
    this.#switch.set(enabled, forMs)
    this.#tellMode()
  }

  status(): RawLogStatus {
    if (this.#clock.now() - this.#measuredAtMs > sizeGoodForMs) this.#measure()
    const { untilMs, isOn } = this.#switch
    return {
      enabled: isOn,
      enabled_until: untilMs === null ? null : new Date(untilMs).toISOString(),
      capture: formatCaptureRule(this.#options.capture),
      file_path: this.#options.filePath,
      file_size_bytes: this.#fileBytes,
      file_size_formatted: formatBytes(this.#fileBytes),
      subscribers_count: this.#listeners.size,
      dropped: this.#dropped + this.#threadDropped + this.#sender.dropped,
      trouble: this.#trouble,
    }
  }

  warnings(): readonly Warning[] {
    return [this.#off(), this.#thread.warning(), this.#stall()].filter((warning) => warning !== null)
  }

  /** The answer of `GET /v1/raw-log/recent` as JSON, with what has passed by now; rejects where files cannot be read. */
  recent(limit: number): Promise<Uint8Array> {
    return this.#ask({ kind: 'recent', limit })
  }

  /** Empties the log, and leaves it on or off; rejects where files cannot be changed. */
  async clear(): Promise<void> {
    await this.#ask({ kind: 'clear' })
  }

  /** As long as it is not disposed of, the listener is told of every call that begins from now on. */
  watch(listener: FeedListener): Disposable {
    return this.#listeners.add(listener)
  }

  /** Brings to disk what is under way; gives up, and counts it as dropped, after `closeTimeoutMs`. */
  close(): Promise<void> {
    this.#closing ??= new Promise((resolve) => {
      this.#switch.set(false, null)
      if (!this.#thread.isRunning) {
        this.#end()
        resolve()
        return
      }
      const cancel = this.#clock.after(this.#options.closeTimeoutMs, () => this.#onClosed())
      this.#onClosed = () => {
        cancel()
        this.#onClosed = () => {}
        this.#end()
        resolve()
      }
      this.#sender.flush()
      this.#thread.post({ kind: 'close' })
    })
    return this.#closing
  }

  #off(): Warning | null {
    if (this.#trouble === null) return null
    return { code: 'raw_log_off', message: `${this.#trouble}; payloads are no longer logged` }
  }

  /** The thread waits in a call of the system, or has too much to do, and cannot say so itself. */
  #stall(): Warning | null {
    const forMs = this.#sender.waitingMs
    if (forMs < stallMs) return null
    const message = `${this.#options.filePath} has taken nothing for ${Math.floor(forMs / 1000)} s; payloads wait in memory, calls do not`
    return { code: 'raw_log_stalled', message }
  }

  #ask(question: PayloadQuestion): Promise<Uint8Array> {
    if (this.#closing !== null) return Promise.reject(new Error('the raw log is closed'))
    this.#thread.need()
    this.#sender.flush()
    return this.#thread.ask(question)
  }

  #receive(message: FromPayloadWorker): void {
    switch (message.kind) {
      case 'taken':
        this.#sender.taken(message)
        this.#threadDropped = message.dropped
        this.#noteSize(message.fileBytes)
        this.#thread.isWell()
        break
      case 'feed':
        this.#listeners.tell(message)
        this.#thread.post({ kind: 'fed', bytes: message.bytes.length })
        break
      case 'answer':
        this.#noteSize(message.fileBytes)
        break
      case 'trouble':
        this.#trouble = message.message
        this.#switch.set(false, null)
        this.#tellMode()
        break
      case 'closed':
        this.#onClosed()
        break
    }
  }

  #settings(): PayloadSettings {
    const { filePath, segmentBytes, totalBytes, maxBodyBytes, capture, salt, idBits, fedBytesLimit } =
      this.#options
    const mode = { enabled: this.#switch.isOn, fed: this.#listeners.size > 0 }
    return { filePath, segmentBytes, totalBytes, maxBodyBytes, capture, salt, idBits, fedBytesLimit, ...mode }
  }

  #tellMode(): void {
    const [enabled, fed] = [this.#switch.isOn, this.#listeners.size > 0]
    if (enabled || fed) this.#thread.need()
    this.#sender.flush()
    this.#thread.post({ kind: 'mode', enabled, fed })
  }

  #lose(): void {
    const records = this.#sender.lose()
    this.#dropped += this.#threadDropped
    this.#threadDropped = 0
    this.#listeners.tellDropped(records)
    this.#onClosed()
  }

  #noteSize(bytes: number): void {
    this.#fileBytes = bytes
    this.#measuredAtMs = this.#clock.now()
  }

  /** Off the loop: a disk that hangs holds up nobody. */
  #measure(): void {
    this.#measuredAtMs = this.#clock.now()
    measureSegments(this.#options.filePath).then(
      (bytes) => {
        this.#fileBytes = bytes
      },
      () => {
        // It stays as it was; writing tells what is wrong.
      },
    )
  }

  #end(): void {
    this.#sender.lose()
    this.#thread.end()
  }
}
