import { type ChildProcess, fork } from 'node:child_process'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Clock } from '../../call/clock.ts'
import { lowerPriority } from '../../lib/lower-priority.ts'
import { isText, record } from '../../lib/message-shape.ts'
import { fileKey } from '../sqlite/store-files.ts'

export interface QuickCheckOptions {
  readonly path: string
  readonly clock: Pick<Clock, 'after'>
  /** What SQLite says is wrong with the file that is at `path`; nothing where all is well or time was short. */
  readonly onDamage: (finding: string) => void
  /** From `start`: the gateway's own start goes first. */
  readonly afterMs: number
}

const tellsDamage = record<{ readonly finding: string }>({ finding: isText })
/** It reads the whole file; a disk that is slower than this is better left to the calls. */
const limitMs = 300_000
const againAfterMs = 24 * 3_600_000

/**
 * Looks a database through once at the start and then once a day, in a process of its own that stands back for the
 * calls and may be killed at any time. A page that was damaged is else not seen until somebody comes upon it.
 */
export class QuickCheck {
  readonly #options: QuickCheckOptions
  #cancel: (() => void) | null = null
  #child: ChildProcess | null = null

  constructor(options: QuickCheckOptions) {
    this.#options = options
  }

  start(): void {
    this.#plan(this.#options.afterMs)
  }

  stop(): void {
    this.#cancel?.()
    this.#cancel = null
    this.#child?.kill('SIGKILL')
    this.#child = null
  }

  #plan(afterMs: number): void {
    this.#cancel = this.#options.clock.after(afterMs, () => {
      this.#plan(againAfterMs)
      this.#run()
    })
  }

  #run(): void {
    const { path, clock, onDamage } = this.#options
    const file = fileURLToPath(new URL(`./quick-check-worker${extname(import.meta.url)}`, import.meta.url))
    const key = fileKey(path)
    const child = fork(file, [path], { env: {}, execArgv: [], stdio: ['ignore', 'ignore', 'ignore', 'ipc'] })
    if (child.pid !== undefined) lowerPriority(child.pid)
    const cancel = clock.after(limitMs, () => child.kill('SIGKILL'))
    this.#child = child
    child.on('message', (said) => {
      // Killed meanwhile, or the file was put aside already.
      if (this.#child !== child || fileKey(path) !== key) return
      if (tellsDamage(said)) onDamage(said.finding)
    })
    // Where it cannot be started all goes on without.
    child.on('error', () => {})
    child.once('exit', cancel)
  }
}
