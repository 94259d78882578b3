import { closeSync, openSync, renameSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { codeOf } from './file-trouble.ts'
import { OpenSegment } from './open-segment.ts'
import { indexPath } from './payload-segments.ts'
import { encodeEntries, headerEntry } from './segment-index.ts'

/** An index that leaves out more than this is written anew; less is searched at each reading. */
const toleratedGapBytes = 8 * 2 ** 20

/** Writes the index of a full segment anew where it is missing or leaves out too much. Throws the system's errors. */
export function mendIndex(path: string): void {
  using segment = OpenSegment.open(path)
  if (segment !== null && segment.content().searchedBytes > toleratedGapBytes) rewrite(path, segment)
}

/** Opens the index of the active segment for appending, and writes it first where it is missing or of another file. */
export function openIndex(path: string): number {
  using segment = OpenSegment.open(path)
  if (segment !== null && !isCreated(path, segment)) {
    const isUsable = segment.hasOwnIndex() && segment.content().searchedBytes <= toleratedGapBytes
    if (!isUsable) rewrite(path, segment)
  }
  return openSync(indexPath(path), 'a', 0o600)
}

/** Of two processes that come upon a new file at once, one makes its index: the other would take it away. */
function isCreated(path: string, segment: OpenSegment): boolean {
  if (segment.size > toleratedGapBytes) return false
  try {
    const file = openSync(indexPath(path), 'ax', 0o600)
    try {
      writeSync(file, encodeEntries([headerEntry(segment.fileNumber)]))
    } finally {
      closeSync(file)
    }
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  }
}

function rewrite(path: string, segment: OpenSegment): void {
  const temporary = `${indexPath(path)}.${process.pid}.new`
  try {
    const bytes = encodeEntries([headerEntry(segment.fileNumber), ...segment.entries()])
    writeFileSync(temporary, bytes, { mode: 0o600 })
    renameSync(temporary, indexPath(path))
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}
