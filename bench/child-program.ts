import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const answerLimitMs = 60_000

/** A benchmark's helper process: it takes commands and sends reports over the IPC channel, and ends with its parent. */
export class ChildProgram<Command extends object, Report extends object> implements Disposable {
  readonly #child: ChildProcess
  readonly #name: string
  #reports: Report[] = []
  #wake: (() => void) | undefined

  /** `name` is a file of `bench/programs`, without its ending. */
  constructor(name: string) {
    this.#name = name
    this.#child = fork(fileURLToPath(new URL(`programs/${name}.ts`, import.meta.url)))
    this.#child.on('message', (report) => {
      // The channel's messages have no type of their own; both ends share program-messages.
      this.#reports.push(report as Report)
      this.#wake?.()
    })
    this.#child.on('exit', () => this.#wake?.())
  }

  tell(command: Command): void {
    this.#child.send(command)
  }

  /** The next report that has this field. */
  async next<Key extends KeyOfUnion<Report>>(key: Key): Promise<Extract<Report, Record<Key, unknown>>> {
    const limit = setTimeout(() => this.#child.kill('SIGKILL'), answerLimitMs)
    try {
      for (;;) {
        const report = this.#reports.shift()
        if (report === undefined) {
          if (this.#child.exitCode !== null || this.#child.signalCode !== null) {
            throw new Error(`${this.#name} ended before it reported ${String(key)}`)
          }
          await new Promise<void>((resolve) => {
            this.#wake = resolve
          })
        } else if (key in report) return report as Extract<Report, Record<Key, unknown>>
      }
    } finally {
      clearTimeout(limit)
    }
  }

  [Symbol.dispose](): void {
    this.#child.kill('SIGKILL')
  }
}

type KeyOfUnion<T> = T extends unknown ? keyof T : never
