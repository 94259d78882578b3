const enter = '\x1b[?1049h\x1b[?25l'
const leave = '\x1b[?25h\x1b[?1049l'

/** A key by its name (`up`, `down`, `home`, `end`, `escape`, `interrupt`), or the character that it makes. */
export type Key = string

const namedKeys: Readonly<Record<string, Key>> = {
  '\x1b[A': 'up',
  '\x1bOA': 'up',
  '\x1b[B': 'down',
  '\x1bOB': 'down',
  '\x1b[H': 'home',
  '\x1b[F': 'end',
  '\x1b': 'escape',
  '\x03': 'interrupt',
  '\x04': 'interrupt',
}

/** The whole terminal, until it is closed: what it showed before comes back then. */
export interface FullScreen {
  readonly rows: number
  /** Puts these lines, none wider than the terminal, in place of what was there. */
  readonly draw: (lines: readonly string[]) => void
  /** Once more does nothing. Also done when the process ends without it. */
  readonly close: () => void
}

/** Takes the terminal over: `onKey` is told each key, `onResize` when it has another size, `onEnd` when it is gone. */
export function openFullScreen(on: {
  readonly key: (key: Key) => void
  readonly resize: () => void
  readonly end: () => void
}): FullScreen {
  const { stdin, stdout } = process
  const onData = (text: string): void => {
    // oxlint-disable-next-line no-control-regex -- what terminals send
    for (const [key] of text.matchAll(/\x1b(?:\[[\d;]*[A-Za-z~]|O[A-D])|[^]/gu)) on.key(namedKeys[key] ?? key)
  }
  let isOpen = true
  const close = (): void => {
    if (!isOpen) return
    isOpen = false
    stdin.off('data', onData).off('end', on.end).pause()
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
  stdin.setRawMode(true).setEncoding('utf8').on('data', onData).on('end', on.end).on('error', on.end)
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
