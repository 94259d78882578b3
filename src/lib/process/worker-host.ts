import type { ChildProcess } from 'node:child_process'
import type { Worker } from 'node:worker_threads'
import { backoffMs } from '../backoff.ts'
import { messageOf } from '../errors.ts'
import { reportFault } from '../fault.ts'
import { programChange } from './program-files.ts'

/** A message that expects an answer. The host numbers it, and the answer repeats the number. */
type Question<To> = Extract<To, { readonly question: number }>
type Answer<From> = Extract<From, { readonly question: number }>
/** Each member of a union, without its number. */
type Unnumbered<Message> = Message extends unknown ? Omit<Message, 'question'> : never

/** How to start a worker, and where its messages go. */
export interface WorkerHostOptions<From> {
  readonly clock: {
    after(ms: number, callback: () => void, options?: { readonly background?: boolean }): () => void
  }
  /** Starts a thread, or a process with a message channel. */
  readonly start: () => Worker | ChildProcess
  /** Called with each message, including answers. */
  readonly received: (message: From) => void
  readonly started?: () => void
  /** Called when the worker has ended by itself or could not be started. `need` starts it again after a pause. */
  readonly died: (reason: string) => void
}

const pause = { firstMs: 100, longestMs: 5000 } as const

/**
 * A worker: a thread or another process. The worker starts when it is needed, and again after a crash, with longer
 * and longer pauses. A worker never starts from files that an update has replaced. The parent process stays alive
 * only while a question is open.
 */
export class WorkerHost<To extends object, From extends object> {
  readonly #options: WorkerHostOptions<From>
  readonly #pending = new Map<number, PromiseWithResolvers<Answer<From>>>()
  #lastQuestion = 0
  #worker: Worker | ChildProcess | null = null
  #deaths = 0
  #cancelPause: (() => void) | null = null
  #hasEnded = false

  constructor(options: WorkerHostOptions<From>) {
    this.#options = options
  }

  get isRunning(): boolean {
    return this.#worker !== null
  }

  /** Starts the worker if it does not run: at once, or after a pause if it has died. Returns true if it runs now. */
  need(): boolean {
    if (this.#worker !== null || this.#cancelPause !== null || this.#hasEnded) return this.isRunning
    if (this.#deaths === 0) this.#start()
    else {
      const pauseMs = backoffMs(pause, this.#deaths)
      const start = (): void => {
        this.#cancelPause = null
        this.#start()
      }
      this.#cancelPause = this.#options.clock.after(pauseMs, start, { background: true })
    }
    return this.isRunning
  }

  /** Sends a message; drops it if the worker does not run. */
  post(message: To, transfer: ArrayBuffer[] = []): void {
    const worker = this.#worker
    if (worker === null) return
    if ('postMessage' in worker) worker.postMessage(message, transfer)
    // If the channel is closed, the worker's end will be reported soon.
    else worker.send(message, () => {})
  }

  /** Asks the worker. Rejects if it does not run, dies or is killed before it answers. */
  ask(message: Unnumbered<Question<To>>): Promise<Answer<From>> {
    if (this.#worker === null) return Promise.reject(new Error('it is not running'))
    const question = ++this.#lastQuestion
    const answer = Promise.withResolvers<Answer<From>>()
    this.#pending.set(question, answer)
    this.#worker.ref()
    this.post({ ...message, question } as unknown as To)
    return answer.promise
  }

  /** Call it when the worker has worked well. The pauses after its next crash are short again. */
  isWell(): void {
    this.#deaths = 0
  }

  /** Kills the worker. Without a `fault` that does not count as a crash, so a start follows without a pause. */
  kill(fault: string | null = null): void {
    const worker = this.#worker
    if (worker === null) return
    this.#worker = null
    if ('terminate' in worker) worker.terminate().catch(reportFault)
    else worker.kill('SIGKILL')
    if (fault === null) this.#rejectAll('it was ended')
    else this.#die(fault)
  }

  /** Kills the worker, which then never starts again. */
  end(): void {
    this.#hasEnded = true
    this.#cancelPause?.()
    this.kill()
  }

  #start(): void {
    try {
      const change = programChange()
      if (change !== null) throw new Error(change)
      const worker = this.#options.start()
      this.#worker = worker
      let failure: string | null = null
      const ended = (reason: string): void => {
        if (this.#worker === worker) this.#die(failure ?? reason)
      }
      worker.on('message', (message: unknown) => {
        if (this.#worker === worker) this.#receive(message as From)
      })
      worker.on('error', (error) => {
        failure = messageOf(error)
        // A process that could not be started has no exit.
        if ('pid' in worker && worker.pid === undefined) ended(failure)
      })
      worker.once('exit', (code: number | null, signal?: string) => ended(signal ?? `exit code ${code}`))
      worker.unref()
    } catch (error) {
      this.#die(messageOf(error))
      return
    }
    this.#options.started?.()
  }

  #receive(message: From): void {
    if ('question' in message && typeof message.question === 'number') {
      this.#pending.get(message.question)?.resolve(message as unknown as Answer<From>)
      this.#pending.delete(message.question)
      if (this.#pending.size === 0) this.#worker?.unref()
    }
    this.#options.received(message)
  }

  #die(reason: string): void {
    this.#worker = null
    this.#deaths += 1
    this.#rejectAll(reason)
    this.#options.died(reason)
  }

  #rejectAll(reason: string): void {
    for (const { reject } of this.#pending.values()) reject(new Error(reason))
    this.#pending.clear()
  }
}
