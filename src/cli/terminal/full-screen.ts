import { emitKeypressEvents } from 'node:readline'

const enter = '\x1b[?1049h\x1b[?25l'
const leave = '\x1b[?25h\x1b[?1049l'

/** The whole terminal, until it is closed: what it showed before comes back then. */
export interface FullScreen {
  readonly rows: number
  /** Puts these lines, none wider than the terminal, in place of what was there. */
  readonly draw: (lines: readonly string[]) => void
  /** Once more does nothing. Also done when the process ends without it. */
  readonly close: () => void
}

/**
 * Takes the terminal over. `key` is told the name of each key (`up`, `q`), `resize` when the terminal has another size,
 * `end` when it is gone, or Ctrl-C was pressed.
 */
export function openFullScreen(on: {
  readonly key: (name: string) => void
  readonly resize: () => void
  readonly end: () => void
}): FullScreen {
  const { stdin, stdout } = process
  const onKey = (text: string | undefined, { ctrl = false, name = text ?? '' }: KeyPress): void =>
    ctrl && name === 'c' ? on.end() : on.key(name)
  let isOpen = true
  const close = (): void => {
    if (!isOpen) return
    isOpen = false
    stdin.off('keypress', onKey).pause()
    stdout.off('resize', on.resize)
    process.off('exit', close)
    try {
      stdin.setRawMode(false)
      stdout.write(leave)
    } catch {
      // The terminal has gone away.
    }
  }
  process.on('exit', close)
  emitKeypressEvents(stdin)
  stdin.setRawMode(true).on('keypress', onKey).once('end', on.end).once('error', on.end)
  stdout.on('resize', on.resize)
  stdout.write(enter)
  return {
    get rows() {
      return stdout.rows || 24
    },
    draw: (lines) => {
      if (isOpen) stdout.write(`\x1b[H${lines.map((line) => `${line}\x1b[K`).join('\r\n')}\x1b[J`)
    },
    close,
  }
}

interface KeyPress {
  readonly ctrl?: boolean
  readonly name?: string
}
