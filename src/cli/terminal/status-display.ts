import type { ProcessStatus } from '../../api/process-status.ts'
import { stateText, statusLine } from './status-line.ts'
import type { Terminal } from './terminal.ts'

type Screen = Pick<Terminal, 'print' | 'width' | 'isWatched' | 'color'>

/** EL of ECMA-48: erases to the end of the line. */
const clearToEnd = '\u001b[K'

/**
 * Keeps the gateway's status on the last line of a terminal. If the output is no terminal, each change of the
 * state prints a line.
 */
export class StatusDisplay {
  readonly #screen: Screen
  /** The text on the last line of the terminal, or the last one printed elsewhere; null for none. */
  #shown: string | null = null
  #isClosed = false

  constructor(screen: Screen) {
    this.#screen = screen
  }

  show(status: ProcessStatus): void {
    const { print, width, isWatched, color } = this.#screen
    // Writing to the last column of a terminal may move the cursor to the next line.
    const shown = isWatched ? statusLine(status, { columns: width() - 1, color }) : status.state
    if (this.#isClosed || shown === this.#shown) return
    this.#shown = shown
    print(isWatched ? `\r${shown}${clearToEnd}` : `gateway: ${stateText(status)}\n`)
  }

  /** Prints a line above the status. */
  print(line: string): void {
    const { print, isWatched } = this.#screen
    if (!isWatched || this.#shown === null) print(`${line}\n`)
    else print(`\r${clearToEnd}${line}\n${this.#shown}`)
  }

  /** Ends the line of the last status. Later statuses are not shown. */
  close(): void {
    if (this.#screen.isWatched && this.#shown !== null) this.#screen.print('\n')
    this.#shown = null
    this.#isClosed = true
  }
}
