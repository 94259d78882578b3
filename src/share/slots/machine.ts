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
  /** The id of its data folder, made up at the first start there; lost with the folder. */
  readonly folder: string
  readonly host: string
  /** Numbers of processes mean something only in the same one: containers have their own. */
  readonly pidNamespace: string | null
  readonly machineId: string | null
}

/** A gateway in the database's list. */
export interface ListedGateway extends RunIdentity {
  readonly instance: string
  readonly number: number
  /** Since it was heard of last. */
  readonly silentMs: number
}

/**
 * A process that cannot be checked counts as alive for this time after its last heartbeat: three heartbeats,
 * so that a copied folder or machine ends no gateway.
 */
const silentLimitMs = 3000

/** Makes the folder, so that the next run there is known for one of the same. A gateway that cannot have one serves all the same. */
export function ownRunIn(folder: string): RunIdentity {
  orNull(() => mkdirSync(folder, { recursive: true, mode: 0o700 }))
  return ownRun(folder)
}

export function ownRun(folder: string): RunIdentity {
  return {
    ...ownIdentity(),
    folder: folderId(join(folder, '.share-id')),
    host: hostname(),
    pidNamespace: orNull(() => readlinkSync('/proc/self/ns/pid')),
    machineId: orNull(() => readText('/etc/machine-id').trim()),
  }
}

/** Held by the run with that number, as long as it lives; null if another has it, or the folder cannot hold it. */
export function lockRun(folder: string, number: number): Disposable | null {
  return orNull(() => tryFileLock(join(folder, `share-${number}.lock`)))
}

/** True if it can be seen from here that a gateway has ended. False also where nothing can be seen. */
export function isSeenDead(other: ListedGateway, ownRun: RunIdentity, folder: string): boolean {
  const isSameBoot = other.bootId !== null && other.bootId === ownRun.bootId
  if (isSameBoot && other.pidNamespace !== null && other.pidNamespace === ownRun.pidNamespace)
    return !isAlive(other)
  if (other.silentMs < silentLimitMs) return false
  if (other.folder === ownRun.folder) {
    const lock = lockRun(folder, other.number)
    lock?.[Symbol.dispose]()
    return lock !== null
  }
  const isSameMachine =
    other.host === ownRun.host && other.machineId !== null && other.machineId === ownRun.machineId
  return isSameMachine && other.bootId !== null && ownRun.bootId !== null && !isSameBoot
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
