import { existsSync, renameSync, rmSync } from 'node:fs'
import { codeOf } from './file-trouble.ts'
import { mendIndex } from './mend-index.ts'
import { OpenSegment } from './open-segment.ts'
import { seqOf } from './payload-line.ts'
import { claimedPath, fullPath, indexPath, listSegments, totalBytes } from './payload-segments.ts'

const firstLineBytes = 64

/** Renames the files of one log and deletes what is too much of them. Throws the system's errors. */
export class SegmentRotation {
  readonly #filePath: string
  readonly #totalBytes: number
  readonly #nextSeq: () => number
  #claims = 0

  constructor(filePath: string, totalBytesLimit: number, nextSeq: () => number) {
    this.#filePath = filePath
    this.#totalBytes = totalBytesLimit
    this.#nextSeq = nextSeq
  }

  /**
   * The active file becomes a full segment, whichever file it is by now: another process may have been faster.
   * First it gets a name of this process alone, so that its first record can be read and no file is overwritten.
   */
  rotate(): void {
    const claimed = claimedPath(this.#filePath, ++this.#claims)
    // First, so that nobody takes it for the index of the next active file.
    renameIfThere(indexPath(this.#filePath), indexPath(claimed))
    if (renameIfThere(this.#filePath, claimed)) this.#name(claimed)
    else rmSync(indexPath(claimed), { force: true })
  }

  /** At the start: names what a killed process claimed and did not name, mends indexes, deletes what is too much. */
  tidy(): void {
    for (const { path, firstSeq } of listSegments(this.#filePath)) {
      if (path === this.#filePath) continue
      const owner = firstSeq === null ? /full-(\d+)-\d+/.exec(path)?.[1] : undefined
      if (firstSeq !== null) mendIndex(path)
      else if (owner !== undefined && !isAtWork(Number(owner))) this.#name(path)
    }
    this.dropOldest()
  }

  /** Until the rest is within the limit. The active file stays. */
  dropOldest(): void {
    const segments = listSegments(this.#filePath)
    let bytes = totalBytes(segments)
    for (const segment of segments) {
      if (bytes <= this.#totalBytes || segment.path === this.#filePath) return
      rmSync(segment.path, { force: true })
      rmSync(indexPath(segment.path), { force: true })
      bytes -= segment.bytes
    }
  }

  #name(claimed: string): void {
    const path = fullPath(this.#filePath, this.#seqFor(claimed))
    // Where it was cleared away meanwhile, there is nothing to be named.
    renameIfThere(indexPath(claimed), indexPath(path))
    if (renameIfThere(claimed, path)) mendIndex(path)
    else rmSync(indexPath(path), { force: true })
  }

  /** Its first record's, or what keeps it the newest where that is not its place, or is taken. */
  #seqFor(claimed: string): number {
    using segment = OpenSegment.open(claimed)
    const first = segment === null ? null : seqOf(segment.read(0, firstLineBytes), 0)
    const newest = listSegments(this.#filePath).findLast(({ firstSeq }) => firstSeq !== null)?.firstSeq ?? 0
    const seq = first !== null && first > newest ? first : Math.max(this.#nextSeq(), newest + 1)
    return existsSync(fullPath(this.#filePath, seq)) ? this.#nextSeq() : seq
  }
}

function renameIfThere(from: string, to: string): boolean {
  try {
    renameSync(from, to)
    return true
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false
    throw error
  }
}

/** Whether that process may still give its claim a name. This one has claimed nothing yet when it tidies. */
function isAtWork(pid: number): boolean {
  if (pid === process.pid) return false
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return codeOf(error) === 'EPERM'
  }
}
