import { randomInt } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { instanceNumbers } from '../../call/call-id.ts'
import { tryFileLock } from '../../lib/files/file-lock.ts'

/** A number that ids of calls carry, so that no two gateways on one database give out the same. */
export interface InstanceNumber extends Disposable {
  readonly value: number
  /** True if no other gateway on this folder has the number, until it is disposed of or this process ends. */
  readonly isOwn: boolean
}

/** The path of the lock of the gateway with that number. If the lock is free, the gateway has ended. */
export function instanceLockPath(folder: string, number: number): string {
  return join(folder, `instance-${number}.lock`)
}

/** True if a gateway that records in this folder runs. */
export function anyInstanceRuns(folder: string): boolean {
  for (let number = 0; number < instanceNumbers; number++) {
    const path = instanceLockPath(folder, number)
    if (!existsSync(path)) continue
    using lock = tryFileLock(path)
    if (lock === null) return true
  }
  return false
}

/** Takes the lowest free number; a random one if the folder cannot be written, or no number is free. */
export function takeInstanceNumber(folder: string): InstanceNumber {
  for (let value = 0; value < instanceNumbers; value++) {
    try {
      const lock = tryFileLock(instanceLockPath(folder, value))
      if (lock !== null) return { value, isOwn: true, [Symbol.dispose]: () => lock[Symbol.dispose]() }
    } catch {
      // If no file can be locked, none can be written either, and the writer warns of that.
    }
  }
  return { value: randomInt(instanceNumbers), isOwn: false, [Symbol.dispose]: () => {} }
}
