import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { RawLogStatus } from '../api/raw-log.ts'
import type { Warning } from '../call/call-sink.ts'
import { type Clock, systemClock, withTimeout } from '../call/clock.ts'
import type { PayloadCall, PayloadCopy, PayloadListener, PayloadPort } from '../call/payload-port.ts'
import { messageOf } from '../lib/errors.ts'
import { bytes } from '../lib/number-format.ts'
import { WorkerHost } from '../lib/process/worker-host.ts'
import { measureSegments } from './file/payload-segments.ts'
import type {
  FromPayloadWorker,
  PayloadQuestion,
  PayloadSettings,
  ToPayloadWorker,
} from './payload-messages.ts'
import { asksNoCapture } from './copy/asks-no-capture.ts'
import { CallCopy } from './copy/call-copy.ts'
import { keepingOf } from './copy/capture-rule.ts'
import { RecordSender } from './copy/record-sender.ts'
import { reportFault } from '../lib/fault.ts'

export interface RawLogOptions
  extends
    Omit<PayloadSettings, 'enabled' | 'fed' | 'segmentBytes' | 'fedBytesLimit'>,
    Partial<Pick<PayloadSettings, 'segmentBytes' | 'fedBytesLimit'>> {
  /** The rule that selects the calls, as in `--raw-log-capture`. */
  readonly capture: string
  readonly clock?: Clock
  /** Most bytes of memory for calls and for batches under way. */
  readonly heldBytesLimit?: number
  readonly flushAfterMs?: number
  /** Time limit of `close` for writing. */
  readonly closeTimeoutMs?: number
  readonly startWorker?: (settings: PayloadSettings) => Worker
}

/** The limit of all segments is at least this many times the size of a segment. */
const leastSegments = 4
/** If a batch is unanswered for this time, the disk hangs. */
const stallMs = 10_000
/** How long a warning of a dead thread lasts, if no batch shows that the next thread works. */
const deathShownMs = 10_000
/** A size that is older than this is measured again on request. */
const sizeGoodForMs = 1000

/** Starts the thread, whose file is beside this one, with the same extension in source and build. */
export function startPayloadWorker(settings: PayloadSettings): Worker {
  const file = new URL(`./payload-worker${extname(import.meta.url)}`, import.meta.url)
  return new Worker(file, { workerData: settings, name: 'tokenweir-payloads' })
}

/**
 * The raw log of payloads and its live feed, off at first. Bodies are copied here, within limits, and sent to a thread
 * that composes and writes the records. No call waits, gets an exception, or pays for the log unless it is logged or
 * watched.
 */
export class RawLog implements PayloadPort {
  readonly #options: Required<RawLogOptions>
  readonly #clock: Clock
  readonly #thread: WorkerHost<ToPayloadWorker, FromPayloadWorker>
  #enabled = false
  #capture: string
  /** When the log switches itself off, in ms since the Unix epoch; null for until further notice. */
  #untilMs: number | null = null
  #cancelOff: () => void = () => {}
  readonly #listeners = new Set<PayloadListener>()
  /** The sender to the thread; null without one. */
  #sender: RecordSender | null = null
  #trouble: string | null = null
  /** Why the last thread died; null once the next one works. */
  #deathReason: string | null = null
  #diedAtMs = 0
  #dropped = 0
  #fileBytes = 0
  #measuredAtMs = Number.NEGATIVE_INFINITY
  #measuring: Promise<void> | null = null
  #closing: Promise<void> | null = null
  /** Resolves when the thread has written everything, or is gone. */
  #isDone = Promise.withResolvers<void>()

