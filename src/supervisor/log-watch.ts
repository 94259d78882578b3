import { open, stat } from 'node:fs/promises'
import type { Clock } from '../call/clock.ts'
import { LineSplitter } from './log-line.ts'
import { readBlocks, readTail } from './log-tail.ts'

const lookEveryMs = 200
/** How many of the lines that are there already are told. */
const firstLines = 500

/**
 * Tells of a log's lines as they are added, until the returned function is called; with `reset` first, and whenever the
 * log begins anew. It looks at the file's size, because notifications of file systems come differently on each, and on
 * some not at all.
 */
export function watchLog(
  path: string,
  clock: Clock,
  onLines: (lines: readonly string[], reset: boolean) => void,
): () => void {
  /** Of the file as far as it has been read; null while there is none. */
  let inode: number | null = null
  let offset = 0
  let splitter = new LineSplitter()
  let hasTold = false
  let isClosed = false
  let cancelNext = (): void => {}

  const tell = (lines: readonly string[], reset: boolean): void => {
    if (isClosed) return
    hasTold = true
    onLines(lines, reset)
  }
  const look = async (): Promise<void> => {
    const { ino, size } = await stat(path)
    if (ino === inode && size === offset) return
    await using file = await open(path, 'r')
    if (ino === inode && size > offset) {
      for await (const block of readBlocks(file, offset, size)) {
        const lines = splitter.push(block)
        offset += block.length
        if (lines.length > 0) tell(lines, false)
      }
      return
    }
    // At first, and when the log was cleared or another file has taken its place.
    const { lines, rest } = await readTail(file, 0, size, firstLines)
    inode = ino
    offset = size
    splitter = new LineSplitter(rest)
    tell(lines, true)
  }
  const keepLooking = async (): Promise<void> => {
    try {
      await look()
    } catch {
      // There is no file, or none that can be read: a log without lines.
      if (inode !== null || !hasTold) tell([], true)
      inode = null
    }
    if (!isClosed) cancelNext = clock.after(lookEveryMs, () => void keepLooking(), { background: true })
  }

  void keepLooking()
  return () => {
    isClosed = true
    cancelNext()
  }
}
