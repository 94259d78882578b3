/** Writes a fault of the program itself to standard error; the process goes on. For a promise that nobody waits for. */
export function reportFault(error: unknown): void {
  console.error('tokenweir: a fault of the program, which goes on:', error)
}
