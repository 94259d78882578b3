import { closeSync, constants, existsSync, openSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { lockPayloads } from './lock-payloads.ts'
import { listSegments } from './payload-segments.ts'

/**
 * Deletes all records of the log with the active file at `filePath`. Full segments are deleted. The active
 * file is emptied, so that processes can continue to write to it. Throws the system's errors.
 */
export function clearPayloads(filePath: string): void {
  if (!existsSync(dirname(filePath))) return
  using _lock = lockPayloads(filePath)
  for (const { path } of listSegments(filePath)) {
    if (path !== filePath) rmSync(path, { force: true })
    else closeSync(openSync(path, constants.O_WRONLY | constants.O_TRUNC | constants.O_NOFOLLOW))
  }
}
