import type { LogLines } from '../../src/api/dashboard-event.ts'

/** A line of the log. */
export interface LogLine {
  /** How many came before it, of all that were told of since the page was opened. */
  readonly at: number
  readonly text: string
}

const keptLines = 2000

/** The last lines of the gateway's log, as they are told of. */
export interface LogTail {
  readonly lines: readonly LogLine[]
  /** How many lines were told of, whether they are kept or not. */
  readonly told: number
  /** How often the lines were replaced by others: when the log was cleared, or the page lost its connection. */
  readonly resets: number
}

export const emptyLog: LogTail = { lines: [], told: 0, resets: 0 }

/** Adds what is told of; `kept` is how many lines are kept at most. */
export function withLines(
  { lines: before, told, resets }: LogTail,
  { lines, reset }: LogLines,
  kept: number = keptLines,
): LogTail {
  const added = lines.map((text, at): LogLine => ({ at: told + at, text }))
  return {
    lines: [...(reset ? [] : before), ...added].slice(-kept),
    told: told + lines.length,
    resets: resets + (reset ? 1 : 0),
  }
}
