import type { ProcessStatus } from '../../api/process-status.ts'
import { stateText, statusLine } from './status-line.ts'

export interface StatusDisplayOptions {
  readonly stream: { write(text: string): unknown }
  /** The terminal's width now; undefined where it is not known. */
  readonly columns: () => number | undefined
  readonly isTTY: boolean
  readonly color: boolean
}

const usualColumns = 80
/** EL of ECMA-48: to the end of the line. */
const clearToEnd = '\u001b[K'

/**
 * Keeps how the gateway is on the last line of a terminal. Where the output is no terminal, it says only when
 * the state changes, a line each.
 */
export class StatusDisplay {
  readonly #options: StatusDisplayOptions
  /** What stands on the last line of the terminal, or was said last elsewhere; null for nothing. */
  #shown: string | null = null
  #closed = false

  constructor(options: StatusDisplayOptions) {
    this.#options = options
  }

  show(status: ProcessStatus): void {
    if (this.#closed) return
    if (this.#options.isTTY) this.#redraw(status)
    else this.#note(status)
  }

  /** A line of its own, above the status. */
  print(line: string): void {
    const { stream, isTTY } = this.#options
    if (!isTTY || this.#shown === null) stream.write(`${line}\n`)
    else stream.write(`\r${clearToEnd}${line}\n${this.#shown}`)
  }

  /** Leaves the last status where it stands, with a line's end behind it. Later ones are not shown. */
  close(): void {
    if (this.#options.isTTY && this.#shown !== null) this.#options.stream.write('\n')
    this.#shown = null
    this.#closed = true
  }

  #redraw(status: ProcessStatus): void {
    const { columns, color, stream } = this.#options
    // A terminal whose last column is written to may go on to the next line.
    const text = statusLine(status, { columns: (columns() ?? usualColumns) - 1, color })
    if (text === this.#shown) return
    this.#shown = text
    stream.write(`\r${text}${clearToEnd}`)
  }

  #note(status: ProcessStatus): void {
    if (status.state === this.#shown) return
    this.#shown = status.state
    this.#options.stream.write(`gateway: ${stateText(status)}\n`)
  }
}
