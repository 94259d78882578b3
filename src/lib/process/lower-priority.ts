import { constants, setPriority } from 'node:os'

/** Lowers the priority of a process, but not to the lowest, so that it still makes progress on a busy processor. */
export function lowerPriority(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL)
  } catch {
    // The process has ended, or the system refuses: it keeps its priority.
  }
}
