/** Writes an internal error to standard error; the process continues. For promises without an `await`. */
export function reportFault(error: unknown): void {
  console.error('tokenweir: a fault of the program, which goes on:', error)
}
