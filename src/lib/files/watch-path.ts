import { unwatchFile, watchFile } from 'node:fs'
import { reportFault } from '../fault.ts'

/**
 * Calls back when a file appears, disappears or changes, and once after the first interval: the system
 * does not report changes before its own first look. An error of `onChange` is reported, and the watch continues.
 * The watch does not keep a process alive. Returns a function that stops it.
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
