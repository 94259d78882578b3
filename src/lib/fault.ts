/** Writes an internal error to standard error; the process continues. For promises without an `await`. */
export function reportFault(error: unknown): void {
  console.error('tokenweir: an internal error; the program continues:', error)
}
