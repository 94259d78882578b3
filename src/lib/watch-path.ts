import { unwatchFile, watchFile } from 'node:fs'

/**
 * Calls back when the file of a name has come, gone, or changed, and once after the first interval: what happened before the
 * system's own first look, a while from now, it would never tell. Does not keep a process alive. Answers how to stop it.
 */
export function watchPath(path: string, everyMs: number, onChange: () => void): () => void {
  // A listener of its own, by which alone it is stopped.
  const listener = (): void => onChange()
  watchFile(path, { interval: everyMs, persistent: false }, listener)
  const timer = setTimeout(onChange, everyMs).unref()
  return () => {
    clearTimeout(timer)
    unwatchFile(path, listener)
  }
}
