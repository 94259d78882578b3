import { isUtf8 } from 'node:buffer'
import { createReadStream, type ReadStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { pipeline, type Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { codeOf, messageOf } from '../lib/errors.ts'

/** A file cannot be imported, or not to its end. The message says where and why. */
export class ImportError extends Error {
  override readonly name = 'ImportError'
}

/** Most bytes of a record. A longer record is skipped. */
export const longestRecord: number = 32 * 1024 * 1024
export const tooLong: string = `is longer than ${longestRecord / 2 ** 20} MiB`
export const cutOff = 'the file ends within this line: it was cut off, or lacks its last line break'

/** Complete lines of a file, or a single flawed line. */
export interface TextBlock {
  /** The number of the first line. */
  readonly line: number
  /**
   * The text, which ends with a line break. A line that is too long is reduced to a quote, if it has an odd
   * number of quotes.
   */
  readonly text: string
  /** The flaw of the block's only line: too long, or without its line break in the file. */
  readonly flaw: 'long' | 'cut' | null
}

/** A file to import, and its first bytes. */
export interface FileHead {
  readonly path: string
  readonly size: number
  readonly first: Buffer
}

const lineBreak = 10
const quote = 34
const gzipMark = Buffer.from([0x1f, 0x8b])
/** The first bytes of files that are no text, each with advice. */
const binaries: readonly (readonly [mark: string, advice: string])[] = [
  ['PGDMP', 'is a dump of PostgreSQL: export the table "LiteLLM_SpendLogs" as CSV'],
  ['PK\u0003\u0004', 'is a ZIP file or a spreadsheet: unpack it, or save it as CSV'],
  ['PAR1', 'is Parquet, which cannot be imported: export it as NDJSON or CSV'],
]

/** Reads the first bytes of a file. Rejects with {@link ImportError}. */
export async function fileHead(path: string): Promise<FileHead> {
  try {
    const stats = await stat(path)
    if (!stats.isFile()) throw new ImportError(`${path} is not a file`)
    await using file = await open(path)
    const { buffer, bytesRead } = await file.read(Buffer.alloc(16), 0, 16, 0)
    return { path, size: stats.size, first: buffer.subarray(0, bytesRead) }
  } catch (error) {
    if (error instanceof ImportError) throw error
    throw new ImportError(codeOf(error) === 'ENOENT' ? `${path} does not exist` : messageOf(error))
  }
}

/** Opens a text file, which must be UTF-8 and may be gzipped. Reading its blocks throws {@link ImportError}. */
export function openText({ path, first }: FileHead): {
  readonly file: ReadStream
  readonly blocks: AsyncGenerator<TextBlock>
} {
  const [, advice] = binaries.find(([mark]) => first.toString('latin1').startsWith(mark)) ?? []
  if (advice !== undefined) throw new ImportError(`${path} ${advice}`)
  const file = createReadStream(path)
  const isPacked = first.subarray(0, 2).equals(gzipMark)
  // The reader of the last part gets the error.
  return { file, blocks: blocksOf(isPacked ? pipeline(file, createGunzip(), () => undefined) : file) }
}

/** Splits bytes into blocks, none longer than one piece of the bytes, or one line. */
export async function* blocksOf(bytes: Readable): AsyncGenerator<TextBlock> {
  const lines = new LinesInHand()
  try {
    for await (const chunk of bytes as AsyncIterable<Buffer>) {
      const [first, last] = [chunk.indexOf(lineBreak) + 1, chunk.lastIndexOf(lineBreak) + 1]
      // A chunk has the end of the current line, complete lines, and the beginning of a line.
      for (const part of [chunk.subarray(0, first), chunk.subarray(first, last), chunk.subarray(last)])
        yield* lines.read(part, null)
    }
  } catch (error) {
    if (error instanceof ImportError) throw error
    throw new ImportError(`the rest of the file cannot be read: ${messageOf(error)}`)
  }
  if (lines.areOpen) yield* lines.read(Buffer.from('\n'), 'cut')
}

/** The bytes of the current lines. */
class LinesInHand {
  #line = 1
  #parts: Buffer[] = []
  #size = 0
  /** Number of quotes of a line that is too long. */
  #quotes = 0

  get areOpen(): boolean {
    return this.#size > 0
  }

  *read(part: Buffer, flaw: 'cut' | null): Generator<TextBlock> {
    this.#size += part.length
    this.#parts.push(part)
    const isLong = this.#size > longestRecord
    if (isLong) for (const dropped of this.#parts.splice(0)) this.#quotes += quotesIn(dropped)
    if (part.at(-1) !== lineBreak) return
    const bytes = isLong ? Buffer.from(this.#quotes % 2 === 1 ? '"\n' : '\n') : Buffer.concat(this.#parts)
    const end = isUtf8(bytes) ? bytes.length : endOfGoodLines(bytes)
    const text = bytes.toString('utf8', 0, end)
    const line = this.#line
    this.#parts = []
    this.#size = 0
    this.#quotes = 0
    this.#line += text.split('\n').length - 1
    const plain = line === 1 ? text.replace(/^\uFEFF/, '') : text
    if (end > 0) yield { line, text: plain, flaw: isLong ? 'long' : flaw }
    if (end === bytes.length) return
    throw new ImportError(
      `line ${this.#line} has bytes that are not UTF-8, so nothing from there on was read; save the file as UTF-8`,
    )
  }
}

function quotesIn(bytes: Buffer): number {
  let quotes = 0
  for (const byte of bytes) if (byte === quote) quotes++
  return quotes
}

/** The end of the last line before the first line that is not UTF-8. */
function endOfGoodLines(bytes: Buffer): number {
  let end = 0
  for (;;) {
    const next = bytes.indexOf(lineBreak, end) + 1
    if (next === 0 || !isUtf8(bytes.subarray(end, next))) return end
    end = next
  }
}
