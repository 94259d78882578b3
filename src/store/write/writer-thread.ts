import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { gather } from '../../call/gather.ts'
import type { CallRecord } from '../../call/call-record.ts'
import type {
  CallSink,
  ClientUsage,
  RecentCall,
  GatewayEvent,
  GatewayHistory,
  GatewayMinute,
  MinuteUsage,
  SinkCounts,
  Warning,
} from '../../call/call-sink.ts'
import type { CallStart } from '../../call/call.ts'
import { type Clock, systemClock } from '../../call/clock.ts'
import type { ObserverModule } from '../../call/row-observer.ts'
import { WorkerHost } from '../../lib/process/worker-host.ts'
import type { InstanceNumber } from '../sqlite/instance-number.ts'
import { type OpenCall, OpenCalls } from './open-calls.ts'
import { PendingCalls } from './pending-calls.ts'
import { BatchEncoder, type FilledBatch } from './record-batch.ts'
import type { FromWriter, ToWriter, UsageQuestion, WatchSettings, WriterSettings } from './writer-messages.ts'

/** The options of {@link WriterThread}. */
export interface WriterThreadOptions extends Partial<WatchSettings> {
  readonly dbPath: string
  /** The older proxy's database, see `WriterSettings`. */
  readonly olderProxy?: string | null
  readonly instance: string
  /**
   * The instance number, whose lock shows others that the gateway lives. Without one, a kill leaves no trace
   * of open calls.
   */
  readonly number?: InstanceNumber
  readonly version: string
  readonly clock?: Clock
  /** Observers of the rows. */
  readonly observers?: readonly ObserverModule[]
  /** Milliseconds from the end of a call to the sending of its record, unless a batch is on its way. A call that is open for longer is noted. */
  readonly flushAfterMs?: number
  /** Records held in memory, those on their way included. */
  readonly pendingLimit?: number
  /** How long `close` waits for the database. */
  readonly closeTimeoutMs?: number
  readonly startWorker?: (settings: WriterSettings) => Worker
}

/** Most minutes, and most events, in memory while the database cannot be written. */
const historyLimit = 1000
/** Time (ms) after which a batch without an answer means that the disk hangs. */
const stallMs = 10_000
/** Calls that are sent without a pause: many at once would keep a processor from other threads for milliseconds. */
const fullBatch = 32
/** Time (ms) for which a loss is a warning; the count stays. */
const lossShownMs = 2000
/** Pause (ms) before an unanswered question is repeated. */
const askAgainMs = 500
const hourMs = 3_600_000
/** A call may have begun an hour before the 24 hours in which it ended. */
const usageHours = 25

interface Parcel {
  readonly calls: FilledBatch | null
  readonly minutes: readonly GatewayMinute[]
  readonly events: readonly GatewayEvent[]
}

/** The worker's file is beside this one, with the same extension in source and build. */
function startThread(settings: WriterSettings): Worker {
  const file = new URL(`./writer-worker${extname(import.meta.url)}`, import.meta.url)
  return new Worker(file, { workerData: settings, name: 'tokenweir-writer' })
}

/** Records calls in the database at `dbPath` in a worker thread, one batch at a time. */
export class WriterThread implements CallSink, GatewayHistory {
  readonly #options: Required<Omit<WriterThreadOptions, 'number'>>
  readonly #clock: Clock
  readonly #open: OpenCalls | null
  readonly #pending: PendingCalls
  readonly #host: WorkerHost<ToWriter, FromWriter>
  #minutes: GatewayMinute[] = []
  #events: GatewayEvent[] = []
  #parcel: Parcel | null = null
  #sentAtMs = 0
  #lostAtMs = Number.NEGATIVE_INFINITY
  readonly #encoder = new BatchEncoder()
  #workerWarnings: readonly Warning[] = []
  #ownWarning: Warning | null = null
  #written = 0
  #dropped = 0
  readonly #flushSoon: () => void
  #isFlushDue = false
  #isClosing = false
  #closing: Promise<void> | null = null
  #onClosed: () => void = () => {}
  #isClosed = false
  readonly #ending = new AbortController()

