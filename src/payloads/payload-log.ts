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
import { type CaptureRule, formatCaptureRule, keepingOf } from './copy/capture-rule.ts'
import { RecordSender } from './copy/record-sender.ts'
import { reportFault } from '../lib/fault.ts'

export interface PayloadLogOptions
  extends
    Omit<PayloadSettings, 'enabled' | 'fed' | 'segmentBytes' | 'fedBytesLimit'>,
    Partial<Pick<PayloadSettings, 'enabled' | 'segmentBytes' | 'fedBytesLimit'>> {
  readonly capture: CaptureRule
  readonly clock?: Clock
  /** Held in memory in all, here and in the thread. */
  readonly heldBytesLimit?: number
  readonly flushAfterMs?: number
  /** How long `close` waits for the disk. */
  readonly closeTimeoutMs?: number
  readonly startWorker?: (settings: PayloadSettings) => Worker
}

/** The active segment is at most so much of all of them. */
const leastSegments = 4
/** A batch that is on its way for longer has met a disk that hangs. */
const stallMs = 10_000
/** How long a thread that died is told of if nothing passes that shows that the next is well. */
const deathShownMs = 10_000
/** A size that is older than this is measured anew when it is asked for. */
const sizeGoodForMs = 1000

/** Both compiled and as source the worker's file lies beside this one and ends as it does. */
export function startPayloadWorker(settings: PayloadSettings): Worker {
  const file = new URL(`./payload-worker${extname(import.meta.url)}`, import.meta.url)
  return new Worker(file, { workerData: settings, name: 'tokenweir-payloads' })
}

/**
 * The raw log of payloads and its live feed, from a thread of its own. What stands here is what calls meet: copying,
 * bounded, into batches. Nothing of it throws into a call, waits, or is there for a call that nobody logs or watches.
 */
export class PayloadLog implements PayloadPort {
  readonly #options: Required<PayloadLogOptions>
  readonly #clock: Clock
  readonly #thread: WorkerHost<ToPayloadWorker, FromPayloadWorker>
  #enabled: boolean
  #capture: CaptureRule
  /** Ms since the Unix epoch; null where it stays as it is. */
  #untilMs: number | null = null
  #cancelOff: () => void = () => {}
  readonly #listeners = new Set<PayloadListener>()
  /** Null while there is no thread. */
  #sender: RecordSender | null = null
  #trouble: string | null = null
  /** Why the thread died last, until the next one is well. */
  #deathReason: string | null = null
  #diedAtMs = 0
  #dropped = 0
  #fileBytes = 0
  #measuredAtMs = Number.NEGATIVE_INFINITY
  #measuring: Promise<void> | null = null
  #closing: Promise<void> | null = null
  /** The thread that runs has brought all to disk, or is gone. */
  #isDone = Promise.withResolvers<void>()

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
    const { clock, startWorker, enabled } = this.#options
    this.#clock = clock
    this.#enabled = enabled
    this.#capture = this.#options.capture
    this.#thread = new WorkerHost({
      clock,
      start: () => startWorker(this.#settings()),
      started: () => this.#open(),
      received: (message) => this.#receive(message),
      died: (reason) => this.#died(reason),
    })
    if (enabled) this.#thread.need()
    this.#refreshSize()
  }

  get isOpen(): boolean {
    return this.#enabled || this.#listeners.size > 0
  }

  /** Null if nobody logs or watches this call, its client asked for no copy, or the copies use too much memory. */
  begin(call: PayloadCall): PayloadCopy | null {
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

  /** Ms since the Unix epoch at which it switches itself off; null where it does not. */
  get enabledUntilMs(): number | null {
    return this.#untilMs
  }

  /** With `forMs` it switches itself off again. Ends what an earlier call said, and forgets a trouble. */
  toggle(enabled: boolean, forMs: number | null): void {
    if (this.#closing !== null) return
    this.#trouble = null
    this.#switch(enabled, forMs)
  }

  /** Applies to calls that begin from now on. */
  setCapture(rule: CaptureRule): void {
    this.#capture = rule
  }

  status(): RawLogStatus {
    this.#refreshSize()
    const untilMs = this.#untilMs
    return {
      enabled: this.#enabled,
      enabled_until: untilMs === null ? null : new Date(untilMs).toISOString(),
      capture: formatCaptureRule(this.#capture),
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
    // The thread waits in a call of the system, or has too much to do, and cannot say so itself.
    const waitingMs = this.#sender?.waitingMs ?? 0
    if (waitingMs >= stallMs) {
      const message = `${this.#options.filePath} has taken nothing for ${Math.floor(waitingMs / 1000)} s; payloads wait in memory, calls do not`
      warnings.push({ code: 'raw_log_stalled', message })
    }
    return warnings
  }

  /** The answer of `GET /v1/raw-log/recent` as JSON, with what has passed by now; rejects where files cannot be read. */
  recent(limit: number): Promise<Uint8Array> {
    return this.#ask({ kind: 'recent', limit })
  }

  /** Empties the log, and leaves it on or off; rejects where files cannot be changed. */
  async clear(): Promise<void> {
    await this.#ask({ kind: 'clear' })
  }

  /** As long as it is not disposed of, and does not throw, the listener is told of every call that begins from now on. */
  watch(listener: PayloadListener): Disposable {
    this.#listeners.add(listener)
    if (this.#listeners.size === 1) this.#sendMode()
    return { [Symbol.dispose]: () => this.#unwatch(listener) }
  }

  /** Brings to disk what is under way; gives up, and counts it as dropped, after `closeTimeoutMs`. */
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
        // The asker has the reply.
        break
      case 'closed':
        this.#isDone.resolve()
        break
    }
  }

  #sendFeed({ bytes, events, lost }: Extract<FromPayloadWorker, { kind: 'feed' }>): void {
    let at = 0
    const told = events.map(({ seq, length }) => ({ seq, json: bytes.subarray(at, (at += length)) }))
    if (lost > 0) this.#notify((listener) => listener.dropped(lost))
    this.#notify((listener) => listener.events(told))
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
      lost: (records) => {
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

  /** Off the loop and once at a time: a disk that hangs holds up nobody. */
  #measureFolder(): Promise<void> {
    this.#measuredAtMs = this.#clock.now()
    this.#measuring ??= measureSegments(this.#options.filePath)
      .then(
        (bytes) => {
          this.#fileBytes = bytes
        },
        () => {
          // It stays as it was; writing tells what is wrong.
        },
      )
      .finally(() => {
        this.#measuring = null
      })
    return this.#measuring
  }
}
