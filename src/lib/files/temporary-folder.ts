import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const endSignals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

/** A private folder for one piece of work. It is deleted when it is disposed, or when a signal ends the process before that. */
export class TemporaryFolder implements Disposable {
  readonly path: string
  readonly #onSignal = (signal: NodeJS.Signals): void => {
    this[Symbol.dispose]()
    // Without this listener, the signal ends the process.
    process.kill(process.pid, signal)
  }

  /** `prefix` is the beginning of its name. */
  constructor(prefix: string) {
    this.path = mkdtempSync(join(tmpdir(), prefix))
    for (const signal of endSignals) process.on(signal, this.#onSignal)
  }

  [Symbol.dispose](): void {
    for (const signal of endSignals) process.off(signal, this.#onSignal)
    rmSync(this.path, { recursive: true, force: true })
  }
}
