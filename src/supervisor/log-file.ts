import { closeSync, fchmodSync, mkdirSync, openSync } from 'node:fs'
import { type FileHandle, chmod, copyFile, open, rm, truncate } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type Clock, systemClock } from '../call/clock.ts'
import { codeOf } from '../lib/caught.ts'
import { cleanLine, countLines } from './log-line.ts'
import { readBlocks, readTail } from './log-tail.ts'
import { watchLog } from './log-watch.ts'

/** From this size on the log is moved aside. */
const maxLogBytes = 50 * 1024 ** 2

/** How many lines there were up to a place of a file. */
interface Count {
  readonly inode: number
  readonly offset: number
  readonly lines: number
}

/** What a started gateway prints. It is written by the gateway itself, and read, emptied and moved aside here. */
export class LogFile {
  readonly path: string
  readonly #clock: Clock
  #count: Count | null = null

  constructor(path: string, clock: Clock = systemClock) {
    this.path = path
    this.#clock = clock
  }

  /**
   * A descriptor for a gateway to append to, also when the file is emptied meanwhile; disposing closes ours.
   * Throws the system's error.
   */
  openToAppend(): Disposable & { readonly descriptor: number } {
    mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 })
    const descriptor = openSync(this.path, 'a', 0o600)
    fchmodSync(descriptor, 0o600)
    return { descriptor, [Symbol.dispose]: () => closeSync(descriptor) }
  }

  /** Bytes in it, so that what is printed from now on can be told apart. */
  async size(): Promise<number> {
    return (await this.#read(async (_, size) => size)) ?? 0
  }

  /** The last lines, at most so many, and how many there are. Lines hold no control characters. */
  async tail(count: number): Promise<{ readonly lines: readonly string[]; readonly totalLines: number }> {
    const tail = await this.#read(async (file, size, inode) => {
      const { lines, rest } = await readTail(file, 0, size, count)
      const totalLines = (await this.#countTo(file, inode, size)) + (rest.length === 0 ? 0 : 1)
      return { lines: withRest(lines, rest, count), totalLines }
    })
    return tail ?? { lines: [], totalLines: 0 }
  }

  /** The last lines of what was printed since the log had a certain size. */
  async linesSince(offset: number, count: number): Promise<readonly string[]> {
    const lines = await this.#read(async (file, size) => {
      // Shorter than it was: it has been emptied since.
      const { lines, rest } = await readTail(file, offset <= size ? offset : 0, size, count)
      return withRest(lines, rest, count)
    })
    return lines ?? []
  }

  /**
   * Tells first, with `reset`, of the last lines there are, and then of lines as they are added, until the
   * returned function is called. `reset` again says that the log begins anew with these lines.
   */
  watch(onLines: (lines: readonly string[], reset: boolean) => void): () => void {
    return watchLog(this.path, this.#clock, onLines)
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
    await copyFile(this.path, this.#rotatedPath)
    await chmod(this.#rotatedPath, 0o600)
    await this.#empty()
  }

  get #rotatedPath(): string {
    return `${this.path}.1`
  }

  async #empty(): Promise<void> {
    this.#count = null
    await truncate(this.path).catch(unlessAbsent)
  }

  /** Counts on from its last count. */
  async #countTo(file: FileHandle, inode: number, size: number): Promise<number> {
    const known = this.#count
    const start =
      known !== null && known.inode === inode && known.offset <= size ? known : { offset: 0, lines: 0 }
    let { lines } = start
    for await (const block of readBlocks(file, start.offset, size)) lines += countLines(block)
    this.#count = { inode, offset: size, lines }
    return lines
  }

  /** `undefined` if there is no file. */
  async #read<T>(
    read: (file: FileHandle, size: number, inode: number) => Promise<T>,
  ): Promise<T | undefined> {
    try {
      await using file = await open(this.path, 'r')
      const { size, ino } = await file.stat()
      return await read(file, size, ino)
    } catch (error) {
      return unlessAbsent(error)
    }
  }
}

function withRest(lines: readonly string[], rest: Buffer, count: number): readonly string[] {
  return rest.length === 0 ? lines : [...lines, cleanLine(rest)].slice(-count)
}

/** Throws what says anything else than that there is no file. */
function unlessAbsent(error: unknown): undefined {
  if (codeOf(error) !== 'ENOENT') throw error
}
