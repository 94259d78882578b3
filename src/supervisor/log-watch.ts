import { type FileHandle, open, stat } from 'node:fs/promises'
import type { Clock } from '../call/clock.ts'
import { LineSplitter } from './log-line.ts'
import { readBlocks, readTail } from './log-tail.ts'

const lookEveryMs = 200
/** How many of the lines that are there already are told. */
const firstLines = 500

/** Where the reading stands. */
interface Place {
  readonly inode: number
  readonly offset: number
  readonly splitter: LineSplitter
}

/**
 * Tells of a log's lines as they are added. It looks at the file's size, because notifications of file systems
 * come differently on each, and on some not at all.
 */
export class LogWatch {
  readonly #path: string
  readonly #clock: Clock
  readonly #onLines: (lines: readonly string[], reset: boolean) => void
  #place: Place | null = null
  #hasTold = false
  #closed = false
  #cancelNext: () => void = () => {}

  constructor(path: string, clock: Clock, onLines: (lines: readonly string[], reset: boolean) => void) {
    this.#path = path
    this.#clock = clock
    this.#onLines = onLines
    void this.#keepLooking()
  }

  close(): void {
    this.#closed = true
    this.#cancelNext()
  }

  async #keepLooking(): Promise<void> {
    try {
      await this.#look()
    } catch {
      // There is no file, or none that can be read: a log without lines.
      if (this.#place !== null || !this.#hasTold) this.#tell([], true)
      this.#place = null
    }
    if (this.#closed) return
    this.#cancelNext = this.#clock.after(lookEveryMs, () => void this.#keepLooking(), { background: true })
  }

  async #look(): Promise<void> {
    const { ino: inode, size } = await stat(this.#path)
    if (this.#place?.inode === inode && this.#place.offset === size) return
    await using file = await open(this.#path, 'r')
    const place = this.#place
    if (place !== null && place.inode === inode && place.offset < size) await this.#readOn(file, place, size)
    else await this.#beginAnew(file, inode, size)
  }

  async #readOn(file: FileHandle, { inode, offset, splitter }: Place, size: number): Promise<void> {
    let end = offset
    for await (const block of readBlocks(file, offset, size)) {
      const lines = splitter.push(block)
      end += block.length
      this.#place = { inode, offset: end, splitter }
      if (lines.length > 0) this.#tell(lines, false)
    }
  }

  /** At first, and when the log was cleared or another file has taken its place. */
  async #beginAnew(file: FileHandle, inode: number, size: number): Promise<void> {
    const { lines, rest } = await readTail(file, 0, size, firstLines)
    this.#place = { inode, offset: size, splitter: new LineSplitter(rest) }
    this.#tell(lines, true)
  }

  #tell(lines: readonly string[], reset: boolean): void {
    if (this.#closed) return
    this.#hasTold = true
    this.#onLines(lines, reset)
  }
}
