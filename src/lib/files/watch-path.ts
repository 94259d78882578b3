import { unwatchFile, watchFile } from 'node:fs'
import { reportFault } from '../fault.ts'

/**
 * Calls back when the file of a name has come, gone, or changed, and once after the first interval: what happened before the
 * system's own first look, a while from now, it would never tell. An `onChange` that throws is reported, and the watch goes
 * on. Does not keep a process alive. Answers how to stop it.
 */
export function watchPath(path: string, everyMs: number, onChange: () => void): () => void {
  // A listener of its own, by which alone it is stopped.
  const listener = (): void => {
    try {
      onChange()
    } catch (error) {
      reportFault(error)
    }
  }
  watchFile(path, { interval: everyMs, persistent: false }, listener)
  const timer = setTimeout(listener, everyMs).unref()
  return () => {
    clearTimeout(timer)
    unwatchFile(path, listener)
  }
}
