import { type BigIntStats, stat } from 'node:fs'
import { reportFault } from '../fault.ts'

/**
 * Calls back when a file appears, disappears or changes, and once after the first interval. Each check
 * compares with the one before, so a change while `onChange` runs is found by the next check. `fs.watchFile`
 * could miss a change before its own first check, which a busy system delays. An error of `onChange` is
 * reported, and the watch continues. The watch does not keep a process alive. Returns a function that stops
 * it.
 */
export function watchPath(path: string, everyMs: number, onChange: () => void): () => void {
  let lastState = ''
  let isLooking = false
  let hasStopped = false
  const look = (): void => {
    if (isLooking) return
    isLooking = true
    stat(path, { bigint: true }, (error, stats) => {
      isLooking = false
      const state = error === null ? stateOf(stats) : String(error.code)
      if (hasStopped || state === lastState) return
      lastState = state
      try {
        onChange()
      } catch (fault) {
        reportFault(fault)
      }
    })
  }
  const timer = setInterval(look, everyMs).unref()
  return () => {
    hasStopped = true
    clearInterval(timer)
  }
}

function stateOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join()
}
