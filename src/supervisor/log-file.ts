import { closeSync, constants, writeSync } from 'node:fs'
import { type FileHandle, chmod, copyFile, open, rm, stat } from 'node:fs/promises'
import { systemClock } from '../call/clock.ts'
import { nullIfMissing } from '../lib/errors.ts'
import { openOwnFile } from '../lib/files/file-rights.ts'
import { startPoll } from '../lib/poll.ts'
import { LineSplitter, cleanLine, countLines } from './log-line.ts'

/** A log of this size (bytes) is moved aside. */
const maxLogBytes = 50 * 1024 ** 2
const blockBytes = 64 * 1024
/** Most bytes that are searched for the last lines. */
const maxTailBytes = 4 * 1024 ** 2
const newline = 0x0a
const checkEveryMs = 200
/** Most existing lines that a watcher gets at first. */
const firstLines = 500

/** The log of a started gateway. The gateway writes it; this class reads, empties and rotates it. */
export class LogFile {
  readonly path: string
  /** The number of lines up to an offset of a file. */
  #count = { inode: 0, offset: 0, lines: 0 }

  constructor(path: string) {
    this.path = path
  }

  /** The size in bytes; 0 without a file. */
  async size(): Promise<number> {
    return (await stat(this.path).catch(nullIfMissing))?.size ?? 0
  }

  /**
   * The last `count` lines, without control characters, and the number of all lines. `from`: only lines that were written
   * since the log had this size.
   */
  async tail(
    count: number,
    from = 0,
  ): Promise<{ readonly lines: readonly string[]; readonly totalLines: number }> {
    try {
      await using file = await open(this.path, 'r')
      const { size, ino } = await file.stat()
      // A log that is shorter than `from` was emptied since.
      const { lines, rest } = await readTail(file, from <= size ? from : 0, size, count)
      const totalLines = await this.#countTo(file, ino, size)
      if (rest.length === 0) return { lines, totalLines }
      return { lines: [...lines, cleanLine(rest)].slice(-count), totalLines: totalLines + 1 }
    } catch (error) {
      nullIfMissing(error)
      return { lines: [], totalLines: 0 }
    }
  }

  /**
   * Calls back with the last lines (`reset` true), then with new lines, until the returned function is called. A later `reset`
   * means that the log begins again with these lines. The file's size is polled, because not every file system notifies.
   */
  watch(onLines: (lines: readonly string[], isReset: boolean) => void): () => void {
    /** The inode of the file that was read; null while there is none, -1 before the first read. */
    let inode: number | null = -1
    let offset = 0
    let splitter = new LineSplitter()
    let isClosed = false

    const send = (lines: readonly string[], isReset: boolean): void => {
      if (!isClosed) onLines(lines, isReset)
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
      // The first read, or the log was cleared or replaced.
      const { lines, rest } = await readTail(file, 0, size, firstLines)
      inode = ino
      offset = size
      splitter = new LineSplitter(rest)
      send(lines, true)
    }
    // A missing or unreadable file is a log without lines.
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

  /** Adds a line of the dashboard. Never throws. */
  append(line: string): void {
    try {
      using closing = new DisposableStack()
      const file = closing.adopt(openOwnFile(this.path, constants.O_WRONLY | constants.O_APPEND), closeSync)
      writeSync(file, `${line}\n`)
    } catch {
      // The line is reported elsewhere, too.
    }
  }

  /** Empties the log. Rejects with the system's error. */
  async clear(): Promise<void> {
    await rm(this.#rotatedPath, { force: true })
    await this.#empty()
  }

  /** Rejects with the system's error. */
  async rotateIfLarge(): Promise<void> {
    if ((await this.size()) < maxLogBytes) return
    // The log is copied and emptied, because the gateway would continue to write to a renamed file. A link is not followed.
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
      nullIfMissing(error)
    }
  }

  /** Counts lines, from the last count on. */
  async #countTo(file: FileHandle, inode: number, size: number): Promise<number> {
    const lastCount = this.#count
    const isKnown = lastCount.inode === inode && lastCount.offset <= size
    let { offset, lines } = isKnown ? lastCount : { offset: 0, lines: 0 }
    for await (const block of readBlocks(file, offset, size)) lines += countLines(block)
    this.#count = { inode, offset: size, lines }
    return lines
  }
}

/** The end of a log. */
interface Tail {
  /** The complete lines. */
  readonly lines: readonly string[]
  /** Bytes after the last line break. */
  readonly rest: Buffer
}

/** The last lines between two offsets of a file, read from the end. */
async function readTail(file: FileHandle, from: number, to: number, count: number): Promise<Tail> {
  const floor = Math.max(from, to - maxTailBytes)
  const blocks: Buffer[] = []
  let start = to
  // Read one more line break than lines, so that the first line is whole.
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

/** The bytes between two offsets, block by block; fewer if the file has become shorter. */
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
