/** The last lines of a log, and how many there are. */
export interface LogTail {
  readonly lines: readonly string[]
  readonly totalLines: number
}

/** The gateway's log, as the dashboard reads it. Lines hold no control characters. */
export interface LogSource {
  tail(lines: number): Promise<LogTail>
  clear(): Promise<void>
  /**
   * Tells first, with `reset`, of the last lines there are, and then of lines as they are added, none twice
   * and none left out, until the returned function is called. `reset` again says that the log begins anew
   * with these lines.
   */
  watch(onLines: (lines: readonly string[], reset: boolean) => void): () => void
}
