import { constants, setPriority } from 'node:os'

/** Lets other processes go first where the processor is short. Not the lowest: the process still has to come on. */
export function lowerPriority(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL)
  } catch {
    // The process has ended, or the system refuses: it keeps its priority.
  }
}
