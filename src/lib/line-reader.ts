/** Takes text in pieces and hands on its lines, each when its end has come. */
export class LineReader {
  readonly #onLine: (line: string) => void
  #rest = ''

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine
  }

  add(text: string): void {
    // A long line is put together once, not anew with each of its pieces.
    if (!text.includes('\n')) {
      this.#rest += text
      return
    }
    const lines = (this.#rest + text).split('\n')
    this.#rest = lines.pop() ?? ''
    for (const line of lines) this.#onLine(line)
  }
}