  constructor(options: WriterThreadOptions) {
    this.#options = {
      clock: systemClock,
      observers: [],
      flushAfterMs: 50,
      pendingLimit: 10_000,
      closeTimeoutMs: 5000,
      checkEveryMs: 5000,
      walLimits: { emptyBytes: 32 * 2 ** 20, warnBytes: 256 * 2 ** 20 },
      olderProxy: null,
      startWorker: startThread,
      ...options,
    }
    this.#clock = this.#options.clock
    this.#flushSoon = gather(this.#clock, this.#options.flushAfterMs, () => {
      this.#open?.tick()
      this.#flush()
    })
    this.#pending = new PendingCalls(this.#options.pendingLimit, this.#encoder)
    const { instance, dbPath } = this.#options
    const number = options.number?.isOwn === true ? options.number.value : null
    this.#open = number === null ? null : new OpenCalls()
    const { checkEveryMs, walLimits, startWorker, version, observers, olderProxy } = this.#options
    const watch = { checkEveryMs, walLimits }
    this.#host = new WorkerHost({
      clock: this.#clock,
      start: () => startWorker({ path: dbPath, olderProxy, instance, number, version, observers, ...watch }),
      received: (message) => this.#receive(message),
      started: () => this.#started(),
      died: (reason) => this.#died(reason),
    })
    this.#host.need()
  }

  begin(call: OpenCall): void {
    if (this.#open === null || this.#isClosed) return
    this.#open.begin(call)
    this.#planFlush()
  }

  finish(record: CallRecord): void {
    if (this.#isClosed) {
      this.#dropped++
      return
    }
    this.#open?.end(record)
    this.#countLost(this.#pending.add(record, this.#onTheWay))
    if (this.#pending.size === fullBatch) this.#flush()
    else this.#planFlush()
  }

  lose(call: CallStart | null): void {
    this.#countLost(1)
    if (call !== null) this.#open?.end(call)
  }

  minute(minute: GatewayMinute): void {
    // Later figures of a minute replace earlier ones, because the running minute is reported repeatedly.
    if (this.#minutes.at(-1)?.minute === minute.minute) this.#minutes.pop()
    this.#minutes.push(minute)
    if (this.#minutes.length > historyLimit) this.#minutes.shift()
    this.#planFlush()
  }

  event(event: GatewayEvent): void {
    this.#events.push(event)
    if (this.#events.length > historyLimit) this.#events.shift()
    this.#planFlush()
  }

  figures(): SinkCounts {
    const pending = this.#pending.size + this.#onTheWay
    return { written: this.#written, pending, dropped: this.#dropped }
  }

  warnings(): readonly Warning[] {
    const warnings = [...this.#workerWarnings, this.#ownWarning, this.#stall(), this.#loss()]
    return warnings.filter((warning) => warning !== null)
  }

  /**
   * Tokens by the minute in which calls ended, of calls that began before an instant, as soon as they can be
   * read; `null` if the store is closed first.
   */
  usageByMinute(fromMinute: number, sinceMs?: number): Promise<readonly MinuteUsage[] | null> {
    return this.#usage({ fromMinute, sinceMs })
  }

  /**
   * Calls that were sent since an instant (ms since the Unix epoch), as soon as they can be read; `null` if
   * the store is closed first.
   */
  recentCalls(sentSinceMs: number): Promise<readonly RecentCall[] | null> {
    return this.#usage<RecentCall>({ sentSinceMs })
  }

  /**
   * Tokens of clients, keys and upstreams in the 24 hours before a past instant. The hours are read one by
   * one, so that no batch waits for long. `null` if the store is closed first.
   */
  async usageOfClients(
    of: readonly string[],
    at: readonly string[],
    endedBeforeMs: number,
  ): Promise<readonly ClientUsage[] | null> {
    // Ended calls are rows, or lost, once this number is.
    const { written, pending, dropped } = this.figures()
    while (this.#written + this.#dropped < written + pending + dropped && !this.#isClosed) {
      await this.#clock.delay(this.#options.flushAfterMs, this.#ending.signal).catch(() => {})
    }
    const usages: ClientUsage[] = []
    for (let toMs = endedBeforeMs; toMs > endedBeforeMs - usageHours * hourMs; toMs -= hourMs) {
      const about = { of, at, fromMs: toMs - hourMs, toMs, endedBeforeMs }
      const usage = await this.#usage<ClientUsage>(about)
      if (usage === null) return null
      usages.push(...usage)
    }
    return usages
  }

  /** Asks the thread until it can answer; `null` if the store is closed first. */
  async #usage<Usage extends MinuteUsage>(about: UsageQuestion): Promise<readonly Usage[] | null> {
    while (!this.#isClosed) {
      const answer = await this.#host.ask({ kind: 'usage', about }).catch(() => null)
      if (answer?.kind === 'usage' && answer.usage !== null) return answer.usage as readonly Usage[]
      await this.#clock.delay(askAgainMs, this.#ending.signal).catch(() => {})
    }
    return null
  }

  /**
   * Asks an observer by name; `null` without it. Waits for a free thread. Rejects if the thread does not run,
   * or dies.
   */
  async ask(observer: string, text: string): Promise<string | null> {
    const answer = await this.#host.ask({ kind: 'ask', observer, text })
    return answer.kind === 'answer' ? answer.text : null
  }

  /** Writes what is pending and closes the database; after `closeTimeoutMs` the rest counts as dropped. */
  close(): Promise<void> {
    this.#isClosing = true
    this.#closing ??= new Promise((resolve) => {
      const cancel = this.#clock.after(this.#options.closeTimeoutMs, () => this.#onClosed())
      this.#onClosed = () => {
        cancel()
        this.#onClosed = () => {}
        this.#end()
        resolve()
      }
      this.#flush()
    })
    return this.#closing
  }

  /** The warning of a thread that hangs in a system call, and so cannot warn itself. */
  #stall(): Warning | null {
    const forMs = this.#clock.now() - this.#sentAtMs
    if (this.#parcel === null || forMs < stallMs || this.#workerWarnings.length > 0) return null
    const message = `${this.#options.dbPath} could not be written for ${Math.floor(forMs / 1000)} s: its disk hangs or is too slow; calls are served and wait in memory to be recorded`
    return { code: 'writer_stalled', message }
  }

  #loss(): Warning | null {
    if (this.#clock.now() - this.#lostAtMs > lossShownMs) return null
    const message = `${this.#dropped} records were lost since the start: calls end faster than they can be recorded, or an error of the gateway, which is in its log, prevented them`
    return { code: 'records_dropped', message }
  }

  #planFlush(): void {
    if (!this.#isFlushDue) this.#flushSoon()
  }

  /** Sends the next batch, or notes that it is due as soon as the last is acknowledged. */
  #flush(): void {
    if (this.#isClosed) return
    if (this.#parcel !== null || !this.#host.isRunning) {
      this.#isFlushDue = true
      return
    }
    this.#isFlushDue = false
    const calls = this.#pending.nextBatch()
    const opened = this.#open?.dueRows() ?? []
    if (this.#open?.areWaiting === true) this.#planFlush()
    if (calls === null && this.#minutes.length + this.#events.length + opened.length === 0) {
      if (this.#isClosing) this.#host.post({ kind: 'close' })
      return
    }
    const parcel: Parcel = { calls, minutes: this.#minutes, events: this.#events }
    this.#minutes = []
    this.#events = []
    this.#parcel = parcel
    this.#sentAtMs = this.#clock.now()
    this.#isFlushDue = this.#pending.size > 0
    const batch = this.#encoder.send(calls ?? this.#encoder.begin())
    const { minutes, events } = parcel
    this.#host.post({ kind: 'write', calls: batch, minutes, events, opened }, [batch.numbers.buffer])
  }

  #receive(message: FromWriter): void {
    if (message.kind === 'written') this.#settle(message.dropped)
    else if (message.kind === 'warnings') this.#workerWarnings = message.warnings
    else if (message.kind === 'opened') this.#reopened()
    else if (message.kind === 'closed') this.#onClosed()
  }

  #settle(dropped: number): void {
    const parcel = this.#parcel
    if (parcel === null) return
    this.#parcel = null
    this.#written += (parcel.calls?.size ?? 0) - dropped
    this.#countLost(dropped)
    this.#host.isWell()
    this.#ownWarning = null
    if (this.#isFlushDue || this.#isClosing) this.#flush()
  }

  /** Sent calls that are not rows yet, as far as this thread knows. */
  get #onTheWay(): number {
    return this.#parcel?.calls?.size ?? 0
  }

  #countLost(count: number): void {
    if (count === 0) return
    this.#dropped += count
    this.#lostAtMs = this.#clock.now()
  }

  #reopened(): void {
    this.#open?.reopened()
    if (this.#open?.areWaiting === true) this.#planFlush()
  }

  #started(): void {
    if (this.#isFlushDue || this.#isClosing) this.#flush()
  }

  /** Handles the thread's death. A new thread has no words, and the old one may not have written its last messages. */
  #died(reason: string): void {
    const parcel = this.#parcel
    this.#parcel = null
    this.#encoder.forget()
    if (parcel !== null) {
      if (parcel.calls !== null) this.#pending.putBack(parcel.calls)
      this.#minutes = [...parcel.minutes, ...this.#minutes]
      this.#events = [...parcel.events, ...this.#events]
      this.#isFlushDue = true
    }
    this.#ownWarning = {
      code: 'writer_restarted',
      message: `the thread that records calls failed: ${reason}`,
    }
    this.#host.need()
  }

  #end(): void {
    this.#isClosed = true
    this.#dropped += this.#pending.size + this.#onTheWay
    this.#ending.abort()
    this.#parcel = null
    this.#pending.clear()
    this.#host.end()
  }
}
