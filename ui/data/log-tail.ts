import type { LogLines } from '../../src/api/dashboard-event.ts'

/** A line of the log. */
export interface LogLine {
  /** How many came before it, of all that were told of since the page was opened. */
  readonly at: number
  readonly text: string
}

const keptLines = 2000

/** The last lines of the gateway's log, as they are told of. */
export class LogTail {
  readonly #kept: number
  readonly #listeners = new Set<() => void>()
  #lines: readonly LogLine[] = []
  #told = 0
  #resets = 0

  /** @param kept how many lines are kept at most */
  constructor(kept: number = keptLines) {
    this.#kept = kept
  }

  /** Another array whenever it has changed. */
  get lines(): readonly LogLine[] {
    return this.#lines
  }

  /** How many lines were told of, whether they are kept or not. */
  get told(): number {
    return this.#told
  }

  /** How often the lines were replaced by others: when the log was cleared, or the page lost its connection. */
  get resets(): number {
    return this.#resets
  }

  add({ lines, reset }: LogLines): void {
    const added = lines.map((text, at): LogLine => ({ at: this.#told + at, text }))
    this.#told += lines.length
    if (reset) this.#resets += 1
    this.#lines = [...(reset ? [] : this.#lines), ...added].slice(-this.#kept)
    for (const listener of this.#listeners) listener()
  }

  /** Calls back after each change, until the function that it answers is called. */
  watch(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }
}
