/** The question includes calls that were folded into sums, and the sums cannot answer it. */
export class FoldedRangeError extends Error {
  /** From this instant on, calls exist one by one: ms since the Unix epoch. */
  readonly unfoldedFromMs: number

  constructor(unfoldedFromMs: number) {
    super('calls of that time were folded into sums, which do not show this')
    this.name = 'FoldedRangeError'
    this.unfoldedFromMs = unfoldedFromMs
  }
}

/** True once the time for the answer is over. Callers ask every few milliseconds, so the check must be cheap. */
export type IsOver = () => boolean

/** The answer takes longer than its time limit. A shorter range or a coarser key helps. */
export class QueryTooSlowError extends Error {
  override readonly name = 'QueryTooSlowError'
  override readonly message = 'the answer takes longer than it may'
}
