import { type Clock, systemClock } from '../../call/clock.ts'
import { withEscapes } from '../../lib/unprintable.ts'
import type { LineStyle } from './paint.ts'

/** The output of a command, and its clock. */
export interface Terminal {
  readonly clock: Clock
  readonly print: (text: string) => void
  readonly warn: (text: string) => void
  /** Present width of a line in columns. */
  readonly width: () => number
  readonly color: boolean
  /** True if the output is a terminal, not a file or a pipe. */
  readonly isWatched: boolean
  /** Aborted when the output is closed. */
  readonly signal: AbortSignal
}

/** The current style of lines. */
export function lineStyle({ width, color, clock }: Pick<Terminal, 'width' | 'color' | 'clock'>): LineStyle {
  return { width: width(), color, nowMs: clock.wallTime() }
}

/** Columns of a terminal that does not report them. */
const usualWidth = 80
/** Columns if the output goes to a file or a pipe: room for all columns of a table. */
const unboundedWidth = 240

/** The terminal, file or pipe of the current process. */
export function thisTerminal(): Terminal {
  const { stdout, stderr, env } = process
  const closed = new AbortController()
  // The reader has closed the pipe, as `head` does: no error.
  stdout.on('error', () => closed.abort())
  return {
    clock: systemClock,
    print: (text) => stdout.write(withEscapes(text)),
    warn: (text) => stderr.write(withEscapes(text)),
    width: () => (stdout.isTTY ? stdout.columns || usualWidth : Number(env['COLUMNS']) || unboundedWidth),
    color: stdout.isTTY && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb',
    isWatched: stdout.isTTY,
    signal: closed.signal,
  }
}
