import type { LogLines } from '../../src/api/dashboard-event.ts'

/** A line of the log. */
export interface LogLine {
  /** The number of earlier lines since the page was opened. */
  readonly at: number
  readonly text: string
}

const keptLines = 2000

/** A log without lines. */
export const emptyLog = {
  lines: [] as readonly LogLine[],
  /** The number of lines that arrived, including dropped ones. */
  total: 0,
  /** The number of times that all lines were replaced, after the log was cleared or the connection was lost. */
  resets: 0,
}

/** The last lines of the gateway's log. */
export type LogTail = Readonly<typeof emptyLog>

/** Returns the log with further lines, of which the last `mostLines` are kept. */
export function withLines(
  { lines: before, total, resets }: LogTail,
  { lines, reset }: LogLines,
  mostLines: number = keptLines,
): LogTail {
  const newLines = lines.map((text, at): LogLine => ({ at: total + at, text }))
  return {
    lines: [...(reset ? [] : before), ...newLines].slice(-mostLines),
    total: total + lines.length,
    resets: resets + (reset ? 1 : 0),
  }
}
