import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Warning } from '../call/call-sink.ts'
import type { Clock } from '../call/clock.ts'
import { messageOf } from '../lib/caught.ts'
import type {
  FromPayloadWorker,
  PayloadQuestion,
  PayloadSettings,
  ToPayloadWorker,
} from './payload-messages.ts'

export interface PayloadThreadOptions {
  readonly clock: Clock
  readonly startWorker: (settings: PayloadSettings) => Worker
  /** Asked at each start. */
  readonly settings: () => PayloadSettings
  readonly started: () => void
  readonly received: (message: FromPayloadWorker) => void
  /** It ended by itself, and is started again after a pause. */
  readonly died: () => void
}

/** How long a thread that died is told of if nothing passes that shows that the next is well. */
const deathShownMs = 10_000
const restart = { firstMs: 100, longestMs: 5000 } as const

/** Both compiled and as source the worker's file lies beside this one and ends as it does. */
export function startPayloadWorker(settings: PayloadSettings): Worker {
  const file = new URL(`./payload-worker${extname(import.meta.url)}`, import.meta.url)
  return new Worker(file, { workerData: settings, name: 'tokenweir-payloads' })
}

/** The thread of a `PayloadLog`, and what it was asked: started when it is first needed, and again when it dies. */
export class PayloadThread {
  readonly #options: PayloadThreadOptions
  readonly #questions = new Map<number, PromiseWithResolvers<Uint8Array>>()
  #lastQuestion = 0
  #worker: Worker | null = null
  #isWanted = false
  #deaths = 0
  #diedAtMs = 0
  /** Why it died last, until the next one is well. */
  #trouble: string | null = null
  #hasEnded = false

  constructor(options: PayloadThreadOptions) {
    this.#options = options
  }

  /** Whether there is one now: not before the first `need`, and not in the pause after a death. */
  get isRunning(): boolean {
    return this.#worker !== null
  }

  warning(): Warning | null {
    const isOver = this.isRunning && this.#options.clock.now() - this.#diedAtMs > deathShownMs
    return this.#trouble === null || isOver ? null : { code: 'raw_log_restarted', message: this.#trouble }
  }

  need(): void {
    if (this.#isWanted) return
    this.#isWanted = true
    this.#start()
  }

  post(message: ToPayloadWorker, transfer: ArrayBuffer[] = []): void {
    this.#worker?.postMessage(message, transfer)
  }

  /** Rejects with the thread's trouble, or if there is no thread to answer. */
  ask(asked: PayloadQuestion): Promise<Uint8Array> {
    const worker = this.#worker
    if (worker === null) {
      return Promise.reject(new Error(this.#trouble ?? 'the thread of the raw log is not running'))
    }
    const question = ++this.#lastQuestion
    const waiting = Promise.withResolvers<Uint8Array>()
    this.#questions.set(question, waiting)
    // Somebody waits: that is worth staying alive for.
    worker.ref()
    this.post({ ...asked, question })
    return waiting.promise
  }

  /** It does its work: a later death is a first one. */
  isWell(): void {
    this.#deaths = 0
    this.#trouble = null
  }

  end(): void {
    const worker = this.#worker
    this.#hasEnded = true
    this.#worker = null
    void worker?.terminate()
    this.#rejectAll('the raw log is closed')
  }

  #start(): void {
    if (this.#hasEnded) return
    try {
      const worker = this.#options.startWorker(this.#options.settings())
      let reason = 'it ended'
      worker.on('message', (message: FromPayloadWorker) => {
        if (this.#worker !== worker) return
        if (message.kind === 'answer') this.#answer(message)
        this.#options.received(message)
      })
      worker.on('error', (error) => {
        reason = messageOf(error)
      })
      worker.on('exit', () => this.#die(reason))
      worker.unref()
      this.#worker = worker
      this.#options.started()
    } catch (error) {
      this.#die(messageOf(error))
    }
  }

  #answer({ question, json, trouble }: Extract<FromPayloadWorker, { kind: 'answer' }>): void {
    const asked = this.#questions.get(question)
    this.#questions.delete(question)
    if (this.#questions.size === 0) this.#worker?.unref()
    if (trouble === null) asked?.resolve(json)
    else asked?.reject(new Error(trouble))
  }

  #rejectAll(trouble: string): void {
    for (const { reject } of this.#questions.values()) reject(new Error(trouble))
    this.#questions.clear()
  }

  #die(reason: string): void {
    if (this.#hasEnded) return
    this.#worker = null
    this.#diedAtMs = this.#options.clock.now()
    this.#trouble = `the thread of the raw log failed: ${reason}`
    this.#rejectAll(this.#trouble)
    this.#options.died()
    const delayMs = Math.min(restart.longestMs, restart.firstMs * 2 ** this.#deaths++)
    this.#options.clock.after(delayMs, () => this.#start(), { background: true })
  }
}
