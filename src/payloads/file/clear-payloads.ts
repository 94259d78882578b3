import { closeSync, constants, ftruncateSync, openSync, rmSync } from 'node:fs'
import { codeOf } from '../../lib/errors.ts'
import { listSegments } from './payload-segments.ts'

/** Rounds of deletion, because another process may be renaming a full segment. */
const rounds = 3

/**
 * Deletes all records of the log with the active file at `filePath`. Full segments are deleted. The active
 * file is emptied, so that processes can continue to write to it. Throws the system's errors.
 */
export function clearPayloads(filePath: string): void {
  try {
    const file = openSync(filePath, constants.O_WRONLY | constants.O_NOFOLLOW)
    try {
      ftruncateSync(file)
    } finally {
      closeSync(file)
    }
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
  }
  for (let round = 0; round < rounds; round++) {
    const full = listSegments(filePath).filter(({ path }) => path !== filePath)
    for (const { path } of full) rmSync(path, { force: true })
    if (round > 0 && full.length === 0) return
  }
}
