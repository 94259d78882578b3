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