  constructor(options: RawLogOptions) {
    this.#options = {
      clock: systemClock,
      segmentBytes: Math.min(64 * 2 ** 20, Math.ceil(options.totalBytes / leastSegments)),
      heldBytesLimit: 48 * 2 ** 20,
      fedBytesLimit: 16 * 2 ** 20,
      flushAfterMs: 10,
      closeTimeoutMs: 5000,
      startWorker: startPayloadWorker,
      ...options,
    }
    const { clock, startWorker } = this.#options
    this.#clock = clock
    this.#capture = this.#options.capture
    this.#thread = new WorkerHost({
      clock,
      start: () => startWorker(this.#settings()),
      started: () => this.#open(),
      received: (message) => this.#receive(message),
      died: (reason) => this.#died(reason),
    })
    this.#refreshSize()
  }

  get isOpen(): boolean {
    return this.#enabled || this.#listeners.size > 0
  }

  /**
   * Begins the copy of a call's payloads. Null if the call is neither logged nor watched, if its client
   * excluded it, if copies use too much memory, or after an error, which the call's `onFault` gets.
   */
  begin(call: PayloadCall): PayloadCopy | null {
    try {
      return this.#begin(call)
    } catch (error) {
      call.onFault(error)
      return null
    }
  }

  #begin(call: PayloadCall): PayloadCopy | null {
    const keeping = this.#enabled ? keepingOf(this.#capture, call.call.id) : 'never'
    const isFed = this.#listeners.size > 0
    if (keeping === 'never' && !isFed) return null
    if (asksNoCapture(call.headers) || this.#closing !== null) return null
    if (this.#sender?.hasRoom !== true) {
      this.#dropped += 2
      return null
    }
    if (isFed) {
      const { id: callId, method } = call.call
      this.#sender.send({
        kind: 'started',
        callId,
        method,
        path: call.path,
        wallTimeMs: this.#clock.wallTime(),
      })
    }
    return new CallCopy(this.#sender, call, keeping)
  }

  get enabled(): boolean {
    return this.#enabled
  }

  /** When the log switches itself off, in ms since the Unix epoch; null for until further notice. */
  get enabledUntilMs(): number | null {
    return this.#untilMs
  }

  /** Switches the log on or off; with `forMs`, only for this time. Replaces an earlier switch, and clears `trouble`. */
  toggle(enabled: boolean, forMs: number | null): void {
    if (this.#closing !== null) return
    this.#trouble = null
    this.#switch(enabled, forMs)
  }

  /** Sets the rule for calls that begin from now on. */
  setCapture(rule: string): void {
    this.#capture = rule
  }

  status(): RawLogStatus {
    this.#refreshSize()
    const untilMs = this.#untilMs
    return {
      enabled: this.#enabled,
      enabled_until: untilMs === null ? null : new Date(untilMs).toISOString(),
      capture: this.#capture,
      file_path: this.#options.filePath,
      file_size_bytes: this.#fileBytes,
      file_size_formatted: bytes(this.#fileBytes),
      subscribers_count: this.#listeners.size,
      dropped: this.#dropped,
      trouble: this.#trouble,
    }
  }

  warnings(): readonly Warning[] {
    const warnings: Warning[] = []
    if (this.#trouble !== null) {
      warnings.push({ code: 'raw_log_off', message: `${this.#trouble}; payloads are no longer logged` })
    }
    const isOver = this.#thread.isRunning && this.#clock.now() - this.#diedAtMs > deathShownMs
    if (this.#deathReason !== null && !isOver) {
      const message = `the thread of the raw log failed: ${this.#deathReason}`
      warnings.push({ code: 'raw_log_restarted', message })
    }
    // A thread that is blocked or overloaded cannot report that itself.
    const waitingMs = this.#sender?.waitingMs ?? 0
    if (waitingMs >= stallMs) {
      const message = `${this.#options.filePath} could not be written for ${Math.floor(waitingMs / 1000)} s; payloads wait in memory, calls do not`
      warnings.push({ code: 'raw_log_stalled', message })
    }
    return warnings
  }

  /** The answer of `GET /v1/raw-log/recent` as JSON, with all records so far. Rejects if files cannot be read. */
  recent(limit: number): Promise<Uint8Array> {
    return this.#ask({ kind: 'recent', limit })
  }

  /** Empties the log, and leaves it on or off. Rejects if files cannot be changed. */
  async clear(): Promise<void> {
    await this.#ask({ kind: 'clear' })
  }

  /** Sends the feed of calls that begin from now on to a listener, until disposed. A listener that throws gets no more. */
  watch(listener: PayloadListener): Disposable {
    this.#listeners.add(listener)
    if (this.#listeners.size === 1) this.#sendMode()
    return { [Symbol.dispose]: () => this.#unwatch(listener) }
  }

  /** Writes the records under way; after `closeTimeoutMs`, counts the rest as dropped. */
  close(): Promise<void> {
    return (this.#closing ??= this.#close())
  }

  async #close(): Promise<void> {
    this.#cancelOff()
    this.#enabled = false
    if (this.#sender !== null) {
      this.#sender.flush()
      this.#thread.post({ kind: 'close' })
      await withTimeout(this.#clock, this.#options.closeTimeoutMs, this.#isDone.promise)
    }
    this.#countLost()
    this.#thread.end()
  }

  #switch(enabled: boolean, forMs: number | null): void {
    this.#cancelOff()
    this.#enabled = enabled
    this.#untilMs = null
    if (enabled && forMs !== null) {
      this.#untilMs = this.#clock.wallTime() + forMs
      this.#cancelOff = this.#clock.after(forMs, () => this.#switch(false, null), { background: true })
    }
    this.#sendMode()
  }

  async #ask(question: PayloadQuestion): Promise<Uint8Array> {
    if (this.#closing !== null) throw new Error('the raw log is closed')
    this.#thread.need()
    this.#sender?.flush()
    const { json, trouble } = await this.#thread.ask(question).catch((error: unknown) => {
      throw new Error(`the thread of the raw log failed: ${messageOf(error)}`, { cause: error })
    })
    if (trouble !== null) throw new Error(trouble)
    await this.#measuring
    await this.#measureFolder()
    return json
  }

  #receive(message: FromPayloadWorker): void {
    switch (message.kind) {
      case 'taken':
        this.#sender?.acknowledge()
        this.#dropped += message.dropped
        this.#refreshSize()
        this.#thread.isWell()
        this.#deathReason = null
        break
      case 'feed':
        this.#sendFeed(message)
        break
      case 'trouble':
        this.#trouble = message.message
        this.#switch(false, null)
        break
      case 'answer':
        // `WorkerHost` has passed the answer on.
        break
      case 'closed':
        // The thread ends by itself now, which is no failure.
        this.#thread.end()
        this.#isDone.resolve()
        break
    }
  }

  #sendFeed({ bytes, events, lost }: Extract<FromPayloadWorker, { kind: 'feed' }>): void {
    let at = 0
    const payloadEvents = events.map(({ seq, length }) => ({ seq, json: bytes.subarray(at, (at += length)) }))
    if (lost > 0) this.#notify((listener) => listener.dropped(lost))
    this.#notify((listener) => listener.events(payloadEvents))
    this.#thread.post({ kind: 'fed', bytes: bytes.length })
  }

  #notify(call: (listener: PayloadListener) => void): void {
    for (const listener of this.#listeners) {
      try {
        call(listener)
      } catch {
        this.#unwatch(listener)
      }
    }
  }

  #unwatch(listener: PayloadListener): void {
    if (this.#listeners.delete(listener) && this.#listeners.size === 0) this.#sendMode()
  }

  #settings(): PayloadSettings {
    const { filePath, segmentBytes, totalBytes, maxBodyBytes, salt, idBits, fedBytesLimit } = this.#options
    const file = { filePath, segmentBytes, totalBytes, idBits }
    return { ...file, maxBodyBytes, salt, fedBytesLimit, ...this.#mode() }
  }

  #mode(): Pick<PayloadSettings, 'enabled' | 'fed'> {
    return { enabled: this.#enabled, fed: this.#listeners.size > 0 }
  }

  #sendMode(): void {
    if (this.isOpen) this.#thread.need()
    this.#sender?.flush()
    this.#thread.post({ kind: 'mode', ...this.#mode() })
  }

  #open(): void {
    this.#isDone = Promise.withResolvers()
    this.#sender = new RecordSender({
      ...this.#options,
      post: (message, transfer) => this.#thread.post(message, transfer),
      onLost: (records) => {
        this.#dropped += records
      },
    })
  }

  #died(reason: string): void {
    this.#deathReason = reason
    this.#diedAtMs = this.#clock.now()
    this.#countLost()
    if (this.isOpen) this.#thread.need()
  }

  #countLost(): void {
    const records = this.#sender?.close() ?? 0
    this.#sender = null
    this.#dropped += records
    if (records > 0) this.#notify((listener) => listener.dropped(records))
    this.#isDone.resolve()
  }

  #refreshSize(): void {
    if (this.#clock.now() - this.#measuredAtMs > sizeGoodForMs) this.#measureFolder().catch(reportFault)
  }

  /** Measures the files asynchronously, never twice at the same time, so that a hanging disk delays no call. */
  #measureFolder(): Promise<void> {
    this.#measuredAtMs = this.#clock.now()
    this.#measuring ??= measureSegments(this.#options.filePath)
      .then(
        (bytes) => {
          this.#fileBytes = bytes
        },
        () => {
          // The size stays; the next write reports the error.
        },
      )
      .finally(() => {
        this.#measuring = null
      })
    return this.#measuring
  }
}
