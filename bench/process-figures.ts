import { readFileSync } from 'node:fs'

/** Linux counts in hundredths of a second on every platform that Node runs on (USER_HZ). */
const usPerTick = 10_000

/** CPU time of all threads of a process so far, user and system, in microseconds. */
export function cpuUs(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
  // The command's name, in parentheses, may hold spaces: fields are counted after it (proc(5): utime is 14).
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * usPerTick
}

/** Resident memory of a process in bytes. */
export function residentBytes(pid: number): number {
  const match = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))
  return Number(match?.[1] ?? 0) * 1024
}

/** How many files a process of this user may open. */
export function openFilesLimit(): number {
  const match = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))
  return Number(match?.[1] ?? 1024)
}
