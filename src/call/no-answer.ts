/** The question goes back to calls that were folded into sums, and those cannot answer it. */
export class FoldedRangeError extends Error {
  /** From this instant on, in milliseconds since the Unix epoch, there are calls to answer it. */
  readonly unfoldedFromMs: number

  constructor(unfoldedFromMs: number) {
    super('calls of that time were folded into sums, which do not tell this')
    this.name = 'FoldedRangeError'
    this.unfoldedFromMs = unfoldedFromMs
  }
}

/** True if the time that an answer may take is over. Asked every few milliseconds, so it must be cheap. */
export type IsOver = () => boolean

/** The answer would take longer than its asker gave it. Nothing is wrong: a shorter range or a coarser key would do. */
export class QueryTooSlowError extends Error {
  override readonly name = 'QueryTooSlowError'
  override readonly message = 'the answer takes longer than it may'
}
