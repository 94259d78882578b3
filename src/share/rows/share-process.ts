import { type ChildProcess, fork } from 'node:child_process'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Warning } from '../../call/call-sink.ts'
import type { Clock } from '../../call/clock.ts'
import { WorkerHost } from '../../lib/process/worker-host.ts'
import { type ShareStatus, isShareStatus, type ShareTask } from './share-messages.ts'

/** Time limit for the last rows, longer than they need if PostgreSQL answers. */
const closeMs = 3000
const progressEveryMs = 5000
/** Rows from which a copy is reported; fewer take no noticeable time. */
const longCopyRows = 20_000

/**
 * The separate process that sends and fetches rows. So neither its work, nor a hanging database, nor a crash can
 * affect a call. Once the channel to its parent is closed, the process sends the waiting rows and ends.
 */
export class ShareProcess {
  readonly #host: WorkerHost<never, ShareStatus>
  #worker: ChildProcess | null = null
  readonly #clock: Clock
  readonly #say: (line: string) => void
  #status: ShareStatus | null = null
  #progressSaidMs = Number.NEGATIVE_INFINITY
  #isClosing = false
  readonly #ended = Promise.withResolvers<void>()

  /** `env` is the whole environment of the process. `TOKENWEIR_SHARE` in it is the address of the shared database. */
  constructor(
    task: ShareTask,
    env: Readonly<Record<string, string>>,
    clock: Clock,
    say: (line: string) => void,
  ) {
    this.#clock = clock
    this.#say = say
    const file = fileURLToPath(new URL(`./share-worker${extname(import.meta.url)}`, import.meta.url))
    this.#host = new WorkerHost({
      clock,
      start: () => {
        const stdio = ['ignore', 'ignore', 'inherit', 'ipc'] as const
        const options = { env: { ...env }, execArgv: [], stdio: [...stdio] }
        return (this.#worker = fork(file, [JSON.stringify(task)], options))
      },
      received: (status) => this.#receive(status),
      died: (reason) => {
        if (this.#isClosing) this.#ended.resolve()
        else {
          say(`the process that shares rows ended, and is started again: ${reason}`)
          this.#host.need()
        }
      },
    })
    this.#host.need()
  }

  /** Progress of a long copy of other gateways' rows; null without one. */
  get copy(): ShareStatus['pull'] {
    const pull = this.#status?.pull ?? null
    return pull !== null && pull.last - pull.pulled >= longCopyRows ? pull : null
  }

  /** Rows that are not in the shared database yet. */
  get behind(): number {
    return this.#status?.behind?.rows ?? 0
  }

  warnings(): readonly Warning[] {
    const behind = this.#status?.behind ?? null
    if (behind === null) return []
    const { rows, sinceMs } = behind
    const since = new Date(sinceMs).toISOString()
    const message = `${rows} calls, since ${since}, are recorded here and not in the shared database yet; they are sent automatically as soon as it accepts them`
    return [{ code: 'store_behind', message }]
  }

  /** Ends the process when waiting rows are sent, or after a time limit. */
  async close(): Promise<void> {
    this.#isClosing = true
    if (!this.#host.isRunning) return this.#host.end()
    this.#worker?.disconnect()
    const cancel = this.#clock.after(closeMs, () => this.#ended.resolve())
    await this.#ended.promise
    cancel()
    this.#host.end()
  }

  #receive(status: unknown): void {
    if (!isShareStatus(status)) return
    this.#host.isWell()
    this.#status = status
    const { line } = status
    const pull = this.copy
    if (line !== null) this.#say(`sharing: ${line}`)
    const now = this.#clock.now()
    if (pull === null || now - this.#progressSaidMs < progressEveryMs) return
    this.#progressSaidMs = now
    this.#say(`sharing: ${pull.pulled} of ${pull.last} rows of the shared database were looked at`)
  }
}
