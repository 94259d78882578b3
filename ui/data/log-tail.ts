import type { LogLines } from '../../src/api/dashboard-event.ts'

/** A line of the log. */
export interface LogLine {
  /** How many came before it, of all that were told of since the page was opened. */
  readonly at: number
  readonly text: string
}

const keptLines = 2000

/** A log of which nothing was told. */
export const emptyLog = {
  lines: [] as readonly LogLine[],
  /** How many lines were told of, whether they are kept or not. */
  told: 0,
  /** How often the lines were replaced by others: when the log was cleared, or the page lost its connection. */
  resets: 0,
}

/** The last lines of the gateway's log, as they are told of. */
export type LogTail = Readonly<typeof emptyLog>

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
