import type { FileHandle } from 'node:fs/promises'
import { LineSplitter, countLines } from './log-line.ts'

const blockBytes = 64 * 1024
/** How far back lines are looked for. */
const maxTailBytes = 4 * 1024 ** 2
const newline = 0x0a

/** The end of a log. */
export interface Tail {
  /** Whole lines. */
  readonly lines: readonly string[]
  /** What comes behind the last line break. */
  readonly rest: Buffer
}

/** The last lines between two places of a file, read from its end. */
export async function readTail(file: FileHandle, from: number, to: number, count: number): Promise<Tail> {
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
export async function* readBlocks(file: FileHandle, from: number, to: number): AsyncGenerator<Buffer> {
  for (let start = from; start < to; start += blockBytes) {
    yield await readBlock(file, start, Math.min(to, start + blockBytes))
  }
}

async function readBlock(file: FileHandle, from: number, to: number): Promise<Buffer> {
  const block = Buffer.allocUnsafe(to - from)
  const { bytesRead } = await file.read(block, 0, block.length, from)
  return block.subarray(0, bytesRead)
}
