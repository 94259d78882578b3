/** A longer line is none of ours: it is dropped, so that nobody can fill this process's memory. */
const maxLineLength = 32 * 1024 * 1024

/** Takes text in pieces and hands on its lines, each when its end has come. */
export class LineReader {
  readonly #onLine: (line: string) => void
  #rest = ''
  #isTooLong = false

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine
  }

  add(text: string): void {
    // A long line is put together once, not anew with each of its pieces.
    const lines = text.includes('\n') ? (this.#rest + text).split('\n') : [this.#rest + text]
    this.#rest = lines.pop() ?? ''
    for (const line of lines) {
      if (!this.#isTooLong) this.#onLine(line)
      this.#isTooLong = false
    }
    if (this.#rest.length <= maxLineLength) return
    this.#rest = ''
    this.#isTooLong = true
  }
}
