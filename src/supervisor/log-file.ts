import { closeSync, constants, writeSync } from 'node:fs'
import { type FileHandle, chmod, copyFile, open, rm, stat } from 'node:fs/promises'
import { systemClock } from '../call/clock.ts'
import { codeOf } from '../lib/errors.ts'
import { openOwnFile } from '../lib/files/file-rights.ts'
import { startPoll } from './poll.ts'
import { LineSplitter, cleanLine, countLines } from './log-line.ts'

/** From this size on the log is moved aside. */
const maxLogBytes = 50 * 1024 ** 2
const blockBytes = 64 * 1024
/** Lines that begin further back than this are not looked for. */
const maxTailBytes = 4 * 1024 ** 2
const newline = 0x0a
const checkEveryMs = 200
/** How many of the lines that are there already a watcher is told. */
const firstLines = 500

/** The output of a started gateway. The gateway itself writes it; here it is read, emptied and moved aside. */
export class LogFile {
  readonly path: string
  /** The number of lines up to a place of a file. */
  #count = { inode: 0, offset: 0, lines: 0 }

  constructor(path: string) {
    this.path = path
  }

  /** Bytes in it, so that what is printed from now on can be told apart. */
  async size(): Promise<number> {
    return (await stat(this.path).catch(unlessAbsent))?.size ?? 0
  }

  /**
   * The last lines, at most so many, and how many there are. Lines hold no control characters. `from`: only what was
   * printed since the log had this size.
   */
  async tail(
    count: number,
    from = 0,
  ): Promise<{ readonly lines: readonly string[]; readonly totalLines: number }> {
    try {
      await using file = await open(this.path, 'r')
      const { size, ino } = await file.stat()
      // Shorter than it was: it has been emptied since.
      const { lines, rest } = await readTail(file, from <= size ? from : 0, size, count)
      const totalLines = await this.#countTo(file, ino, size)
      if (rest.length === 0) return { lines, totalLines }
      return { lines: [...lines, cleanLine(rest)].slice(-count), totalLines: totalLines + 1 }
    } catch (error) {
      unlessAbsent(error)
      return { lines: [], totalLines: 0 }
    }
  }

  /**
   * Tells first, with `reset`, of the last lines there are, and then of lines as they are added, until the
   * returned function is called. `reset` again says that the log begins anew with these lines. It looks at the file's
   * size, because notifications of file systems come differently on each, and on some not at all.
   */
  watch(onLines: (lines: readonly string[], reset: boolean) => void): () => void {
    /** The inode of the file that was read; null while there is none, -1 before the first read. */
    let inode: number | null = -1
    let offset = 0
    let splitter = new LineSplitter()
    let isClosed = false

    const send = (lines: readonly string[], reset: boolean): void => {
      if (!isClosed) onLines(lines, reset)
    }
    const readNew = async (): Promise<void> => {
      const { ino, size } = await stat(this.path)
      if (ino === inode && size === offset) return
      await using file = await open(this.path, 'r')
      if (ino === inode && size > offset) {
        for await (const block of readBlocks(file, offset, size)) {
          const lines = splitter.push(block)
          offset += block.length
          if (lines.length > 0) send(lines, false)
        }
        return
      }
      // At first, and when the log was cleared or another file has taken its place.
      const { lines, rest } = await readTail(file, 0, size, firstLines)
      inode = ino
      offset = size
      splitter = new LineSplitter(rest)
      send(lines, true)
    }
    // There is no file, or none that can be read: a log without lines.
    const onFault = (): void => {
      if (inode !== null) send([], true)
      inode = null
    }
    const poll = startPoll({ clock: systemClock, everyMs: checkEveryMs, read: readNew, onFault })
    return () => {
      isClosed = true
      poll.stop()
    }
  }

  /** Adds a line of the dashboard's own. A log that cannot be written is no reason to stop anything. */
  append(line: string): void {
    try {
      using closing = new DisposableStack()
      const file = closing.adopt(openOwnFile(this.path, constants.O_WRONLY | constants.O_APPEND), closeSync)
      writeSync(file, `${line}\n`)
    } catch {
      // The line was told elsewhere, too.
    }
  }

  /** Empties it. Rejects with the system's error. */
  async clear(): Promise<void> {
    await rm(this.#rotatedPath, { force: true })
    await this.#empty()
  }

  /** Rejects with the system's error. */
  async rotateIfLarge(): Promise<void> {
    if ((await this.size()) < maxLogBytes) return
    // Copied and emptied, not renamed: the gateway would go on writing to the renamed file.
    // A link in its place is not followed.
    await rm(this.#rotatedPath, { force: true })
    await copyFile(this.path, this.#rotatedPath, constants.COPYFILE_EXCL)
    await chmod(this.#rotatedPath, 0o600)
    await this.#empty()
  }

  get #rotatedPath(): string {
    return `${this.path}.1`
  }

  async #empty(): Promise<void> {
    this.#count = { inode: 0, offset: 0, lines: 0 }
    try {
      await using file = await open(this.path, constants.O_WRONLY | constants.O_NOFOLLOW)
      await file.truncate()
    } catch (error) {
      unlessAbsent(error)
    }
  }

  /** Counts on from its last count. */
  async #countTo(file: FileHandle, inode: number, size: number): Promise<number> {
    const known = this.#count
    const isKnown = known.inode === inode && known.offset <= size
    let { offset, lines } = isKnown ? known : { offset: 0, lines: 0 }
    for await (const block of readBlocks(file, offset, size)) lines += countLines(block)
    this.#count = { inode, offset: size, lines }
    return lines
  }
}

/** Throws what says anything else than that there is no file. */
function unlessAbsent(error: unknown): undefined {
  if (codeOf(error) !== 'ENOENT') throw error
}

/** The end of a log. */
interface Tail {
  /** Whole lines. */
  readonly lines: readonly string[]
  /** Bytes behind the last line break. */
  readonly rest: Buffer
}

/** The last lines between two places of a file, read from its end. */
async function readTail(file: FileHandle, from: number, to: number, count: number): Promise<Tail> {
  const floor = Math.max(from, to - maxTailBytes)
  const blocks: Buffer[] = []
  let start = to
  // One line break more than lines, so that the first line is known to be whole.
  for (let breaks = 0; start > floor && breaks <= count;) {
    const block = await readBlock(file, Math.max(floor, start - blockBytes), start)
    blocks.unshift(block)
    breaks += countLines(block)
    start = Math.max(floor, start - blockBytes)
  }
  const bytes = Buffer.concat(blocks)
  const begin = start > from ? bytes.indexOf(newline) + 1 : 0
  const end = bytes.lastIndexOf(newline) + 1
  const lines = begin < end ? new LineSplitter().push(bytes.subarray(begin, end)) : []
  return { lines: count > 0 ? lines.slice(-count) : [], rest: bytes.subarray(Math.max(begin, end)) }
}

/** The bytes between two places, one block at a time; fewer if the file has become shorter. */
async function* readBlocks(file: FileHandle, from: number, to: number): AsyncGenerator<Buffer> {
  for (let start = from; start < to; start += blockBytes) {
    yield await readBlock(file, start, Math.min(to, start + blockBytes))
  }
}

async function readBlock(file: FileHandle, from: number, to: number): Promise<Buffer> {
  const block = Buffer.allocUnsafe(to - from)
  const { bytesRead } = await file.read(block, 0, block.length, from)
  return block.subarray(0, bytesRead)
}
