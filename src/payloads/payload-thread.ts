import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Clock } from '../call/clock.ts'
import type { FromPayloadWorker, PayloadSettings, ToPayloadWorker } from './payload-messages.ts'

export interface PayloadThreadOptions {
  readonly clock: Clock
  readonly startWorker: (settings: PayloadSettings) => Worker
  /** Asked at each start. */
  readonly settings: () => PayloadSettings
  readonly started: () => void
  readonly received: (message: FromPayloadWorker) => void
  /** It ended by itself, and is started again after a pause. */
  readonly died: (reason: string) => void
}

const restart = { firstMs: 100, longestMs: 5000 } as const

/** Both compiled and as source the worker's file lies beside this one and ends as it does. */
export function startPayloadWorker(settings: PayloadSettings): Worker {
  const file = new URL(`./payload-worker${extname(import.meta.url)}`, import.meta.url)
  return new Worker(file, { workerData: settings, name: 'tokenweir-payloads' })
}

/** The thread of a `PayloadLog`: started when it is first needed, and again when it dies. */
export class PayloadThread {
  readonly #options: PayloadThreadOptions
  #worker: Worker | null = null
  #isWanted = false
  #deaths = 0
  #mustStay = false
  #hasEnded = false

  constructor(options: PayloadThreadOptions) {
    this.#options = options
  }

  /** Whether there is one now: not before the first `need`, and not in the pause after a death. */
  get isRunning(): boolean {
    return this.#worker !== null
  }

  need(): void {
    if (this.#isWanted) return
    this.#isWanted = true
    this.#start()
  }

  post(message: ToPayloadWorker, transfer: ArrayBuffer[] = []): void {
    this.#worker?.postMessage(message, transfer)
  }

  /** Whether somebody waits for it: then it keeps the process running. */
  stay(mustStay: boolean): void {
    this.#mustStay = mustStay
    if (mustStay) this.#worker?.ref()
    else this.#worker?.unref()
  }

  /** It does its work: a later death is a first one. */
  isWell(): void {
    this.#deaths = 0
  }

  end(): void {
    const worker = this.#worker
    this.#hasEnded = true
    this.#worker = null
    void worker?.terminate()
  }

  #start(): void {
    if (this.#hasEnded) return
    try {
      const worker = this.#options.startWorker(this.#options.settings())
      let reason = 'it ended'
      worker.on('message', (message: FromPayloadWorker) => {
        if (this.#worker === worker) this.#options.received(message)
      })
      worker.on('error', (error) => {
        reason = error instanceof Error ? error.message : String(error)
      })
      worker.on('exit', () => this.#die(reason))
      if (!this.#mustStay) worker.unref()
      this.#worker = worker
      this.#options.started()
    } catch (error) {
      this.#die(error instanceof Error ? error.message : String(error))
    }
  }

  #die(reason: string): void {
    if (this.#hasEnded) return
    this.#worker = null
    this.#options.died(reason)
    const delayMs = Math.min(restart.longestMs, restart.firstMs * 2 ** this.#deaths++)
    this.#options.clock.after(delayMs, () => this.#start(), { background: true })
  }
}
