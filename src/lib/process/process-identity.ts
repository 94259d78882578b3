import { readFileSync } from 'node:fs'
import { codeOf, orNull } from '../errors.ts'

/** A process, distinguishable from a later process with the same id. */
export interface ProcessIdentity {
  readonly pid: number
  /** Clock ticks from boot to the process's start; only on Linux. */
  readonly startTicks: number | null
  readonly bootId: string | null
}

/** The identity of this process. */
export function ownIdentity(): ProcessIdentity {
  return { pid: process.pid, startTicks: procStat(process.pid)?.startTicks ?? null, bootId: bootId() }
}

/** True if this very process still runs. A zombie does not count as running. */
export function isAlive(identity: ProcessIdentity): boolean {
  if (identity.startTicks === null || identity.bootId === null) return answersSignals(identity.pid)
  if (identity.bootId !== bootId()) return false
  const stat = procStat(identity.pid)
  return stat !== null && stat.startTicks === identity.startTicks && !'ZX'.includes(stat.state)
}

/**
 * Fields 3 and 22 of `/proc/<pid>/stat` (proc_pid_stat(5)). Field 2, the program's name, may contain
 * anything, and ends at the last `)`.
 */
export function parseStat(text: string): { readonly state: string; readonly startTicks: number } | null {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const [state] = fields
  const startTicks = Number(fields[19])
  return state === undefined || !Number.isSafeInteger(startTicks) ? null : { state, startTicks }
}

function procStat(pid: number): ReturnType<typeof parseStat> {
  const text = read(`/proc/${pid}/stat`)
  return text === null ? null : parseStat(text)
}

function bootId(): string | null {
  return read('/proc/sys/kernel/random/boot_id')?.trim() ?? null
}

function read(path: string): string | null {
  return orNull(() => readFileSync(path, 'utf8'))
}

function answersSignals(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return codeOf(error) === 'EPERM'
  }
}
