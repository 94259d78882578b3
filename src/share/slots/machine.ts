import { randomBytes } from 'node:crypto'
import { mkdirSync, readlinkSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { orNull } from '../../lib/errors.ts'
import { readText } from '../../lib/files/read-file.ts'
import { tryFileLock } from '../../lib/files/file-lock.ts'
import { type ProcessIdentity, isAlive, ownIdentity } from '../../lib/process/process-identity.ts'

/** The identity of a gateway's process among all machines. */
export interface RunIdentity extends ProcessIdentity {
  /** The id of the data folder, which the first start there creates. */
  readonly folder: string
  readonly host: string
  /** The PID namespace, in which process ids are valid: containers have their own. Null if unknown. */
  readonly pidNamespace: string | null
  readonly machineId: string | null
}

/** A gateway in the database's list. */
export interface ListedGateway extends RunIdentity {
  readonly instance: string
  readonly number: number
  /** Time (ms) since its last report. */
  readonly silentMs: number
}

/**
 * A process that cannot be checked counts as alive for this time after its last heartbeat. Three heartbeats
 * are enough that a copy of a folder or machine does not end a gateway.
 */
const silentLimitMs = 3000

/**
 * The identity of this run, with the folder's id, which is created if it is missing. Without a writable
 * folder the id is valid for this run only.
 */
export function ownRunIn(folder: string): RunIdentity {
  orNull(() => mkdirSync(folder, { recursive: true, mode: 0o700 }))
  return ownRun(folder)
}

/** The identity of this process as a run of the gateway in a folder. */
export function ownRun(folder: string): RunIdentity {
  return {
    ...ownIdentity(),
    folder: folderId(join(folder, '.share-id')),
    host: hostname(),
    pidNamespace: orNull(() => readlinkSync('/proc/self/ns/pid')),
    machineId: orNull(() => readText('/etc/machine-id').trim()),
  }
}

/**
 * Takes the lock that a run holds while it lives, by its number; null if another run has it, or the folder
 * cannot be written.
 */
export function lockRun(folder: string, number: number): Disposable | null {
  return orNull(() => tryFileLock(join(folder, `share-${number}.lock`)))
}

/** True if this machine can tell that a gateway has ended; false if it cannot tell. */
export function isSeenDead(gateway: ListedGateway, ownRun: RunIdentity, folder: string): boolean {
  const isSameBoot = gateway.bootId !== null && gateway.bootId === ownRun.bootId
  if (isSameBoot && gateway.pidNamespace !== null && gateway.pidNamespace === ownRun.pidNamespace)
    return !isAlive(gateway)
  if (gateway.silentMs < silentLimitMs) return false
  if (gateway.folder === ownRun.folder) {
    const lock = lockRun(folder, gateway.number)
    lock?.[Symbol.dispose]()
    return lock !== null
  }
  const isSameMachine =
    gateway.host === ownRun.host && gateway.machineId !== null && gateway.machineId === ownRun.machineId
  return isSameMachine && gateway.bootId !== null && ownRun.bootId !== null && !isSameBoot
}

/** The folder's id; one that cannot be saved is used for one run. */
function folderId(path: string): string {
  const fresh = randomBytes(12).toString('hex')
  try {
    writeFileSync(path, fresh, { mode: 0o600, flag: 'wx' })
    return fresh
  } catch {
    return orNull(() => readText(path).trim()) ?? fresh
  }
}
