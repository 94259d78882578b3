import { rmSync, truncateSync } from 'node:fs'
import { codeOf } from './file-trouble.ts'
import { indexPath, listSegments } from './payload-segments.ts'
import { entryBytes } from './segment-index.ts'

/** Another process may be about to give a full segment its name: it is looked for again. */
const rounds = 3

/**
 * Deletes all records of the log whose active file is at `filePath`: full segments with their indexes go, the
 * active file is emptied where it is, so that whoever has it open goes on with it. Throws the system's errors.
 */
export function clearPayloads(filePath: string): void {
  for (let round = 0; round < rounds; round++) {
    const full = listSegments(filePath).filter(({ path }) => path !== filePath)
    if (round > 0 && full.length === 0) return
    for (const { path } of full) {
      rmSync(path, { force: true })
      rmSync(indexPath(path), { force: true })
    }
    if (round > 0) continue
    ifThere(() => truncateSync(filePath, 0))
    // What says whose index it is stays.
    ifThere(() => truncateSync(indexPath(filePath), entryBytes))
  }
}

function ifThere(work: () => void): void {
  try {
    work()
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
  }
}
